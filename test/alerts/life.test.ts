import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  acknowledgeAlert,
  acknowledgeMessage,
  muteIncident,
  muteWatchOf,
  unacknowledgeAlert,
  unacknowledgeMessage,
} from '#src/alerts/acknowledge/acknowledge.ts'
import { alertUrl } from '#src/alerts/alert-urls.ts'
import { findLinkedActor, readLinkedAlertPage } from '#src/alerts/history/public-view.ts'
import { listAllRecipients } from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS } from '#src/recipients/settings.ts'
import type { Alert } from '../generated/api.ts'
import { signIn } from '../support/people.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

let world: AlertWorld
let watchId: number
let day = 0

const LOW = 'credits.low-balance'
const BACK = 'credits.recovered'
const critical = { event: LOW, severity: 'critical' } as const

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  day += 1
  world.clock.set(new Date(Date.UTC(2026, 11, day, 12)))
  await world.sql`update alerts set remind_at = null`
  await world.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  const { version: _version, ...defaults } = DEFAULT_SETTINGS
  await world.change(defaults)
  await world.deliver()
  watchId = await world.watch(`Watch ${day}`)
  world.forgetMessages()
})
afterEach(() => world.alice.request('DELETE', `/watches/${watchId}`))
afterAll(() => world.close())

const minutes = (count: number) => world.clock.advance(count * 60)
async function pass(): Promise<void> {
  await world.remind()
  await world.deliver()
}
async function newest(): Promise<Alert> {
  const [alert] = await world.alerts('?limit=1')
  if (alert === undefined) throw new Error('there is no alert')
  return alert
}
const by = (id: number, name = 'Ann') =>
  acknowledgeAlert(world.app, world.alice.caller, { id, by: name })
const oneLine = (text = '') => text.replaceAll(/\s+/g, ' ')

describe('an unacknowledged critical alert', () => {
  test('is repeated after 15, 60 and 240 minutes, to people only', async () => {
    await world.record(watchId, critical)
    const notified: number[] = []
    await pass()
    world.forgetMessages()
    // Checked minutes: every fifth one, and those before and after a reminder.
    const checked = Array.from({ length: 300 }, (_, index) => index + 1).filter(
      (minute) => minute % 5 === 0 || [15, 60, 240].some((due) => Math.abs(due - minute) === 1),
    )
    for (const [index, minute] of checked.entries()) {
      minutes(minute - (checked[index - 1] ?? 0))
      await world.remind()
      if ([15, 60, 240].includes(minute)) await world.deliver()
      if (world.chatTexts().length > notified.length) notified.push(minute)
    }
    await world.deliver()
    expect(notified).toEqual([15, 60, 240])
    expect(world.hooks()).toEqual([])
    expect(world.subjects()).toHaveLength(3)
    const [first, second, third] = world.chatTexts().map(oneLine)
    expect(first).toMatch(/^🔴 Watch .* · not resolved /)
    expect(first).toContain('not acknowledged. Reminder 1. Next reminder: 13:00 UTC.')
    expect(second).toContain('Active for 1 hour, not acknowledged. Reminder 2.')
    expect(third).toContain('Reminder 3.')
    expect(third).not.toContain('Next reminder')
  })

  test('is repeated once after the service was stopped for a while, also by several processes at once', async () => {
    await world.record(watchId, critical)
    await pass()
    world.forgetMessages()
    minutes(120)
    await Promise.all([world.remind(), world.remind(), world.remind()])
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    expect(oneLine(world.chatTexts()[0])).toContain('Next reminder: 16:00 UTC.')
  })

  test('is repeated as a reply to the first message', async () => {
    await world.record(watchId, critical)
    await pass()
    minutes(15)
    await pass()
    const messages = world.telegram.messages(world.chat).slice(-2)
    expect(messages[1]?.replyTo).toBe(messages[0]?.id)
  })

  test.each([
    ['it is acknowledged', (id: number) => by(id)],
    ['it recovers', () => world.record(watchId, { event: BACK })],
    [
      'it is silenced until it recovers',
      (id: number) => muteIncident(world.app, world.alice.caller, { id, muted: true }),
    ],
    ['its watch is deleted', () => world.alice.request('DELETE', `/watches/${watchId}`)],
    [
      'its watch is paused',
      () => world.alice.request('PATCH', `/watches/${watchId}`, { status: 'paused' }),
    ],
    ['reminders are switched off', () => world.change({ repeat: { critical: [] } })],
  ])('is not repeated when %s', async (_what, act: (id: number) => Promise<unknown>) => {
    await world.record(watchId, critical)
    await pass()
    await act((await newest()).id)
    await world.deliver()
    world.forgetMessages()
    for (const wait of [15, 45, 180]) {
      minutes(wait)
      await pass()
    }
    expect(world.chatTexts()).toEqual([])
    expect(world.subjects()).toEqual([])
  })

  test('is repeated at the times that the settings have when they are due', async () => {
    await world.change({ repeat: { critical: [240] } })
    await world.record(watchId, critical)
    await pass()
    world.forgetMessages()
    await world.change({ repeat: { critical: [5] } })
    minutes(5)
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
  })
})

