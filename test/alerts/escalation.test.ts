import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { acknowledgeAlert, muteIncident } from '#src/alerts/acknowledge/acknowledge.ts'
import { readLinkedAlertPage } from '#src/alerts/history/public-view.ts'
import { translator } from '#src/i18n/translate.ts'
import { alertPageData } from '#src/pages/alert/view.ts'
import { deleteDeliveries } from '../support/deliveries.ts'
import { confirmMailbox } from '../support/destinations.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** Unacknowledged alerts are sent to further recipients. */

let world: AlertWorld
let watchId: number
/** A webhook that is not a default recipient: it gets only alerts that are escalated to it, and their recoveries. */
let pager: number

const LOW = 'credits.low-balance'
const BACK = 'credits.recovered'

beforeAll(async () => {
  world = await alertWorld()
  await world.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  const input = { name: 'Pager', channel: 'webhook', url: world.receiver.url('pager') }
  pager = (await world.alice.request('POST', '/recipients', input)).body.id
})
beforeEach(async () => {
  world.clock.advance(86_400)
  await world.sql`update alerts set state = 'recovered', recovered_at = fired_at, escalate_at = null`
  await deleteDeliveries(world.app.db)
  const { body } = await world.alice.request('GET', '/watches')
  for (const { id } of body.data) await world.alice.request('DELETE', `/watches/${id}`)
  await world.sql`delete from recipients where name = 'Second'`
  watchId = await world.watch('Credits')
  await escalate({ escalateAfterMinutes: 15, escalateTo: [pager] })
  world.forgetMessages()
})
afterAll(() => world.close())

async function escalate(changes: Record<string, unknown>): Promise<void> {
  const { status, text } = await world.alice.request('PATCH', `/watches/${watchId}`, changes)
  expect([status, text]).toEqual([200, text])
}
async function minutes(count: number): Promise<void> {
  world.clock.advance(count * 60)
  await world.remind()
  await world.deliver()
}
/** Events that were sent to the further recipient. */
const paged = () =>
  world.receiver.deliveries
    .filter(({ hook }) => hook === 'pager')
    .map(({ json }) => (json as { event: string }).event)
/** The alert's page behind the link in the owner's chat. */
const pageOf = async (alertId: number) => {
  const [kept] = await world.sql`
    select envelope -> 'message' ->> 'link' as link from deliveries
    where alert_id = ${alertId} and channel = 'telegram'`
  return await readLinkedAlertPage(world.app, String(kept?.['link']).split('/a/')[1] ?? '')
}
const newest = async () => {
  const [alert] = await world.alerts()
  if (alert === undefined) throw new Error('there is no alert')
  return alert
}

test('a deleted recipient is removed from the escalations of its wallet', async () => {
  const input = { name: 'Second', channel: 'webhook', url: world.receiver.url('second') }
  const { id } = (await world.alice.request('POST', '/recipients', input)).body
  await escalate({ escalateTo: [pager, id] })
  expect((await world.alice.request('DELETE', `/recipients/${id}`)).status).toBe(204)
  const { body } = await world.alice.request('GET', `/watches/${watchId}`)
  expect(body).toMatchObject({ escalateAfterMinutes: 15, escalateTo: [pager] })
})

