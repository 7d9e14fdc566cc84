import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChatHooks, startChatHooks } from '#sandbox/chat-hooks.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** An alert in PagerDuty follows every change of the one here, by any person or by the service. */

const LOW = 'credits.low-balance'
const BACK = 'credits.recovered'

let world: AlertWorld
let hooks: ChatHooks

beforeAll(async () => {
  ;[world, hooks] = await Promise.all([alertWorld(), startChatHooks()])
  const url = hooks.pagerDutyUrl()
  const { status } = await world.alice.request('PUT', '/channels/pagerduty', { url })
  expect(status).toBe(200)
})
afterAll(async () => {
  await hooks.close()
  await world.close()
})

const actions = () => hooks.messages.map(({ action }) => action)
const newest = async () => (await world.alerts('?limit=1'))[0]?.id
async function deliverLater(): Promise<void> {
  world.clock.advance(60)
  await world.deliver()
}

test('an alert acknowledged in the service is acknowledged in PagerDuty, and its recovery resolves it there', async () => {
  const watch = await world.watch('Credits')
  await world.record(watch, { event: LOW })
  await deliverLater()
  expect(actions()).toEqual(['trigger'])
  const answer = await world.alice.request('POST', `/alerts/${await newest()}/acknowledge`)
  expect(answer.status).toBe(200)
  await deliverLater()
  expect(actions()).toEqual(['acknowledge'])
  await world.record(watch, { event: BACK })
  await deliverLater()
  expect(actions()).toEqual(['resolve'])
  expect(hooks.refused).toEqual([])
})

test('two episodes of one watch are two incidents, and an event that PagerDuty refused is sent again', async () => {
  hooks.clear()
  const watch = await world.watch('Credits of two')
  hooks.failNext({ status: 500 })
  await world.record(watch, { event: LOW })
  await world.deliver()
  expect(actions()).toEqual([])
  await deliverLater()
  expect(actions()).toEqual(['trigger'])
  await world.record(watch, { event: BACK })
  await deliverLater()
  await world.record(watch, { event: LOW })
  await deliverLater()
  expect(actions()).toEqual(['resolve', 'trigger'])
})

const DUTIES = ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote', 'fdc-signature']
const SILENCE = DUTIES.map((duty) => ({
  event: `fsp.${duty}`,
  severity: 'critical' as const,
  data: { reason: 'missing' },
}))
const ENDS = DUTIES.map((duty) => ({ event: `fsp.${duty}.recovered` }))

test('an outage of all duties is one incident, acknowledged and resolved as one', async () => {
  hooks.clear()
  const watch = await world.watch('Silent')
  await world.record(watch, ...SILENCE)
  await deliverLater()
  expect(actions()).toEqual(['trigger'])
  expect(hooks.messages[0]?.shown).toContain('has sent no votes')
  const [open] = await world.alerts('?limit=5')
  await world.alice.request('POST', `/alerts/${open?.id}/acknowledge`)
  await deliverLater()
  expect(actions()).toEqual(['acknowledge'])
  await world.record(watch, ...ENDS.slice(0, 3))
  await deliverLater()
  expect(actions()).toEqual(['acknowledge'])
  await world.record(watch, ...ENDS.slice(3))
  await deliverLater()
  expect(actions()).toEqual(['resolve'])
  await world.record(watch, ...SILENCE)
  await deliverLater()
  expect(actions()).toEqual(['resolve', 'trigger'])
  expect(hooks.refused).toEqual([])
})

test('an outage is resolved when all its alerts recover, although PagerDuty refused the acknowledgement', async () => {
  hooks.clear()
  const watch = await world.watch('Refused')
  await world.record(watch, ...SILENCE)
  await deliverLater()
  for (const { id } of await world.alerts('?limit=5')) {
    await world.alice.request('POST', `/alerts/${id}/acknowledge`)
  }
  hooks.failNext({ status: 404 })
  await deliverLater()
  await world.record(watch, ...ENDS.slice(0, 4))
  await deliverLater()
  expect(actions()).not.toContain('resolve')
  await world.record(watch, ...ENDS.slice(4))
  await deliverLater()
  expect(actions()).toEqual(['resolve'])
  expect(hooks.refused).toEqual([])
})

