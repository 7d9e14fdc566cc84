import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { muteChatAndReschedule } from '#src/alerts/reminders/settings-changes.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import { deleteDeliveries } from '../support/deliveries.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

let world: AlertWorld
let watchId: number

const NIGHT = { enabled: true, from: '22:00', to: '07:00', criticalBypass: true }
const LOW = 'credits.low-balance'
const BACK = 'credits.recovered'

beforeAll(async () => {
  world = await alertWorld()
  watchId = await world.watch('Credits')
})
beforeEach(async () => {
  const { version: _version, ...defaults } = DEFAULT_SETTINGS
  await world.change(defaults)
  await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 0 })
  await world.sql`update alerts set state = 'recovered', recovered_at = fired_at, remind_at = null`
  await deleteDeliveries(world.app.db, sql`status in ('held', 'pending')`)
  world.forgetMessages()
})
afterAll(() => world.close())

const at = (time: string) => world.clock.set(new Date(time))
async function pass(): Promise<void> {
  await world.summarize()
  await world.deliver()
}

describe('quiet hours', () => {
  test('defer alerts that are not critical to chats and mailboxes, not to programs', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-11-20T23:00:00.000Z')
    await world.record(watchId, { event: LOW })
    await world.record(watchId, { event: 'fsp.monitoring', severity: 'critical' })
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    expect(world.chatTexts()[0]).toContain('No data from the chain')
    expect(world.hooks().toSorted()).toEqual([LOW, 'fsp.monitoring'])
    const [, low] = await world.alerts()
    expect(low?.deliveries.map(({ channel, status }) => `${channel} ${status}`).toSorted()).toEqual(
      ['email held', 'telegram held', 'webhook delivered'],
    )
  })

  test('end in one summary: first the alerts that still fire, then each recovered alert in one line with its end', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-11-21T23:00:00.000Z')
    await world.record(watchId, { event: 'fsp.monitoring' })
    world.clock.advance(600)
    await world.record(watchId, { event: 'fsp.monitoring.recovered' })
    world.clock.advance(600)
    await world.record(watchId, { event: LOW })
    at('2026-11-22T06:59:59.000Z')
    await pass()
    expect(world.chatTexts()).toEqual([])
    at('2026-11-22T07:00:00.000Z')
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    const text = world.chatTexts()[0] ?? ''
    const lines = text.split('\n').filter((line) => line !== '')
    expect(lines[0]).toBe('☀️ During quiet hours, 22:00 – 07:00')
    expect(lines[1]).toBe('2 alerts, 1 recovered automatically.')
    expect(lines[2]).toContain('credits left')
    expect(lines[3]).toContain('23:00 🟢')
    expect(lines[3]).toContain('No data from the chain · recovered after 10 min')
    expect(lines).toHaveLength(4)
    expect(world.subjects()).toEqual(['Credits: During quiet hours, 22:00 – 07:00'])
    expect(linksIn(world.inbox.mails[0]?.text)).not.toContain(`${world.app.publicUrl}/`)
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
  })

  test('that ended while the service was stopped are summarized once, when it runs again', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-11-22T23:00:00.000Z')
    await world.record(watchId, { event: LOW })
    at('2026-11-24T15:00:00.000Z')
    await Promise.all([world.summarize(), world.summarize(), world.summarize()])
    await world.deliver()
    expect(world.chatTexts()).toHaveLength(1)
    expect(world.chatTexts()[0]).toContain('22:00 – 07:00')
    expect(world.subjects()).toHaveLength(1)
  })

  test('give an alert the delivery status of its summary', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-11-24T23:00:00.000Z')
    await world.record(watchId, { event: LOW })
    const fates = async () => {
      const [low] = await world.alerts()
      const notified = low?.deliveries.filter(({ channel }) => channel !== 'webhook') ?? []
      return notified
        .map(({ channel, status, attempts }) => `${channel} ${status} ${attempts}`)
        .sort()
    }
    at('2026-11-25T07:00:00.000Z')
    await world.summarize()
    expect(await fates()).toEqual(['email pending 0', 'telegram pending 0'])
    world.inbox.setMailbox('ops@example.org', 'temporary')
    await world.deliver()
    expect(await fates()).toEqual(['email retrying 1', 'telegram delivered 1'])
    const [refused] =
      (await world.alerts())[0]?.deliveries.filter((delivery) => delivery.lastError) ?? []
    expect(refused).toMatchObject({ channel: 'email', lastStatusCode: 450, deliveredAt: null })
    world.inbox.setMailbox('ops@example.org', undefined)
    world.clock.advance(10)
    await world.deliver()
    expect(await fates()).toEqual(['email delivered 2', 'telegram delivered 1'])
  })

  test('follow the time zone of each recipient', async () => {
    await world.change({ quietHours: NIGHT, timezone: 'Asia/Kolkata' })
    at('2026-11-25T16:30:00.000Z')
    await world.record(watchId, { event: LOW })
    await pass()
    // The mailbox uses the wallet's time zone, where it is 22:00; the chat uses UTC.
    expect(world.chatTexts()).toHaveLength(1)
    expect(world.subjects()).toEqual([])
    at('2026-11-26T01:30:00.000Z')
    await pass()
    expect(world.subjects()).toEqual(['Credits: During quiet hours, 22:00 – 07:00'])
  })

  test('that are switched off release the alerts that they deferred', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-11-26T23:00:00.000Z')
    await world.record(watchId, { event: LOW })
    await world.change({ quietHours: { ...NIGHT, enabled: false } })
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
  })

  test('that are extended defer alerts until the new end', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-11-27T23:00:00.000Z')
    await world.record(watchId, { event: LOW })
    await world.change({ quietHours: { ...NIGHT, to: '09:00' } })
    at('2026-11-28T08:00:00.000Z')
    await pass()
    expect(world.chatTexts()).toEqual([])
    at('2026-11-28T09:00:00.000Z')
    await pass()
    expect(world.chatTexts()[0]).toContain('22:00 – 09:00')
  })

  test('cancel what they deferred for a recipient that was deleted meanwhile', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-11-28T23:00:00.000Z')
    await world.record(watchId, { event: LOW })
    await world.sql`
      update delivery_log set recipient_id = 999999 where status = 'held' and channel = 'telegram'`
    at('2026-11-29T07:00:00.000Z')
    await pass()
    expect(world.chatTexts()).toEqual([])
    expect(world.subjects()).toHaveLength(1)
    const rows = await world.sql`
      select status, deferred_until as until from deliveries where recipient_id = 999999`
    expect(rows).toEqual([{ status: 'disabled', until: null }])
  })
})

