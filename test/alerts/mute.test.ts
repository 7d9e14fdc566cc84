import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { muteIncident } from '#src/alerts/acknowledge/acknowledge.ts'
import { muteChatAndReschedule } from '#src/alerts/reminders/settings-changes.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { deleteDeliveries } from '../support/deliveries.ts'
import { linkChat } from '../support/destinations.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

let world: AlertWorld
let watchId: number
let day = 0

const NIGHT = { enabled: true, from: '22:00', to: '07:00', criticalBypass: true }
const LOW = 'credits.low-balance'
const BACK = 'credits.recovered'

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  day += 2
  at('12:00')
  await world.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  const { version: _version, ...defaults } = DEFAULT_SETTINGS
  await world.change(defaults)
  await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 0 })
  await world.sql`update alerts set state = 'recovered', recovered_at = fired_at, remind_at = null`
  await deleteDeliveries(world.app.db, sql`status in ('held', 'pending')`)
  watchId = await world.watch(`Watch ${day}`)
  world.forgetMessages()
})
afterEach(async () => {
  const { body } = await world.alice.request('GET', '/watches')
  for (const { id } of body.data) await world.alice.request('DELETE', `/watches/${id}`)
})
afterAll(() => world.close())

/** @param days after the test's own */
function at(time: string, days = 0): void {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  world.clock.set(new Date(Date.UTC(2026, 11, day + days, hours, minutes, 5)))
}
const instant = (time: string, days = 0) => {
  const before = world.clock.now()
  at(time, days)
  const then = world.clock.now()
  world.clock.set(before)
  return then.toISOString()
}
const mute = (mutedUntil: string | null) =>
  world.alice.request('PATCH', `/watches/${watchId}`, { mutedUntil })
async function pass(): Promise<void> {
  await world.remind()
  await world.summarize()
  await world.deliver()
}
const notified = () => [world.chatTexts().length, world.subjects().length]

describe('an alert that was not sent because its watch was muted', () => {
  test.each([
    'warning',
    'critical',
  ] as const)('is sent after the quiet hours in which the mute ended: a %s alert', async (severity) => {
    await world.change({ quietHours: { ...NIGHT, criticalBypass: false } })
    at('20:00')
    await mute(instant('04:00', 1))
    at('21:00')
    await world.record(watchId, { event: LOW, severity })
    await pass()
    at('04:00', 1)
    await pass()
    expect(notified()).toEqual([0, 0])
    at('07:00', 1)
    await pass()
    expect(notified()).toEqual([1, 1])
    expect(world.chatTexts()[0]).toContain('Only 420 credits left')
  })

  test('is sent at once, as an alert, when the mute is removed', async () => {
    await mute(instant('12:00', 7))
    await world.record(watchId, { event: LOW })
    await pass()
    expect(notified()).toEqual([0, 0])
    at('13:00')
    const { body } = await mute(null)
    expect(body.mutedUntil).toBeNull()
    await pass()
    expect(notified()).toEqual([1, 1])
    expect(world.chatTexts()[0]).toMatch(/^🟠 Watch .*: Only 420 credits left\n/)
    await pass()
    expect(notified()).toEqual([1, 1])
  })

  test('is sent once, however many jobs run at the same time and however often the watch is muted', async () => {
    await mute(instant('13:00'))
    await world.record(watchId, { event: LOW })
    at('13:00')
    await Promise.all([world.remind(), world.remind(), world.remind()])
    await pass()
    expect(notified()).toEqual([1, 1])
    world.forgetMessages()
    await mute(instant('14:00'))
    await pass()
    await mute(null)
    await pass()
    // It was sent before the mute, so it has a reminder.
    expect(world.chatTexts()).toEqual([expect.stringMatching(/^🟠 .* · not resolved\n/)])
  })

  test('is sent also if its event has no recovery, such as a moved balance', async () => {
    await mute(instant('13:00'))
    await world.record(watchId, { event: 'wallet-balance.moved' })
    await pass()
    at('13:00')
    await pass()
    expect(notified()).toEqual([1, 1])
  })

  test('is followed by its recovery, if it was sent before the mute', async () => {
    await world.record(watchId, { event: LOW })
    await pass()
    world.forgetMessages()
    await mute(instant('14:00'))
    at('13:00')
    await world.record(watchId, { event: BACK })
    await pass()
    expect(notified()).toEqual([0, 0])
    at('14:00')
    await pass()
    expect(world.subjects()).toHaveLength(1)
    expect(world.chatTexts().at(-1)).toContain('🟢')
  })

  test('is never sent if it recovers during the mute', async () => {
    await mute(instant('14:00'))
    await world.record(watchId, { event: LOW })
    at('13:00')
    await world.record(watchId, { event: BACK })
    at('14:00')
    await pass()
    expect(notified()).toEqual([0, 0])
  })

  test('waits until its paused watch is active again', async () => {
    await mute(instant('13:00'))
    await world.record(watchId, { event: LOW })
    await world.alice.request('PATCH', `/watches/${watchId}`, { status: 'paused' })
    at('13:00')
    await pass()
    expect(notified()).toEqual([0, 0])
    await world.alice.request('PATCH', `/watches/${watchId}`, { status: 'active' })
    await pass()
    expect(notified()).toEqual([1, 1])
  })

  test('is sent when the mute of its episode is removed, if it is a severity increase', async () => {
    await world.record(watchId, { event: LOW })
    await pass()
    const [first] = await world.alerts('?limit=1')
    await muteIncident(world.app, world.alice.caller, { id: first?.id ?? 0, muted: true })
    await world.record(watchId, { event: LOW, severity: 'critical' })
    at('12:05')
    await pass()
    expect(notified()).toEqual([1, 1])
    world.forgetMessages()
    await muteIncident(world.app, world.alice.caller, { id: first?.id ?? 0, muted: false })
    await pass()
    expect(world.chatTexts()).toEqual([expect.stringMatching(/^🔴 /)])
  })
})