test('an incident is acknowledged when all its open alerts are', async () => {
  hooks.clear()
  const watch = await world.watch('One is over')
  await world.record(watch, ...SILENCE)
  await deliverLater()
  await world.record(watch, ...ENDS.slice(0, 1))
  await deliverLater()
  const open = (await world.alerts('?limit=20&state=firing')).filter(
    ({ watchId, recoveredAt }) => watchId === watch && recoveredAt === null,
  )
  expect(open).toHaveLength(4)
  for (const { id } of open) await world.alice.request('POST', `/alerts/${id}/acknowledge`)
  await deliverLater()
  expect(actions()).toEqual(['acknowledge'])
  await world.record(watch, ...ENDS.slice(1))
  await deliverLater()
  expect(actions()).toEqual(['resolve'])
  // Leaves its slot to the next test.
  await world.alice.request('DELETE', `/watches/${watch}`)
})

test('a critical alert a moment after a warning is of the same incident, which notifies again', async () => {
  hooks.clear()
  const watch = await world.watch('From bad to worse')
  await world.record(watch, { event: 'fsp.ftso-commit', severity: 'warning' })
  await world.deliver()
  world.clock.advance(2)
  await world.record(watch, { event: 'fsp.ftso-reveal', severity: 'critical' })
  await world.deliver()
  await deliverLater()
  expect(actions()).toEqual(['resolve', 'trigger'])
  expect(incidentsIn()).toHaveLength(1)
  const ends = ['fsp.ftso-commit.recovered', 'fsp.ftso-reveal.recovered']
  await world.record(watch, ...ends.map((event) => ({ event })))
  await deliverLater()
  expect(actions()).toEqual(['resolve', 'resolve'])
})

test('an alert that joins an acknowledged incident notifies again', async () => {
  hooks.clear()
  const watch = await world.watch('Taken')
  await world.record(watch, { event: 'fsp.ftso-commit' })
  await deliverLater()
  await world.alice.request('POST', `/alerts/${await newest()}/acknowledge`)
  await deliverLater()
  expect(actions()).toEqual(['acknowledge'])
  await world.record(watch, { event: 'fsp.fdc-bitvote' })
  await deliverLater()
  expect(incidentsIn()).toHaveLength(1)
  expect(actions()).toEqual(['resolve', 'trigger'])
  await world.alice.request('DELETE', `/watches/${watch}`)
})

const COMMIT = 'fsp.ftso-commit'
const FDC = ['fsp.fdc-bitvote', 'fsp.fdc-signature']

/** The numbers of the incidents in the keys. */
const incidentsIn = () => [
  ...new Set(hooks.messages.map(({ id }) => /\/incidents\/(\d+)(?:\/\d+)?$/.exec(id)?.[1])),
]
const openIncidents = () => hooks.messages.filter(({ action }) => action !== 'resolve')

test('an alert whose severity rises keeps the number in its key, notifies again, and is one open incident until its end', async () => {
  hooks.clear()
  const watch = await world.watch('Rising')
  await world.record(watch, { event: COMMIT, severity: 'warning' })
  await deliverLater()
  await world.record(watch, { event: COMMIT, severity: 'critical' })
  await deliverLater()
  expect(incidentsIn()).toHaveLength(1)
  expect(actions()).toEqual(['resolve', 'trigger'])
  expect(hooks.messages[1]?.body).toMatchObject({ payload: { severity: 'critical' } })
  await world.alice.request('POST', `/alerts/${await newest()}/acknowledge`)
  await deliverLater()
  expect(actions()).toEqual(['resolve', 'acknowledge'])
  await world.record(watch, { event: `${COMMIT}.recovered` })
  await deliverLater()
  expect(openIncidents()).toEqual([])
  expect(hooks.messages).toHaveLength(2)
  expect(hooks.refused).toEqual([])
  await world.alice.request('DELETE', `/watches/${watch}`)
})

