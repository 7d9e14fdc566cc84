import { afterAll, beforeEach, expect, test } from 'vitest'
import { alertWorld } from '../alerts/alert-world.ts'
import { admin } from './run-admin.ts'

/** `npm run admin -- explain` on what really happened to an alert: one test for each reason. */

type World = Awaited<ReturnType<typeof alertWorld>>

let world: World
let watchId: number
let hook: string
const worlds: World[] = []

beforeEach(async () => {
  world = await alertWorld()
  worlds.push(world)
  watchId = await world.watch('Reserve')
  hook = await recipientOf('webhook')
})
afterAll(async () => {
  for (const each of worlds) await each.close()
})

async function recipientOf(channel: string): Promise<string> {
  const rows = await world.sql`select id from recipients where channel = ${channel} order by id`
  return String(rows[0]?.['id'])
}

const fire = () => world.record(watchId, { event: 'credits.low-balance' })
const newest = async () => (await world.alerts())[0]?.id ?? 0

async function explained(recipient = hook, alert?: number): Promise<string> {
  const id = alert ?? (await newest())
  return (await admin(world, 'explain', String(id), recipient)).lines.join('\n')
}

test('delivered, still waiting, refused', async () => {
  await fire()
  expect(await explained()).toContain('waits for its first attempt (0 attempts')
  world.receiver.answerAlways(503)
  await world.deliver()
  expect(await explained()).toMatch(/failed, and will be tried again \(1 attempts, last status 503/)
  world.receiver.answerAlways(undefined)
  world.clock.advance(3600)
  await world.deliver()
  expect(await explained()).toMatch(/was delivered \(2 attempts/)
  await world.record(watchId, { event: 'credits.recovered' })
  world.receiver.answerAlways(410)
  await world.deliver()
  expect(await explained()).toMatch(
    /disabled \(gone\)[\s\S]*was given up \(1 attempts, last status 410/,
  )
})

test('a muted alert, a muted recipient', async () => {
  await world.alice.request('PATCH', `/watches/${watchId}`, { mutedUntil: inAnHour() })
  await fire()
  await world.deliver()
  expect(await explained(await recipientOf('telegram'))).toContain(
    'the alert or its watch was muted',
  )
  await world.alice.request('PATCH', `/watches/${watchId}`, { mutedUntil: null })
  const chat = await recipientOf('telegram')
  await world.sql`update recipients set muted_until = ${inAnHour()} where id = ${chat}`
  await world.record(watchId, { event: 'credits.recovered' })
  await fire()
  await world.deliver()
  const text = await explained(chat)
  expect(text).toContain('it is muted until')
  expect(text).toContain('waits for a summary')
})

function inAnHour(): string {
  return new Date(world.clock.now().getTime() + 3_600_000).toISOString()
}

test('planned maintenance', async () => {
  const begun = await world.alice.request('POST', '/maintenance', {
    ...{ name: 'Upgrade', minutes: 60 },
  })
  expect(begun.status, begun.text).toBeLessThan(300)
  await fire()
  await world.deliver()
  expect(world.receiver.deliveries).toEqual([])
  expect(await explained()).toContain('it fired in planned maintenance, in which nobody is sent')
})

test('the level of the watch, other recipients, no default, no recipient at all', async () => {
  const change = async (body: object) => {
    const { status, text } = await world.alice.request('PATCH', `/watches/${watchId}`, body)
    expect(status, text).toBe(200)
  }
  await change({ minSeverity: 'critical' })
  await fire()
  expect(await explained()).toContain('the watch sends alerts from critical on')
  const { body: pager } = await world.alice.request('POST', '/recipients', {
    ...{ name: 'Pager', channel: 'webhook', url: world.receiver.url('pager'), default: false },
  })
  await change({ minSeverity: 'info', recipientIds: [pager.id] })
  await world.record(watchId, { event: 'credits.recovered' })
  expect(await explained()).toContain('the watch names other recipients')
  await change({ recipientIds: null })
  await fire()
  expect(await explained(String(pager.id))).toContain('this one is not a default one')
  await world.alice.request('DELETE', `/recipients/${pager.id}`)
  for (const channel of ['webhook', 'email', 'telegram']) {
    const { status } = await world.alice.request('DELETE', `/channels/${channel}`)
    expect([channel, status]).toEqual([channel, 204])
  }
  await world.record(watchId, { event: 'credits.recovered' })
  expect(await explained()).toContain('the wallet has no recipients')
})

test('a recipient that is off, and messages that are no longer stored', async () => {
  await world.sql`update recipients set status = 'disabled' where id = ${hook}`
  await fire()
  await world.deliver()
  expect(await explained()).toContain('was not sent: the recipient was off')
  const id = await newest()
  await world.sql`delete from delivery_log where alert_id = ${id}`
  world.clock.advance(31 * 86_400)
  expect(await explained(hook, id)).toContain('what became of messages is kept for 30 days')
})