describe('an unacknowledged alert', () => {
  test('is sent to the further recipients after its minutes, once, and says why', async () => {
    await world.record(watchId, { event: LOW })
    await minutes(14)
    expect(paged()).toEqual([])
    await Promise.all([minutes(1), world.remind(), world.remind()])
    await minutes(0)
    expect(paged()).toEqual([LOW])
    const delivery = world.receiver.deliveries.find(({ hook }) => hook === 'pager')
    expect(JSON.stringify(delivery?.json)).toContain('No one has acknowledged this alert.')
    // A message with several alerts takes the duration in its sentence from this field.
    const [kept] = await world.sql`
      select envelope -> 'unacknowledgedSeconds' as seconds from deliveries
      where recipient_id = ${pager}`
    expect(kept).toEqual({ seconds: 900 })
    await minutes(600)
    expect(paged()).toEqual([LOW])
  })

  test('lists on its page first its escalation, then who acknowledged it', async () => {
    await world.record(watchId, { event: LOW })
    await minutes(15)
    const { id } = await newest()
    const linesOf = async () => {
      const page = await pageOf(id)
      if (page === undefined) throw new Error('there is no page')
      const facts = { page, provider: undefined, now: world.clock.now() }
      return alertPageData(world.app, translator('en'), facts).states
    }
    world.clock.advance(60)
    await acknowledgeAlert(world.app, world.alice.caller, { id, by: 'Ann' })
    expect(await linesOf()).toMatchObject([
      expect.stringContaining('Escalated at'),
      expect.stringContaining('Ann'),
    ])
  })

  test('is not sent again to recipients that got it', async () => {
    await world.record(watchId, { event: LOW })
    await minutes(1)
    const texts = world.chatTexts().length
    const [own] = (await world.alice.request('GET', '/recipients')).body.data
    await escalate({ escalateTo: [pager, own.id] })
    await minutes(15)
    expect(paged()).toEqual([LOW])
    expect(world.chatTexts()).toHaveLength(texts)
  })

  test('says on its page, and by an edit of its message, to whom and when it was escalated; no further message is sent', async () => {
    await world.record(watchId, { event: LOW })
    await minutes(1)
    const before = world.chatTexts()
    expect(before).toHaveLength(1)
    expect(before[0]).not.toContain('escalated')
    await minutes(15)
    await world.deliver()
    expect(world.chatTexts()).toEqual([expect.stringMatching(/ · escalated to Pager, \d\d:\d\d/)])
    const { id } = await newest()
    const at = world.clock.now()
    expect(await pageOf(id)).toMatchObject({ escalated: { at, to: ['Pager'] } })
    await world.record(watchId, { event: LOW, severity: 'critical' })
    await minutes(1)
    await world.deliver()
    // The message that takes its place says so, too.
    expect(world.chatTexts()).toEqual([expect.stringContaining('escalated to Pager')])
  })

  test('shows in the timeline of its page when it was first sent to how many recipients', async () => {
    await world.record(watchId, { event: LOW, severity: 'critical' })
    await minutes(0)
    const first = world.clock.now()
    // One of them was off for five minutes.
    const late = new Date(first.getTime() + 300_000)
    const { id } = await newest()
    await world.sql`
      update delivery_log set delivered_at = ${late} where alert_id = ${id} and channel = 'webhook'`
    await minutes(15)
    await minutes(60)
    const page = await pageOf(id)
    if (page === undefined) throw new Error('there is no page')
    // Three first deliveries, one of the escalation, and reminders.
    expect(page.deliveries).toHaveLength(8)
    const facts = { page, provider: undefined, now: world.clock.now() }
    const { timeline } = alertPageData(world.app, translator('en'), facts)
    expect(timeline.filter(({ text }) => /sent to|escalated/.test(text))).toMatchObject([
      { at: first.toISOString(), text: 'sent to 2 recipients' },
      { at: late.toISOString(), text: 'sent to 1 recipient' },
      { text: expect.stringContaining('escalated to') },
    ])
  })

  test('is not repeated to a person in the second of its escalation, only with the next reminder', async () => {
    const address = 'second@example.org'
    const input = { name: 'Second', channel: 'email', address }
    const { id } = (await world.alice.request('POST', '/recipients', input)).body
    await confirmMailbox(world)
    await escalate({ escalateTo: [id] })
    world.forgetMessages()
    const subjects = () =>
      world.inbox.mails.flatMap(({ to, subject }) => (to === address ? [subject] : []))
    await world.record(watchId, { event: LOW, severity: 'critical' })
    await minutes(14)
    expect(subjects()).toEqual([])
    await minutes(1)
    expect(subjects()).toHaveLength(1)
    expect(world.chatTexts().filter((text) => text.includes('not resolved'))).toHaveLength(1)
    await minutes(44)
    expect(subjects()).toHaveLength(1)
    await minutes(1)
    expect(subjects()).toHaveLength(2)
    expect(subjects()[1]).toMatch(/^Re: /)
  })

  test('sends its recovery to the further recipients, too', async () => {
    await world.record(watchId, { event: LOW })
    await minutes(15)
    await world.record(watchId, { event: BACK })
    await minutes(0)
    expect(paged()).toEqual([LOW, BACK])
  })

  test('is escalated once if its severity increases, and the added recipients get later messages', async () => {
    await world.record(watchId, { event: LOW })
    await minutes(10)
    await world.record(watchId, { event: LOW, severity: 'critical' })
    await minutes(5)
    expect(paged()).toEqual([LOW])
    await minutes(60)
    expect(paged()).toEqual([LOW])
  })

  test('of severity info is not escalated; an alert without a recovery event is', async () => {
    await world.record(watchId, { event: 'wallet-balance.moved', severity: 'info' })
    await minutes(60)
    expect(paged()).toEqual([])
    await world.record(watchId, { event: 'wallet-balance.moved' })
    await minutes(15)
    expect(paged()).toEqual(['wallet-balance.moved'])
  })
})