test.each([
  { name: 'all', raised: FDC },
  { name: 'one', raised: FDC.slice(0, 1) },
])('an outage of which $name of the alerts rise is one open incident until all are over', async ({
  raised,
}) => {
  hooks.clear()
  const watch = await world.watch('Rising votes')
  const fire = (events: readonly string[], severity: 'warning' | 'critical') =>
    world.record(watch, ...events.map((event) => ({ event, severity })))
  await fire(FDC, 'warning')
  await deliverLater()
  await fire(raised, 'critical')
  await deliverLater()
  expect(incidentsIn()).toHaveLength(1)
  expect(openIncidents()).toHaveLength(1)
  await world.record(watch, { event: `${FDC[0]}.recovered` })
  await deliverLater()
  expect(openIncidents()).toHaveLength(1)
  await world.record(watch, { event: `${FDC[1]}.recovered` })
  await deliverLater()
  expect(openIncidents()).toEqual([])
  expect(actions()).toEqual(['resolve', 'resolve'])
  await world.alice.request('DELETE', `/watches/${watch}`)
})

test('a raised alert is resolved when its watch is deleted', async () => {
  hooks.clear()
  const watch = await world.watch('Rising and gone')
  await world.record(watch, { event: COMMIT, severity: 'warning' })
  await deliverLater()
  await world.record(watch, { event: COMMIT, severity: 'critical' })
  await deliverLater()
  await world.alice.request('DELETE', `/watches/${watch}`)
  await deliverLater()
  expect(openIncidents()).toEqual([])
})

test('alerts that an outage inhibits open no incidents', async () => {
  hooks.clear()
  const watch = await world.watch('Not in the policy')
  const provider = { provider: '0x12ab4f00000000000000000000000000000fcd34' }
  await world.record(watch, { event: 'fsp.not-in-policy', data: provider })
  await deliverLater()
  await world.record(
    watch,
    ...SILENCE.map((alert) => ({ ...alert, data: { ...alert.data, ...provider } })),
  )
  await deliverLater()
  expect(actions()).toEqual(['trigger'])
  expect(hooks.messages[0]?.edits).toBe(0)
})

test('outages of two watches are two incidents, also if both end at once', async () => {
  hooks.clear()
  const watches = [await world.watch('First'), await world.watch('Second')]
  for (const watch of watches) await world.record(watch, { event: LOW })
  await deliverLater()
  expect(actions()).toEqual(['trigger', 'trigger'])
  for (const watch of watches) await world.record(watch, { event: BACK })
  await deliverLater()
  expect(actions()).toEqual(['resolve', 'resolve'])
})

test('an acknowledgement that PagerDuty refuses for now reaches it later', async () => {
  hooks.clear()
  const watch = await world.watch('Credits of three')
  await world.record(watch, { event: LOW })
  await deliverLater()
  await world.alice.request('POST', `/alerts/${await newest()}/acknowledge`)
  hooks.failNext({ status: 503 })
  await world.deliver()
  expect(actions()).toEqual(['trigger'])
  await deliverLater()
  expect(actions()).toEqual(['acknowledge'])
})

test('deleting a watch resolves its alert in PagerDuty', async () => {
  hooks.clear()
  const watch = await world.watch('Credits of four')
  await world.record(watch, { event: LOW })
  await deliverLater()
  await world.alice.request('DELETE', `/watches/${watch}`)
  await deliverLater()
  expect(actions()).toEqual(['resolve'])
})

test('an outage whose severity rises is one message, one PagerDuty incident, one incident of the API, and one recovery', async () => {
  hooks.clear()
  const watch = await world.watch('All in one')
  world.forgetMessages()
  await world.record(watch, { event: COMMIT })
  await deliverLater()
  world.clock.advance(90)
  await world.record(watch, { event: FDC[0] ?? '' })
  await deliverLater()
  world.clock.advance(90)
  await world.record(watch, { event: COMMIT, severity: 'critical' })
  await deliverLater()
  await deliverLater()
  const [message, ...others] = world.chatTexts()
  expect(others).toEqual([])
  expect(message).toMatch(/^🔴 /)
  expect(message).toContain('FDC bit vote')
  expect(incidentsIn()).toHaveLength(1)
  expect(openIncidents()).toHaveLength(1)
  const incidents = await world.alerts(`?group=incident&watchId=${watch}`)
  expect(incidents).toMatchObject([{ incident: { severity: 'critical', state: 'firing' } }])
  world.clock.advance(90)
  await world.record(watch, { event: `${COMMIT}.recovered` })
  await deliverLater()
  expect(world.chatTexts()).toHaveLength(1)
  expect(openIncidents()).toHaveLength(1)
  await world.record(watch, { event: `${FDC[0]}.recovered` })
  await deliverLater()
  await deliverLater()
  expect(world.chatTexts().map((text) => text.slice(0, 2))).toEqual(['🟢', '🟢'])
  expect(openIncidents()).toEqual([])
  expect(await world.alerts(`?group=incident&watchId=${watch}`)).toMatchObject([
    { incident: { state: 'recovered' } },
  ])
  await world.alice.request('DELETE', `/watches/${watch}`)
})

