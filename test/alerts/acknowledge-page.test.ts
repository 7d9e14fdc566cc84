import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { alertUrl } from '#src/alerts/alert-urls.ts'
import { withoutJoiners } from '#src/kernel/inert-text.ts'
import { listAllRecipients, readRecipientsById } from '#src/recipients/service.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

const COMMIT = 'fsp.ftso-commit'
const REVEAL = 'fsp.ftso-reveal'
const UPDATES = 'fsp.fast-updates'

let world: AlertWorld
let watchId: number
let day = 0

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  day += 1
  world.clock.set(new Date(Date.UTC(2026, 11, day, 12)))
  await world.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  watchId = await world.watch(`Watch ${day}`)
  world.forgetMessages()
})
afterAll(() => world.close())

/** One outage with three alerts, in one message of the chat and in one mail. */
async function outage() {
  await world.record(
    watchId,
    { event: COMMIT },
    { event: REVEAL, severity: 'critical' },
    { event: UPDATES },
  )
  await world.deliver()
}

const idOf = async (event: string, watch = watchId) => {
  const [row] = await world.sql<{ id: number }[]>`
    select id from alerts where watch_id = ${watch} and event = ${event} order by id desc limit 1`
  if (row === undefined) throw new Error(`there is no ${event}`)
  return row.id
}

/** Who acknowledged each alert of a watch. */
async function takenBy(watch = watchId): Promise<Record<string, string | null>> {
  const rows = await world.sql<{ event: string; by: string | null }[]>`
    select event, acknowledged_by as by from alerts
    where watch_id = ${watch} and recovery_of is null`
  return Object.fromEntries(rows.map(({ event, by }) => [event, by]))
}

/** The page of the most severe alert, by the link of a recipient. */
async function pageOf(channel: 'email' | 'webhook' | null) {
  const ids = (await listAllRecipients(world.app.db, world.alice.caller.wallet)).map(({ id }) => id)
  const readers = [...(await readRecipientsById(world.app.db, ids)).values()]
  const recipient = readers.find((reader) => reader.channel === channel)
  if (channel !== null && recipient === undefined) throw new Error(`there is no ${channel}`)
  const link = { alertId: await idOf(REVEAL), recipientId: recipient?.id ?? null }
  const url = new URL(alertUrl(world.app, link)).pathname
  const read = async () => (await world.server.inject({ url })).payload
  const press = async (answer: string) =>
    await world.server.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ answer }).toString(),
    })
  return { read, press }
}

const ALICE = expect.stringContaining('@example.org')

test('one press acknowledges every alert of an incident, and the chat shows it', async () => {
  await outage()
  const { read, press } = await pageOf('email')
  expect(await read()).toContain('>Acknowledge<')
  expect((await press('ack')).statusCode).toBe(303)
  expect(await takenBy()).toEqual({ [COMMIT]: ALICE, [REVEAL]: ALICE, [UPDATES]: ALICE })
  const times = await world.sql`
    select distinct acknowledged_at, remind_at from alerts where watch_id = ${watchId}`
  expect(times).toEqual([{ acknowledged_at: world.clock.now(), remind_at: null }])
  expect(await read()).toContain('>Unacknowledge<')
  await world.deliver()
  expect(withoutJoiners(world.chatTexts().at(-1) ?? '')).toContain('@example.org')
  const buttons = world.telegram.messages(world.chat).at(-1)?.keyboard.flat() ?? []
  expect(buttons.map(({ text }) => text)).not.toContain('Acknowledge all')
})

test('a second press changes nothing', async () => {
  await outage()
  const { press } = await pageOf('email')
  const first = world.clock.now()
  const answers = await Promise.all([press('ack'), press('ack')])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303])
  world.clock.advance(60)
  expect((await press('ack')).statusCode).toBe(303)
  const times = await world.sql`
    select distinct acknowledged_at as at from alerts where watch_id = ${watchId}`
  expect(times).toEqual([{ at: first }])
})

test('what has recovered, another incident and another watch stay as they are', async () => {
  const other = await world.watch(`Other ${day}`)
  await world.record(other, { event: COMMIT })
  await outage()
  world.clock.advance(60)
  await world.record(watchId, { event: `${COMMIT}.recovered` })
  await world.record(watchId, { event: 'credits.low-balance' })
  await world.deliver()
  const { press } = await pageOf('email')
  await press('ack')
  expect(await takenBy()).toEqual({
    [COMMIT]: null,
    [REVEAL]: ALICE,
    [UPDATES]: ALICE,
    'credits.low-balance': null,
  })
  expect(await takenBy(other)).toEqual({ [COMMIT]: null })
})

test('the page of an alert that has recovered acts on its incident while that lasts', async () => {
  await outage()
  world.clock.advance(60)
  await world.record(watchId, { event: `${REVEAL}.recovered` })
  await world.deliver()
  const { read, press } = await pageOf('email')
  await press('ack')
  expect(await takenBy()).toMatchObject({ [COMMIT]: ALICE, [UPDATES]: ALICE })
  world.clock.advance(60)
  await world.record(watchId, { event: `${COMMIT}.recovered` }, { event: `${UPDATES}.recovered` })
  await world.deliver()
  expect(await read()).not.toContain('<form')
})

test('an alert that joins an acknowledged incident is to be acknowledged, too', async () => {
  await world.record(watchId, { event: REVEAL })
  await world.deliver()
  const { read, press } = await pageOf('email')
  await press('ack')
  expect(await read()).toContain('>Unacknowledge<')
  world.clock.advance(90)
  await world.record(watchId, { event: COMMIT })
  await world.deliver()
  expect(await read()).toContain('>Acknowledge<')
  await press('ack')
  expect(await takenBy()).toEqual({ [COMMIT]: ALICE, [REVEAL]: ALICE })
})

test.each(['webhook', null] as const)('the link of %s stays read-only', async (channel) => {
  await outage()
  const { read, press } = await pageOf(channel)
  expect(await read()).not.toContain('<form')
  expect((await press('ack')).statusCode).toBe(403)
  expect(await takenBy()).toEqual({ [COMMIT]: null, [REVEAL]: null, [UPDATES]: null })
})

test('the page takes the acknowledgement of the whole incident back', async () => {
  await outage()
  const { read, press } = await pageOf('email')
  await press('ack')
  const answers = await Promise.all([press('unack'), press('unack')])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303])
  expect(await takenBy()).toEqual({ [COMMIT]: null, [REVEAL]: null, [UPDATES]: null })
  expect(await read()).toContain('>Acknowledge<')
})