test('a warning is not repeated', async () => {
  await world.record(watchId, { event: LOW })
  await pass()
  world.forgetMessages()
  minutes(60)
  await pass()
  expect(world.chatTexts()).toEqual([])
})

describe('acknowledging', () => {
  test('shows the person in every message of the alert; if several persons acknowledge, the first one', async () => {
    await world.record(watchId, critical)
    await pass()
    const { id } = await newest()
    expect(await by(id, 'Ann')).toMatchObject({ already: false, acknowledged: { by: 'Ann' } })
    minutes(1)
    expect(await by(id, 'Bob')).toMatchObject({ already: true, acknowledged: { by: 'Ann' } })
    await world.deliver()
    expect(oneLine(world.chatTexts()[0])).toContain('acknowledged by Ann, 12:00')
    expect(await newest()).toMatchObject({ state: 'acknowledged' })
  })

  test('can be undone, and the reminders continue', async () => {
    await world.record(watchId, critical)
    await pass()
    const { id } = await newest()
    await by(id)
    expect(await unacknowledgeAlert(world.app, world.alice.caller, { id })).toMatchObject({
      acknowledged: null,
    })
    expect(await newest()).toMatchObject({ state: 'firing', acknowledgedAt: null })
    world.forgetMessages()
    minutes(15)
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
  })

  test('is still shown after the alert recovers', async () => {
    await world.record(watchId, critical)
    const { id } = await newest()
    await by(id)
    minutes(1)
    await world.record(watchId, { event: BACK })
    const [recovery, alert] = await world.alerts('?limit=2')
    expect(alert).toMatchObject({ id, state: 'recovered', durationSeconds: 60 })
    expect(alert?.acknowledgedAt).not.toBeNull()
    expect(recovery).toMatchObject({ recoveryOf: id, state: 'recovered' })
  })

  test.each([
    ['one alert', [LOW], [BACK]],
    ['several', [LOW, 'fsp.monitoring'], [BACK, 'fsp.monitoring.recovered']],
  ])('of %s is mentioned in the recovery, in chat and mail', async (_of, events, recoveries) => {
    await world.record(watchId, ...events.map((event) => ({ event })))
    await pass()
    for (const { id } of await world.alerts(`?limit=${events.length}`)) await by(id)
    await world.deliver()
    world.forgetMessages()
    minutes(1)
    await world.record(watchId, ...recoveries.map((event) => ({ event })))
    await pass()
    await pass()
    expect(oneLine(world.chatTexts().at(-1))).toContain('12:00 to 12:01 UTC · acknowledged by Ann')
    expect(world.inbox.mails.at(-1)?.text).toContain('acknowledged by Ann')
  })

  test('of one message covers every alert in it', async () => {
    await world.record(watchId, critical, { event: 'fsp.monitoring' })
    await pass()
    const message = world.telegram.messages(world.chat).at(-1)
    const readers = await listAllRecipients(world.app.db, world.alice.caller.wallet)
    const recipientId = readers.at(-1)?.id ?? 0
    const input = { recipientId, messageId: String(message?.id), by: 'Ann' }
    const acted = await acknowledgeMessage(world.app, world.alice.caller, input)
    expect(acted).toHaveLength(2)
    const states = (await world.alerts('?limit=2')).map(({ state }) => state)
    expect(states).toEqual(['acknowledged', 'acknowledged'])
  })

  test('of a message that has a recovered alert is undone for the alerts that still fire', async () => {
    await world.record(watchId, critical, { event: 'fsp.monitoring' })
    await pass()
    const message = world.telegram.messages(world.chat).at(-1)
    const readers = await listAllRecipients(world.app.db, world.alice.caller.wallet)
    const input = { recipientId: readers.at(-1)?.id ?? 0, messageId: String(message?.id) }
    const { caller } = world.alice
    const shown = () => world.telegram.messages(world.chat).find(({ id }) => id === message?.id)
    await world.record(watchId, { event: 'fsp.monitoring.recovered' })
    await pass()
    expect(await unacknowledgeMessage(world.app, caller, input)).toEqual([])
    const [open] = (await world.alerts('?limit=5')).filter(({ state }) => state === 'firing')
    await acknowledgeAlert(world.app, caller, { id: open?.id ?? 0, by: 'Ann' })
    await pass()
    expect(shown()?.text).toContain('Ann')
    expect(await unacknowledgeMessage(world.app, caller, input)).toHaveLength(1)
    await pass()
    expect(shown()?.text).not.toContain('Ann')
  })

  test('is refused to other wallets', async () => {
    await world.record(watchId, critical)
    const { id } = await newest()
    const bob = await signIn(world, 'bob')
    await expect(acknowledgeAlert(world.app, bob.caller, { id, by: null })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('several alerts in one message', () => {
  const all = (severity: 'warning' | 'critical') =>
    [LOW, 'fsp.monitoring'].map((event) => ({ event, severity }))
  const last = (count: number) => world.telegram.messages(world.chat).slice(-count)

  test('get one message again when their severity rises, and one reminder as a reply', async () => {
    await world.record(watchId, ...all('warning'))
    await pass()
    minutes(3)
    world.forgetMessages()
    await world.record(watchId, ...all('critical'))
    await pass()
    minutes(15)
    await pass()
    await pass()
    const [raised, reminder] = last(2)
    expect(world.chatTexts()).toHaveLength(2)
    expect(world.subjects()).toHaveLength(2)
    expect(raised?.text).toMatch(/^🔴 .*: .* · 1 more alert\nCritical · since/)
    expect(raised?.replyTo).toBeUndefined()
    expect(reminder?.replyTo).toBe(raised?.id)
    expect(reminder?.text).toMatch(/^🔴 .*: .* · 1 more alert · not resolved\n/)
    expect(oneLine(reminder?.text)).toContain(
      'not acknowledged. Reminder 1. Next reminder: 13:03 UTC.',
    )
    expect(reminder?.text.match(/not resolved/g)).toHaveLength(1)
    expect(reminder?.keyboard.flat().map(({ text }) => text)).toEqual([
      'Acknowledge all',
      'What to do',
      'Mute…',
      'Alerts',
    ])
  })

  test('get no reminder after they are acknowledged', async () => {
    await world.record(watchId, ...all('critical'))
    await pass()
    minutes(15)
    await pass()
    for (const { id } of await world.alerts('?limit=2')) await by(id)
    await world.deliver()
    const [reminder] = last(1)
    expect(reminder?.text).not.toContain('still active')
    expect(reminder?.text).toContain('acknowledged by')
    world.forgetMessages()
    minutes(60)
    await pass()
    expect(world.chatTexts()).toEqual([])
  })
})

describe('a severity increase', () => {
  test('replaces the first message, and one acknowledgement covers both alerts', async () => {
    await world.record(watchId, { event: LOW })
    await pass()
    const [warning] = world.telegram.messages(world.chat).slice(-1)
    minutes(3)
    await world.record(watchId, critical)
    await pass()
    await world.deliver()
    const shown = world.telegram.messages(world.chat)
    expect(shown.at(-1)?.text).toContain('Severity raised to critical')
    expect(shown.map(({ id }) => id)).not.toContain(warning?.id)
    const { id } = await newest()
    await by(id)
    const states = (await world.alerts('?limit=2')).map(({ state }) => state)
    expect(states).toEqual(['acknowledged', 'acknowledged'])
  })

  test('has the duration since the start of the episode in every text', async () => {
    await world.record(watchId, { event: LOW })
    await pass()
    minutes(10)
    await world.record(watchId, critical)
    await pass()
    const raised = await newest()
    world.forgetMessages()
    minutes(15)
    await pass()
    expect(oneLine(world.chatTexts()[0])).toContain('Active for 25 minutes')
    minutes(5)
    await world.record(watchId, { event: BACK })
    await pass()
    await pass()
    const alerts = await world.alerts('?limit=3')
    expect(alerts.map(({ durationSeconds }) => durationSeconds)).toEqual([1800, 1800, 1800])
    expect(
      world.telegram
        .messages(world.chat)
        .slice(-3)
        .map(({ text }) => text),
    ).toEqual([
      ...Array.from({ length: 2 }, () => expect.stringMatching(/12:00.*12:30.*· 30 min/)),
      expect.stringMatching(/12:00.*12:30\sUTC\n[\s\S]*Duration: 30 minutes\./),
    ])
    expect(world.inbox.mails.at(-1)?.text).toMatch(/Recovered · active .* to 12:30\sUTC\n/)
    const { body } = alerts.find(({ id }) => id === raised.id)?.rendered ?? {}
    expect(body).not.toContain('Duration')
    const code = alertUrl(world.app, { alertId: raised.id, recipientId: null }).split('/').at(-1)
    const page = await readLinkedAlertPage(world.app, code ?? '')
    expect(page?.durationSeconds).toBe(1800)
  })
})

describe('a recovery', () => {
  test('states the duration of the episode and the other alerts of the watch that still fire', async () => {
    await world.record(watchId, { event: 'fsp.monitoring' })
    minutes(2)
    await world.record(watchId, { event: LOW })
    minutes(10)
    await world.record(watchId, { event: BACK })
    await pass()
    const text = oneLine(world.chatTexts().at(-1))
    expect(text).toContain('Duration: 10 minutes.')
    expect(text).toContain('Still active: No data from the chain (12 min).')
    expect(text).toMatch(/ Recovered · active [\d:]+ to [\d:]+ UTC /)
    expect(text).not.toContain('since')
    for (const notified of [text, world.inbox.mails.at(-1)?.text]) {
      expect(notified?.match(/10\s+min/g)).toHaveLength(1)
    }
    const recovery = await newest()
    expect(recovery.rendered.body).toContain('Duration: 10 minutes.')
    expect(recovery.durationSeconds).toBe(600)
  })

  test('lists another episode that still fires once, with its whole duration, also after a severity increase', async () => {
    const data = { since: world.clock.now().toISOString() }
    await world.record(watchId, { event: 'fsp.ftso-commit', data })
    minutes(5)
    await world.record(watchId, { event: 'fsp.ftso-commit', severity: 'critical', data })
    minutes(1)
    await world.record(watchId, { event: LOW })
    minutes(9)
    await world.record(watchId, { event: BACK })
    await pass()
    const texts = world.chatTexts().map(oneLine)
    expect(texts).toContainEqual(expect.stringMatching(/Still active: [^,.(]* \(15 min\)\./))
  })

  test('changes the message of its alert', async () => {
    await world.record(watchId, { event: LOW })
    await pass()
    minutes(12)
    await world.record(watchId, { event: BACK })
    await pass()
    await pass()
    const [alert] = world.chatTexts()
    expect(alert).toContain('🟢')
    expect(oneLine(alert)).toContain('12:00 to 12:12 UTC · 12 min')
  })
})

describe('a mute', () => {
  test('of a watch ends at its time, and alerts that still fire are sent then', async () => {
    await world.record(watchId, { event: LOW })
    await pass()
    const { id } = await newest()
    const until = new Date(world.clock.now().getTime() + 3_600_000)
    await muteWatchOf(world.app, world.alice.caller, { id, until })
    await pass()
    expect(oneLine(world.chatTexts()[0])).toContain('🔕 until 13:00')
    world.forgetMessages()
    minutes(30)
    await world.record(watchId, { event: 'fsp.monitoring' })
    await pass()
    expect(world.chatTexts()).toEqual([])
    expect((await newest()).deliveries.map(({ status }) => status)).toContain('muted')
    minutes(30)
    await Promise.all([world.remind(), world.remind()])
    await pass()
    expect(world.chatTexts()).toEqual([
      expect.stringMatching(/^🟠 Watch .*: Only 420 credits left · not resolved\n/),
      expect.stringMatching(/^🟠 Watch .*: No data from the chain\n/),
    ])
    const { body } = await world.alice.request('GET', `/watches/${watchId}`)
    expect(body.mutedUntil).toBeNull()
    world.forgetMessages()
    await pass()
    expect(world.chatTexts()).toEqual([])
  })

  test('of an episode suppresses all messages except the recovery, and ends with the recovery', async () => {
    await world.record(watchId, { event: LOW })
    await pass()
    const { id } = await newest()
    const muted = await muteIncident(world.app, world.alice.caller, { id, muted: true })
    expect(muted).toMatchObject({ muted: { until: 'recovered' } })
    world.forgetMessages()
    minutes(1)
    await world.record(watchId, critical)
    await pass()
    expect(world.chatTexts()).toEqual([])
    expect(world.hooks()).toEqual([LOW])
    minutes(1)
    await world.record(watchId, { event: BACK })
    minutes(1)
    await world.record(watchId, { event: LOW })
    await pass()
    expect(world.chatTexts()).toHaveLength(2)
  })
})

describe('an alert of a signal that changes often', () => {
  test('says until when no other follows, and so does its recovery meanwhile', async () => {
    const cooldownUntil = new Date(world.clock.now().getTime() + 30 * 60_000)
    await world.record(watchId, { event: LOW, cooldownUntil })
    await world.deliver()
    const sentence = 'This signal keeps changing, so no new alert is sent before 12:30 UTC.'
    expect(oneLine(world.chatTexts()[0])).toContain(sentence)
    minutes(2)
    await world.record(watchId, { event: BACK })
    await world.deliver()
    expect(oneLine(world.chatTexts().at(-1))).toContain(sentence)
    expect(world.hooks()).toEqual([LOW, BACK])
  })

  test('says so also when a mute held it, and its recovery after the cooldown does not', async () => {
    const at = (minute: number) => new Date(world.clock.now().getTime() + minute * 60_000)
    await world.record(watchId, { event: 'fsp.monitoring' })
    const { id } = await newest()
    await muteWatchOf(world.app, world.alice.caller, { id, until: at(10) })
    await world.record(watchId, { event: LOW, cooldownUntil: at(30) })
    await world.deliver()
    world.forgetMessages()
    minutes(10)
    await pass()
    expect(oneLine(world.chatTexts().join())).toContain('no new alert is sent before 12:30 UTC')
    world.forgetMessages()
    minutes(21)
    await world.record(watchId, { event: BACK })
    await pass()
    expect(world.chatTexts()).toHaveLength(1)
    expect(world.chatTexts()[0]).not.toContain('keeps changing')
  })
})

describe('a watch that is deleted', () => {
  test('closes its open alerts without a message', async () => {
    await world.record(watchId, critical)
    await pass()
    world.forgetMessages()
    await world.alice.request('DELETE', `/watches/${watchId}`)
    minutes(300)
    await pass()
    expect(world.chatTexts()).toEqual([])
    expect(world.subjects()).toEqual([])
    const closed = { event: LOW, state: 'closed', recoveredAt: null, durationSeconds: null }
    expect(await newest()).toMatchObject(closed)
    expect(await world.alerts('?state=closed&limit=1')).toMatchObject([closed])
    const { text } = await world.alice.request('GET', '/alerts/export?state=closed')
    expect(text).toMatch(/,credits\.low-balance,critical,closed,/)
  })

  test('is shown in the chat message of each alert, which loses its Acknowledge button', async () => {
    await world.record(watchId, critical)
    await pass()
    const sent = world.telegram.messages(world.chat).at(-1)
    minutes(5)
    await world.alice.request('DELETE', `/watches/${watchId}`)
    await pass()
    const message = world.telegram.messages(world.chat).find(({ id }) => id === sent?.id)
    expect(oneLine(message?.text)).toMatch(/^⚪ .* · closed 12:05: watch deleted/)
    expect(message?.keyboard.flat().map(({ text }) => text)).not.toContain('Acknowledge')
  })

  test('closes every alert of a message, and shows it on the page of each', async () => {
    await world.record(watchId, critical, { event: 'fsp.monitoring' })
    await pass()
    const { id } = await newest()
    await world.alice.request('DELETE', `/watches/${watchId}`)
    await pass()
    expect(oneLine(world.chatTexts().at(-1))).toMatch(/^⚪ .*: 2 alerts .* · closed 12:00/)
    const code = alertUrl(world.app, { alertId: id, recipientId: null }).split('/').at(-1) ?? ''
    const { body } = await world.server.inject({ url: `/a/${code}` })
    expect(body).toContain('the watch was deleted')
  })
})

describe('a link to an alert', () => {
  async function links() {
    await world.record(watchId, critical)
    await pass()
    const { id } = await newest()
    const readers = await listAllRecipients(world.app.db, world.alice.caller.wallet)
    const codeOf = (recipientId: number | null) =>
      alertUrl(world.app, { alertId: id, recipientId }).split('/a/')[1] ?? ''
    return { id, codes: [...readers.map((reader) => codeOf(reader.id)), codeOf(null)] }
  }

  test('lets mailboxes and private chats act for seven days; that of a webhook does not', async () => {
    const { id, codes } = await links()
    const actors = await Promise.all(codes.map((code) => findLinkedActor(world.app, code)))
    expect(actors.map((actor) => actor?.by)).toEqual([
      expect.stringContaining('@example.org'),
      undefined,
      'Ann',
      undefined,
    ])
    const actor = actors[0]
    if (actor === undefined) throw new Error('nobody may act')
    await acknowledgeAlert(world.app, actor.caller, { id, by: actor.by })
    const page = await readLinkedAlertPage(world.app, codes[0] ?? '')
    expect(page).toMatchObject({ mayAct: true, isOpen: true, state: 'acknowledged' })
    expect(page?.acknowledged?.by).toContain('@example.org')
    expect(page?.help.action).toMatch(/\S/)
    expect(page?.deliveries.map(({ channel }) => channel)).toContain('webhook')
    expect(page?.deliveries.every(({ to }) => to !== null)).toBe(true)
    expect((await readLinkedAlertPage(world.app, codes[1] ?? ''))?.deliveries[0]?.to).toBeNull()
    minutes(7 * 24 * 60)
    expect(await findLinkedActor(world.app, codes[0] ?? '')).toBeUndefined()
    expect(await readLinkedAlertPage(world.app, codes[0] ?? '')).toMatchObject({ mayAct: false })
  })

  test('with a changed character is refused', async () => {
    const { codes } = await links()
    const code = `${codes[0]?.slice(0, -2)}AA`
    expect(await readLinkedAlertPage(world.app, code)).toBeUndefined()
    expect(await findLinkedActor(world.app, code)).toBeUndefined()
  })
})

describe('two missed votes', () => {
  const missed = (rewardEpochId: number, vote: string) =>
    ({ event: 'signing.missed', severity: 'critical', data: { rewardEpochId, vote } }) as const

  test('are one incident, which is acknowledged as one, and recover separately', async () => {
    await world.record(watchId, missed(451, 'uptime'))
    minutes(1)
    await world.record(watchId, missed(451, 'rewards'))
    await pass()
    const [rewards, uptime] = await world.alerts('?limit=2')
    await by(uptime?.id ?? 0)
    await world.deliver()
    world.forgetMessages()
    minutes(15)
    await pass()
    expect(world.chatTexts()).toEqual([])
    minutes(1)
    await world.record(watchId, {
      event: 'signing.done',
      data: { rewardEpochId: 452, vote: 'uptime' },
    })
    const [done, ...before] = await world.alerts('?limit=3')
    expect(done).toMatchObject({ event: 'signing.done', recoveryOf: uptime?.id })
    expect(before.map(({ id, state }) => ({ id, state }))).toEqual([
      { id: rewards?.id, state: 'acknowledged' },
      { id: uptime?.id, state: 'recovered' },
    ])
  })
})