describe('a recovery while its alert is still deferred', () => {
  test('waits for the summary although quiet hours are over, and is shown there in the line of its alert', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-11-28T23:00:00.000Z')
    await world.record(watchId, { event: LOW })
    // Quiet hours are over, and the job that sends summaries has not run yet.
    at('2026-11-29T07:00:01.000Z')
    await world.record(watchId, { event: BACK })
    await world.deliver()
    expect(world.chatTexts()).toEqual([])
    expect(world.hooks()).toEqual([LOW, BACK])
    await pass()
    const [text = '', ...others] = world.chatTexts()
    expect(others).toEqual([])
    expect(text).toMatch(/🟢 .* · recovered after 8/)
    expect(text.match(/🟢/g)).toHaveLength(1)
    expect(text).not.toContain('🟠')
  })

  test('in a muted chat is shown together with its alert when the mute ends', async () => {
    at('2026-11-29T13:00:00.000Z')
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 60 })
    await world.record(watchId, { event: LOW })
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 0 })
    world.clock.advance(360)
    await world.record(watchId, { event: BACK })
    await world.deliver()
    expect(world.chatTexts()).toEqual([])
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    expect(world.chatTexts()[0]).toContain('recovered after 6 min')
  })

  test('is sent at once if any alert of its episode was sent', async () => {
    await world.change({ digest: 'daily' })
    at('2026-11-29T15:00:00.000Z')
    await world.record(watchId, { event: LOW })
    world.clock.advance(60)
    await world.record(watchId, { event: LOW, severity: 'critical' })
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    world.clock.advance(60)
    await world.record(watchId, { event: BACK, episodeSeverity: 'critical' })
    await pass()
    expect(world.chatTexts()).toHaveLength(2)
    expect(world.chatTexts()[1]).toContain('credits again')
  })
})