describe('an alert is not escalated', () => {
  test('while it is acknowledged over REST; it is after the acknowledgement was removed', async () => {
    await world.record(watchId, { event: LOW })
    const { id } = await newest()
    const path = `/alerts/${id}/acknowledge`
    const { status, body } = await world.alice.request('POST', path)
    expect(status).toBe(200)
    expect(body).toEqual({
      id,
      acknowledgedAt: world.clock.now().toISOString(),
      acknowledgedBy: expect.any(String),
      note: null,
    })
    expect(await newest()).toMatchObject({ acknowledgedBy: body.acknowledgedBy })
    await minutes(60)
    expect(paged()).toEqual([])
    const removed = await world.alice.request('POST', path, { acknowledged: false })
    expect(removed.body).toEqual({ id, acknowledgedAt: null, acknowledgedBy: null, note: null })
    await minutes(14)
    expect(paged()).toEqual([])
    await minutes(1)
    expect(paged()).toEqual([LOW])
    // It is escalated once, whatever is done about it later.
    await world.alice.request('POST', path)
    await world.alice.request('POST', path, { acknowledged: false })
    await minutes(60)
    expect(paged()).toEqual([LOW])
  })

  test('once it has recovered, or its episode is muted', async () => {
    await world.record(watchId, { event: LOW })
    await world.record(watchId, { event: BACK })
    await minutes(60)
    expect(paged()).toEqual([])
    await world.record(watchId, { event: LOW })
    await muteIncident(world.app, world.alice.caller, { id: (await newest()).id, muted: true })
    await minutes(60)
    expect(paged()).toEqual([])
  })

  test('before the mute of its watch ends', async () => {
    await world.record(watchId, { event: LOW })
    const until = new Date(world.clock.now().getTime() + 3_600_000).toISOString()
    await escalate({ mutedUntil: until })
    await minutes(30)
    expect(paged()).toEqual([])
    await minutes(31)
    await minutes(1)
    expect(paged()).toEqual([LOW])
  })

  test('before the set minutes have passed since another alert stopped inhibiting it', async () => {
    const provider = '0x12ab4f00000000000000000000000000000fcd34'
    const status = await world.watch('Status')
    await world.record(status, {
      event: 'provider.unregistered',
      severity: 'critical',
      data: { provider },
    })
    await world.record(watchId, { event: 'fsp.ftso-commit', data: { provider } })
    await minutes(58)
    await world.record(status, { event: 'provider.recovered', data: { provider } })
    await minutes(14)
    expect(paged()).toEqual([])
    await minutes(1)
    expect(paged()).toEqual(['fsp.ftso-commit'])
  })

  test('while its episode is muted; it is after the mute ended', async () => {
    await world.record(watchId, { event: LOW })
    const { id } = await newest()
    await muteIncident(world.app, world.alice.caller, { id, muted: true })
    await minutes(60)
    const unmute = () => muteIncident(world.app, world.alice.caller, { id, muted: false })
    await unmute()
    await minutes(14)
    expect(paged()).toEqual([])
    // Unmuting a second time does not postpone the escalation.
    await unmute()
    await minutes(1)
    expect(paged()).toEqual([LOW])
  })

  test('if escalation was switched off in the meantime', async () => {
    await world.record(watchId, { event: LOW })
    await escalate({ escalateAfterMinutes: null })
    await minutes(60)
    expect(paged()).toEqual([])
  })
})

test('an alert is escalated within five minutes after its watch was unmuted early', async () => {
  await world.record(watchId, { event: LOW })
  const until = new Date(world.clock.now().getTime() + 8 * 3_600_000).toISOString()
  await escalate({ mutedUntil: until })
  await minutes(30)
  await escalate({ mutedUntil: null })
  await minutes(5)
  expect(paged()).toEqual([LOW])
})

test('settings with an unknown recipient, or with minutes out of range, are refused', async () => {
  for (const [changes, pointer] of [
    [{ escalateTo: [999_999] }, '/escalateTo/0'],
    [{ escalateTo: [pager, 999_999] }, '/escalateTo/1'],
    [{ escalateAfterMinutes: 4 }, '/escalateAfterMinutes'],
    [{ escalateAfterMinutes: 1441 }, '/escalateAfterMinutes'],
  ] as const) {
    const { status, body } = await world.alice.request('PATCH', `/watches/${watchId}`, changes)
    expect([status, body.errors[0].pointer]).toEqual([400, pointer])
  }
})