test('a recovery resolves nothing while another alert of the incident fires, also when the message is lost', async () => {
  hooks.clear()
  const watch = await world.watch('Lost')
  await world.record(watch, { event: COMMIT }, { event: FDC[0] ?? '' })
  await deliverLater()
  await world.database.sql`update sent_messages set message_id = null where channel = 'pagerduty'`
  await world.record(watch, { event: `${COMMIT}.recovered` })
  await deliverLater()
  expect(actions()).toEqual(['trigger'])
  await world.record(watch, { event: `${FDC[0]}.recovered` })
  await deliverLater()
  expect(actions()).toEqual(['resolve'])
  await world.alice.request('DELETE', `/watches/${watch}`)
})

test('a raised severity that PagerDuty refuses leaves its incident open until it is accepted', async () => {
  hooks.clear()
  const watch = await world.watch('Refused rise')
  await world.record(watch, { event: COMMIT, severity: 'warning' })
  await deliverLater()
  hooks.failNext({ status: 500 })
  await world.record(watch, { event: COMMIT, severity: 'critical' })
  await world.deliver()
  expect(openIncidents()).toMatchObject([{ body: { payload: { severity: 'warning' } } }])
  await deliverLater()
  expect(openIncidents()).toMatchObject([{ body: { payload: { severity: 'critical' } } }])
  await world.alice.request('DELETE', `/watches/${watch}`)
})

/** A watch that only a further PagerDuty service hears of, and a function that changes this recipient. */
async function watchOfPager(name: string) {
  const url = hooks.pagerDutyUrl()
  const input = { name, channel: 'pagerduty', url, default: false }
  const recipient = await world.alice.request('POST', '/recipients', input)
  expect(recipient.status).toBe(201)
  const watch = await world.watch(name)
  const change = { recipientIds: [recipient.body.id] }
  expect((await world.alice.request('PATCH', `/watches/${watch}`, change)).status).toBe(200)
  return {
    watch,
    async set(properties: object): Promise<void> {
      const path = `/recipients/${recipient.body.id}`
      expect((await world.alice.request('PATCH', path, properties)).status).toBe(200)
    },
  }
}

test('deleting a watch resolves an incident whose last open alert was below the lowest severity', async () => {
  const { watch, set } = await watchOfPager('Deleted with a quiet alert')
  await set({ minSeverity: 'critical' })
  await deliverLater()
  hooks.clear()
  await world.record(watch, { event: COMMIT, severity: 'critical' })
  await deliverLater()
  await world.record(watch, { event: FDC[0] ?? '', severity: 'warning' })
  await world.record(watch, { event: `${COMMIT}.recovered` })
  await deliverLater()
  expect(openIncidents()).toHaveLength(1)
  await world.alice.request('DELETE', `/watches/${watch}`)
  await deliverLater()
  expect(openIncidents()).toEqual([])
})

test('an incident that ends while PagerDuty is paused is resolved there when it is on again', async () => {
  const { watch, set } = await watchOfPager('Paused')
  await deliverLater()
  hooks.clear()
  await world.record(watch, { event: COMMIT })
  await deliverLater()
  await set({ status: 'disabled' })
  await world.record(watch, { event: `${COMMIT}.recovered` })
  await deliverLater()
  expect(openIncidents()).toHaveLength(1)
  await set({ status: 'active' })
  world.clock.advance(3600)
  await world.deliver()
  expect(openIncidents()).toEqual([])
  await world.alice.request('DELETE', `/watches/${watch}`)
})
