import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { muteEpisode } from '#src/alerts/acknowledge.ts'
import { muteChat } from '#src/alerts/settings-changes.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { type AlertRoom, alertRoom } from './room.ts'

let room: AlertRoom
let watchId: number
let day = 0

const NIGHT = { enabled: true, from: '22:00', to: '07:00', criticalBypass: true }
const LOW = 'credits.low-balance'
const BACK = 'credits.recovered'

beforeAll(async () => {
  room = await alertRoom()
})
beforeEach(async () => {
  day += 2
  at('12:00')
  await room.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  const { version: _version, ...defaults } = DEFAULT_SETTINGS
  await room.change(defaults)
  await muteChat(room.app, { chatId: room.chat, minutes: 0 })
  await room.sql`update alerts set state = 'recovered', recovered_at = fired_at, remind_at = null`
  await room.sql`delete from deliveries where status in ('held', 'pending')`
  watchId = await room.watch(`Watch ${day}`)
  room.forget()
})
afterEach(async () => {
  const { body } = await room.alice.request('GET', '/watches')
  for (const { id } of body.data) await room.alice.request('DELETE', `/watches/${id}`)
})
afterAll(() => room.close())

/** @param days after the test's own */
function at(time: string, days = 0): void {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  room.clock.set(new Date(Date.UTC(2026, 11, day + days, hours, minutes, 5)))
}
const instant = (time: string, days = 0) => {
  const before = room.clock.now()
  at(time, days)
  const then = room.clock.now()
  room.clock.set(before)
  return then.toISOString()
}
const mute = (mutedUntil: string | null) =>
  room.alice.request('PATCH', `/watches/${watchId}`, { mutedUntil })
async function pass(): Promise<void> {
  await room.remind()
  await room.summarize()
  await room.deliver()
}
const notified = () => [room.chatTexts().length, room.subjects().length]

describe('what was never sent because its watch was muted', () => {
  test.each([
    'warning',
    'critical',
  ] as const)('comes after the quiet hours in which the mute ended: a %s alert', async (severity) => {
    await room.change({ quietHours: { ...NIGHT, criticalBypass: false } })
    at('20:00')
    await mute(instant('04:00', 1))
    at('21:00')
    await room.notice(watchId, { event: LOW, severity })
    await pass()
    at('04:00', 1)
    await pass()
    expect(notified()).toEqual([0, 0])
    at('07:00', 1)
    await pass()
    expect(notified()).toEqual([1, 1])
    expect(room.chatTexts()[0]).toContain('Only 420 credits left')
  })

  test('comes at once, as an alert, when the mute is taken back', async () => {
    await mute(instant('12:00', 7))
    await room.notice(watchId, { event: LOW })
    await pass()
    expect(notified()).toEqual([0, 0])
    at('13:00')
    const { body } = await mute(null)
    expect(body.mutedUntil).toBeNull()
    await pass()
    expect(notified()).toEqual([1, 1])
    expect(room.chatTexts()[0]).toMatch(/^🟠 Only 420 credits left\n/)
    await pass()
    expect(notified()).toEqual([1, 1])
  })

  test('comes once, however many look at once and however often the watch is muted', async () => {
    await mute(instant('13:00'))
    await room.notice(watchId, { event: LOW })
    at('13:00')
    await Promise.all([room.remind(), room.remind(), room.remind()])
    await pass()
    expect(notified()).toEqual([1, 1])
    room.forget()
    await mute(instant('14:00'))
    await pass()
    await mute(null)
    await pass()
    // It was sent before the mute, so it has a reminder.
    expect(room.chatTexts()).toEqual([expect.stringMatching(/^🟠 Still active:/)])
  })

  test('comes also where nothing can be over: a balance that moved', async () => {
    await mute(instant('13:00'))
    await room.notice(watchId, { event: 'wallet-balance.moved' })
    await pass()
    at('13:00')
    await pass()
    expect(notified()).toEqual([1, 1])
  })

  test('is the recovery, where the alert was sent before the mute', async () => {
    await room.notice(watchId, { event: LOW })
    await pass()
    room.forget()
    await mute(instant('14:00'))
    at('13:00')
    await room.notice(watchId, { event: BACK })
    await pass()
    expect(notified()).toEqual([0, 0])
    at('14:00')
    await pass()
    expect(room.subjects()).toHaveLength(1)
    expect(room.chatTexts().at(-1)).toContain('🟢')
  })

  test('is nothing where it came and went during the mute', async () => {
    await mute(instant('14:00'))
    await room.notice(watchId, { event: LOW })
    at('13:00')
    await room.notice(watchId, { event: BACK })
    at('14:00')
    await pass()
    expect(notified()).toEqual([0, 0])
  })

  test('waits for a watch that is paused to run again', async () => {
    await mute(instant('13:00'))
    await room.notice(watchId, { event: LOW })
    await room.alice.request('PATCH', `/watches/${watchId}`, { status: 'paused' })
    at('13:00')
    await pass()
    expect(notified()).toEqual([0, 0])
    await room.alice.request('PATCH', `/watches/${watchId}`, { status: 'active' })
    await pass()
    expect(notified()).toEqual([1, 1])
  })

  test('is what became worse while its episode was silenced, when that is taken back', async () => {
    await room.notice(watchId, { event: LOW })
    await pass()
    const [first] = await room.alerts('?limit=1')
    await muteEpisode(room.app, room.alice.caller, { id: first?.id ?? 0, muted: true })
    await room.notice(watchId, { event: LOW, severity: 'critical' })
    at('12:05')
    await pass()
    expect(notified()).toEqual([1, 1])
    room.forget()
    await muteEpisode(room.app, room.alice.caller, { id: first?.id ?? 0, muted: false })
    await pass()
    expect(room.chatTexts()).toEqual([expect.stringMatching(/^🔴 /)])
  })
})