describe('a recovery after a summary', () => {
  test('says that its alert was deferred', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-11-29T02:00:00.000Z')
    await world.record(watchId, { event: LOW })
    at('2026-11-29T07:00:00.000Z')
    await pass()
    world.forgetMessages()
    world.clock.advance(900)
    await world.record(watchId, { event: BACK })
    await pass()
    expect(world.chatTexts()[0]).toContain('while messages were held')
    expect(world.chatTexts()[0]).toContain('Duration: 5 hours, 15 minutes.')
  })

  test('of an alert that was sent before is counted as a recovery in the digest', async () => {
    at('2026-11-29T12:00:00.000Z')
    await world.record(watchId, { event: LOW }, { event: 'fsp.monitoring' })
    await pass()
    world.forgetMessages()
    await world.change({ digest: '1h' })
    at('2026-11-29T13:05:00.000Z')
    await world.record(watchId, { event: BACK }, { event: 'fsp.monitoring.recovered' })
    at('2026-11-29T14:00:00.000Z')
    await pass()
    expect(world.chatTexts()[0]).toMatch(/^🗂️ 13:00 – 14:00: 2 recoveries\n+2 recoveries\.\n/)
    expect(world.subjects()).toEqual(['Credits: 13:00 – 14:00: 2 recoveries'])
    world.forgetMessages()
    at('2026-11-29T14:05:00.000Z')
    await world.record(watchId, { event: 'fsp.monitoring' })
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 0 })
    at('2026-11-29T15:00:00.000Z')
    await pass()
    world.forgetMessages()
    at('2026-11-29T15:05:00.000Z')
    await world.record(watchId, { event: 'fsp.monitoring.recovered' }, { event: LOW })
    at('2026-11-29T16:00:00.000Z')
    await pass()
    expect(world.chatTexts()[0]).toContain('1 alert and 1 recovery.')
    expect(world.subjects()).toEqual(['Credits: 15:00 – 16:00: 1 alert and 1 recovery'])
  })
})

describe('a digest', () => {
  test('shows its period and the number of alerts, grouped by watch', async () => {
    const other = await world.watch('Other')
    await world.change({ digest: '1h' })
    at('2026-11-30T13:05:00.000Z')
    await world.record(watchId, { event: LOW })
    world.clock.advance(60)
    await world.record(other, { event: LOW })
    world.clock.advance(60)
    await world.record(watchId, { event: 'fsp.monitoring' })
    at('2026-11-30T14:00:00.000Z')
    await pass()
    expect(world.subjects()).toEqual(['13:00 – 14:00: 3 alerts'])
    const [text = ''] = world.chatTexts()
    expect(text).toContain('🗂️ 13:00 – 14:00: 3 alerts')
    const watches = [...text.matchAll(/^\d\d:\d\d \S+ (Credits|Other): /gm)].map(
      ([, label]) => label,
    )
    expect(watches).toEqual(['Credits', 'Credits', 'Other'])
  })

  test('does not defer critical alerts', async () => {
    await world.change({ digest: 'daily' })
    at('2026-12-01T13:05:00.000Z')
    await world.record(watchId, { event: 'fsp.monitoring', severity: 'critical' })
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
  })

  test('shows twenty lines and counts the rest', async () => {
    await world.change({ digest: '15m' })
    at('2026-12-02T13:01:00.000Z')
    for (let n = 0; n < 13; n++) {
      world.clock.advance(1)
      await world.record(watchId, { event: 'wallet-balance.moved' })
      await world.record(watchId, { event: 'feed-move.threshold' })
    }
    at('2026-12-02T13:15:00.000Z')
    await pass()
    const [text = ''] = world.chatTexts()
    expect(text).toContain('13:00 – 13:15: 26 alerts')
    expect(text.match(/^13:01 /gm)).toHaveLength(20)
    expect(text).toContain('and 6 more')
  })
})