test('a recovery is sent only to people for whom its alert was recorded', async () => {
  await world.record(watchId, { event: LOW })
  await pass()
  const late = await linkChat(world, world.alice)
  world.forgetMessages()
  at('13:00')
  await world.record(watchId, { event: BACK })
  await pass()
  expect(world.chatTexts().filter((text) => text.includes('10,420 credits again'))).toHaveLength(1)
  expect(world.subjects()).toHaveLength(1)
  expect(world.telegram.messages(late.chat).map(({ text }) => text)).not.toContainEqual(
    expect.stringContaining('10,420 credits again'),
  )
  const recovery = (await world.alerts())[0]
  expect(recovery?.deliveries.map(({ channel }) => channel).sort()).toEqual([
    'email',
    'telegram',
    'webhook',
  ])
  // The next alert is for everybody.
  await world.record(watchId, { event: LOW })
  await pass()
  expect(world.telegram.messages(late.chat).at(-1)?.text).toContain('credits left')
})

test('an alert without recovery event has no reminders, whatever its severity', async () => {
  await world.record(watchId, {
    event: 'feed-move.threshold',
    severity: 'critical',
  })
  await pass()
  world.forgetMessages()
  for (const time of ['12:16', '13:01', '16:01']) {
    at(time)
    await pass()
  }
  expect(notified()).toEqual([0, 0])
})

test('a recovery has the effective severity of its alert, also if the alert was deleted in the meantime', async () => {
  await world.change({ minSeverity: 'warning' })
  await world.record(watchId, { event: LOW, severity: 'critical' })
  await pass()
  await world.alice.request('DELETE', '/alerts?all=true')
  world.forgetMessages()
  at('13:00')
  await world.record(watchId, { event: BACK, episodeSeverity: 'critical' })
  await pass()
  expect(notified()).toEqual([1, 1])
})

describe('a chat that is unmuted early', () => {
  test('gets critical alerts at once, also with a digest; other alerts wait for the digest', async () => {
    await world.change({ digest: 'daily', digestAt: '09:00', repeat: { critical: [] } })
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 60 })
    await world.record(watchId, { event: 'fsp.monitoring', severity: 'critical' })
    await world.record(watchId, { event: LOW })
    await pass()
    at('12:20')
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 0 })
    await pass()
    expect(world.chatTexts()).toEqual([expect.stringContaining('No data from the chain')])
    expect(world.chatTexts()[0]).not.toContain('credits')
    at('09:00', 1)
    await pass()
    expect(world.chatTexts()).toHaveLength(2)
    expect(world.chatTexts()[1]).toContain('Only 420 credits left')
  })

  test('gets critical alerts in quiet hours that let them through, and other alerts afterwards', async () => {
    await world.change({ quietHours: NIGHT, repeat: { critical: [] } })
    at('21:00')
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 600 })
    await world.record(watchId, { event: 'fsp.monitoring', severity: 'critical' })
    await world.record(watchId, { event: LOW })
    at('23:00')
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 0 })
    await pass()
    expect(world.chatTexts()).toEqual([expect.stringContaining('No data from the chain')])
    at('07:00', 1)
    await pass()
    expect(world.chatTexts()).toHaveLength(2)
  })

  test('gets notices at once; they never wait for a digest', async () => {
    await world.change({ digest: 'daily', digestAt: '09:00' })
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 60 })
    const [reader] = await world.sql<{ id: number }[]>`
      select id from recipients where chat_id = ${world.chat}`
    await world.record(watchId, { event: LOW })
    await world.sql`
      update delivery_log set kind = 'notice',
        envelope = jsonb_set(envelope::jsonb, '{kind}', '"notice"')::json
      where recipient_id = ${reader?.id ?? 0} and status = 'held'`
    at('12:20')
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 0 })
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
  })
})