test('an alert without recovery is never reminded of, whatever its severity', async () => {
  await room.notice(watchId, {
    event: 'feed-move.threshold',
    severity: 'critical',
  })
  await pass()
  room.forget()
  for (const time of ['12:16', '13:01', '16:01']) {
    at(time)
    await pass()
  }
  expect(notified()).toEqual([0, 0])
})

test('a recovery weighs as much as its alert, also when the history was deleted meanwhile', async () => {
  await room.change({ minSeverity: 'warning' })
  await room.notice(watchId, { event: LOW, severity: 'critical' })
  await pass()
  await room.alice.request('DELETE', '/alerts?all=true')
  room.forget()
  at('13:00')
  await room.notice(watchId, { event: BACK, episodeSeverity: 'critical' })
  await pass()
  expect(notified()).toEqual([1, 1])
})

test('a signal that settles in quiet hours is notified after them', async () => {
  await room.change({ quietHours: NIGHT })
  at('21:20')
  for (let change = 1; change <= 7; change++) {
    await room.notice(watchId, { event: change % 2 === 1 ? LOW : BACK })
    room.clock.advance(120)
  }
  await pass()
  room.forget()
  at('22:30')
  await pass()
  expect(notified()).toEqual([0, 0])
  at('07:00', 1)
  await pass()
  expect(notified()).toEqual([1, 1])
})

describe('a chat whose mute is taken back', () => {
  test('gets critical alerts at once, also with a digest; the others wait for it', async () => {
    await room.change({ digest: 'daily', digestAt: '09:00', repeat: { critical: [] } })
    await muteChat(room.app, { chatId: room.chat, minutes: 60 })
    await room.notice(watchId, { event: 'fsp.monitoring', severity: 'critical' })
    await room.notice(watchId, { event: LOW })
    await pass()
    at('12:20')
    await muteChat(room.app, { chatId: room.chat, minutes: 0 })
    await pass()
    expect(room.chatTexts()).toEqual([expect.stringContaining('No data from the chain')])
    expect(room.chatTexts()[0]).not.toContain('credits')
    at('09:00', 1)
    await pass()
    expect(room.chatTexts()).toHaveLength(2)
    expect(room.chatTexts()[1]).toContain('Only 420 credits left')
  })

  test('gets critical alerts in quiet hours that let them through, and the rest after them', async () => {
    await room.change({ quietHours: NIGHT, repeat: { critical: [] } })
    at('21:00')
    await muteChat(room.app, { chatId: room.chat, minutes: 600 })
    await room.notice(watchId, { event: 'fsp.monitoring', severity: 'critical' })
    await room.notice(watchId, { event: LOW })
    at('23:00')
    await muteChat(room.app, { chatId: room.chat, minutes: 0 })
    await pass()
    expect(room.chatTexts()).toEqual([expect.stringContaining('No data from the chain')])
    at('07:00', 1)
    await pass()
    expect(room.chatTexts()).toHaveLength(2)
  })

  test('gets notices at once, which never wait for a digest', async () => {
    await room.change({ digest: 'daily', digestAt: '09:00' })
    await muteChat(room.app, { chatId: room.chat, minutes: 60 })
    const [reader] = await room.sql<{ id: number }[]>`
      select id from recipients where chat_id = ${room.chat}`
    await room.notice(watchId, { event: LOW })
    await room.sql`
      update deliveries set kind = 'notice',
        envelope = jsonb_set(envelope::jsonb, '{kind}', '"notice"')::json
      where recipient_id = ${reader?.id ?? 0} and status = 'held'`
    at('12:20')
    await muteChat(room.app, { chatId: room.chat, minutes: 0 })
    await pass()
    expect(room.chatTexts()).toHaveLength(1)
  })
})