describe('a chat that is muted', () => {
  test('gets no alert, not even a critical one, until the mute ends, and then all; mail is not affected', async () => {
    at('2026-12-03T13:05:00.000Z')
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 60 })
    await world.record(watchId, { event: 'fsp.monitoring', severity: 'critical' })
    world.clock.advance(16 * 60)
    await world.remind()
    await pass()
    expect(world.chatTexts()).toEqual([])
    expect(world.subjects().length).toBeGreaterThanOrEqual(2)
    at('2026-12-03T14:05:00.000Z')
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    expect(world.chatTexts()[0]).toContain('While muted, 13:05 – 14:05')
  })

  test('that ends early gets the missed alerts at once', async () => {
    at('2026-12-04T13:05:00.000Z')
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 480 })
    await world.record(watchId, { event: LOW })
    world.clock.advance(60)
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 0 })
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
  })
})

function linksIn(text = ''): readonly string[] {
  return text.match(/https?:\/\/\S+/g) ?? []
}

describe('very many deferred messages', () => {
  /** More than one statement moves or removes. */
  const MANY = 5_100

  /** Copies the deferred deliveries of a recipient, as a noisy watch would create them. */
  async function multiply(): Promise<void> {
    await world.sql`
      insert into delivery_log (id, wallet, recipient_id, watch_id, channel, order_key, fired_at,
        position, envelope, kind, recovery, test, urgency, status, attempts, deferred_until, created_at)
      select gen_random_uuid(), wallet, recipient_id, watch_id, channel, order_key, fired_at,
        position, envelope, kind, recovery, test, urgency, status, attempts, deferred_until, created_at
      from delivery_log, generate_series(1, ${MANY}) where status = 'held'`
  }
  const held = async () => {
    const [row] = await world.sql<{ count: number; until: Date | null }[]>`
      select count(*)::int as count, max(deferred_until) as until from deliveries
      where deferred_until is not null`
    return row
  }

  test('are sent in one short summary that counts all of them and lists twenty', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-12-10T23:00:00.000Z')
    await world.record(watchId, { event: LOW })
    await multiply()
    expect((await held())?.count).toBe(2 * (MANY + 1))
    at('2026-12-11T07:00:00.000Z')
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    expect(world.chatTexts()[0]).toContain('5,101 alerts')
    expect(world.chatTexts()[0]).toContain('and 5,081 more')
    const [summary] = await world.sql<{ items: number; bytes: number }[]>`
      select json_array_length(envelope -> 'items') as items, octet_length(envelope::text) as bytes
      from deliveries where kind = 'summary' order by created_at desc, id desc limit 1`
    expect(summary?.items).toBe(20)
    expect(summary?.bytes).toBeLessThan(20_000)
    expect((await held())?.count).toBe(0)
  })

  test('are rescheduled by a job, not by the request that mutes the chat', async () => {
    await world.change({ quietHours: NIGHT })
    at('2026-12-12T23:00:00.000Z')
    await world.record(watchId, { event: LOW })
    await multiply()
    const before = await held()
    await muteChatAndReschedule(world.app, { chatId: world.chat, minutes: 1440 })
    expect(await held()).toEqual(before)
    await Promise.all([world.summarize(), world.summarize()])
    const [chat] = await world.sql<{ count: number }[]>`
      select count(*)::int as count from deliveries
      where channel = 'telegram' and deferred_until = ${new Date('2026-12-14T07:00:00.000Z')}`
    expect(chat?.count).toBe(MANY + 1)
    at('2026-12-13T07:00:00.000Z')
    await pass()
    expect(world.chatTexts()).toEqual([])
    expect(world.subjects()).toHaveLength(1)
  })
})
