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
  const seenOn = (html: string) => / name="seen" value="([\d ]*)"/.exec(html)?.[1] ?? ''
  const press = async (answer: string, seen: string) =>
    await world.server.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ answer, seen }).toString(),
    })
  return { recipientId: recipient?.id ?? 0, read, seenOn, press }
}

const ALICE = expect.stringContaining('@example.org')

test('one press acknowledges every alert of an outage, and the chat shows it', async () => {
  await outage()
  const { read, seenOn, press } = await pageOf('email')
  const before = await read()
  expect(before).toContain('Acknowledge all 3 alerts')
  expect(before).toContain('Acknowledge only this one')
  expect(before).toContain('2 other alerts of this watch are still active and not acknowledged.')
  const answer = await press('ackAll', seenOn(before))
  expect(answer.statusCode).toBe(303)
  expect(await takenBy()).toEqual({ [COMMIT]: ALICE, [REVEAL]: ALICE, [UPDATES]: ALICE })
  const times = await world.sql`
    select distinct acknowledged_at, remind_at from alerts where watch_id = ${watchId}`
  expect(times).toEqual([{ acknowledged_at: world.clock.now(), remind_at: null }])
  const after = await read()
  expect(after).not.toContain('not acknowledged')
  expect(after).toContain('Unacknowledge')
  await world.deliver()
  expect(withoutJoiners(world.chatTexts().at(-1) ?? '')).toContain('@example.org')
  const buttons = world.telegram.messages(world.chat).at(-1)?.keyboard.flat() ?? []
  expect(buttons.map(({ text }) => text)).not.toContain('Acknowledge all')
})

test('a second press changes nothing', async () => {
  await outage()
  const { read, seenOn, press } = await pageOf('email')
  const seen = seenOn(await read())
  const first = world.clock.now()
  const answers = await Promise.all([press('ackAll', seen), press('ackAll', seen)])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303])
  world.clock.advance(60)
  expect((await press('ackAll', seen)).statusCode).toBe(303)
  const times = await world.sql`
    select distinct acknowledged_at as at from alerts where watch_id = ${watchId}`
  expect(times).toEqual([{ at: first }])
})

test('"Acknowledge only this one" leaves the others, which the page then states and offers', async () => {
  await outage()
  const { read, seenOn, press } = await pageOf('email')
  await press('ack', seenOn(await read()))
  expect(await takenBy()).toEqual({ [COMMIT]: null, [REVEAL]: ALICE, [UPDATES]: null })
  const page = await read()
  expect(page).toContain('2 other alerts of this watch are still active and not acknowledged.')
  expect(page).toContain('Acknowledge 2 other alerts')
  await press('ackAll', seenOn(page))
  expect(await takenBy()).toEqual({ [COMMIT]: ALICE, [REVEAL]: ALICE, [UPDATES]: ALICE })
})

test('an alert that recovers meanwhile, or that the page did not show, stays as it is', async () => {
  await outage()
  const { read, seenOn, press } = await pageOf('email')
  const seen = seenOn(await read())
  world.clock.advance(60)
  await world.record(watchId, { event: `${COMMIT}.recovered` })
  await world.record(watchId, { event: 'credits.low-balance' })
  await world.deliver()
  await press('ackAll', seen)
  expect(await takenBy()).toEqual({
    [COMMIT]: null,
    [REVEAL]: ALICE,
    [UPDATES]: ALICE,
    'credits.low-balance': null,
  })
  expect(await read()).toContain('1 other alert of this watch is still active')
})

test('the page of an alert that has recovered offers the others', async () => {
  await outage()
  world.clock.advance(60)
  await world.record(watchId, { event: `${REVEAL}.recovered` })
  await world.deliver()
  const { read, seenOn, press } = await pageOf('email')
  const page = await read()
  expect(page).toContain('Acknowledge 2 other alerts')
  await press('ackAll', seenOn(page))
  expect(await takenBy()).toEqual({ [COMMIT]: ALICE, [REVEAL]: null, [UPDATES]: ALICE })
})

test.each(['webhook', null] as const)('the link of %s stays read-only', async (channel) => {
  await outage()
  const { read, press } = await pageOf(channel)
  const page = await read()
  expect(page).not.toContain('<form')
  expect(page).not.toContain('other alerts of this watch')
  const ids = await Promise.all([COMMIT, REVEAL, UPDATES].map((event) => idOf(event)))
  expect((await press('ackAll', ids.join(' '))).statusCode).toBe(403)
  expect(await takenBy()).toEqual({ [COMMIT]: null, [REVEAL]: null, [UPDATES]: null })
})

test('alerts of other watches, of other recipients and of other days stay as they are', async () => {
  const other = await world.watch(`Other ${day}`)
  await world.record(other, { event: COMMIT })
  await outage()
  const { recipientId, read, seenOn, press } = await pageOf('email')
  await world.sql`
    delete from deliveries where alert_id = ${await idOf(COMMIT)} and recipient_id = ${recipientId}`
  expect(await read()).toContain('Acknowledge all 2 alerts')
  world.clock.advance(25 * 3600)
  await world.record(watchId, { event: 'credits.low-balance' })
  await world.deliver()
  const page = await read()
  expect(page).toContain('Acknowledge all 2 alerts')
  const named = [await idOf(COMMIT), await idOf(COMMIT, other), await idOf('credits.low-balance')]
  await press('ackAll', `${seenOn(page)} ${named.join(' ')} x -1 1e99`)
  expect(await takenBy()).toEqual({
    [COMMIT]: null,
    [REVEAL]: ALICE,
    [UPDATES]: ALICE,
    'credits.low-balance': null,
  })
  expect(await takenBy(other)).toEqual({ [COMMIT]: null })
})

test('the page of an outage takes all its acknowledgements back, or only one', async () => {
  await outage()
  const { read, seenOn, press } = await pageOf('email')
  await press('ackAll', seenOn(await read()))
  const taken = await read()
  expect(taken).toContain('Unacknowledge all 3 alerts')
  await press('unack', seenOn(taken))
  expect(await takenBy()).toEqual({ [COMMIT]: ALICE, [REVEAL]: null, [UPDATES]: ALICE })
  await press('ack', seenOn(await read()))
  const seen = seenOn(await read())
  const answers = await Promise.all([press('unackAll', seen), press('unackAll', seen)])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 303])
  expect(await takenBy()).toEqual({ [COMMIT]: null, [REVEAL]: null, [UPDATES]: null })
  expect(await read()).toContain('Acknowledge all 3 alerts')
  // Nothing that the page has not shown, and nothing by a link that may only read.
  await press('ack', seenOn(await read()))
  const own = String(await idOf(REVEAL))
  await press('unackAll', seen.replaceAll(own, ''))
  expect(await takenBy()).toEqual({ [COMMIT]: null, [REVEAL]: ALICE, [UPDATES]: null })
  expect((await (await pageOf('webhook')).press('unackAll', own)).statusCode).toBe(403)
  expect(await takenBy()).toEqual({ [COMMIT]: null, [REVEAL]: ALICE, [UPDATES]: null })
})
