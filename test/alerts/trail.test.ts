import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from '#src/log.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** The log of an alert, found by its id alone, from the evaluation to the receipt. */

type Line = Readonly<Record<string, unknown>> & { readonly msg: string }

const FLR = 10n ** 18n
const LOW = 'credits.low-balance'
const BACK = 'credits.recovered'

const lines: Line[] = []
let world: AlertWorld

beforeAll(async () => {
  world = await alertWorld(createLogger('info', { write: (line) => lines.push(JSON.parse(line)) }))
})
afterAll(() => world.close())

const newest = async (): Promise<number> => {
  const [row] = await world.sql`select max(id) as id from alerts`
  return row?.['id']
}
const linesOf = (alertId: number) => lines.filter((line) => line['alertId'] === alertId)
const messagesOf = (alertId: number) => linesOf(alertId).map(({ msg }) => msg)
async function minutes(count: number): Promise<void> {
  world.clock.advance(count * 60)
  await world.remind()
  await world.deliver()
}

test('the log of an alert has its block, its deliveries, and each attempt with its result', async () => {
  const { bob, carol } = world.devnet.people
  await world.alice.request('POST', '/watches', {
    type: 'wallet-balance',
    label: 'Treasury',
    target: { address: bob.account.address, asset: 'FLR' },
    settings: { threshold: '100' },
  })
  await world.observe()
  await world.devnet.transfer(carol.account.address, bob.account.address, 500n * FLR)
  await world.observe()
  world.receiver.answerNext(500)
  await world.deliver()
  world.clock.advance(60)
  await world.deliver()
  const id = await newest()
  const [recorded, notified, ...attempts] = linesOf(id)
  const [row] = await world.sql`select position, watch_id from alerts where id = ${id}`
  expect(recorded).toMatchObject({
    msg: 'alert recorded',
    watchId: row?.['watch_id'],
    type: 'wallet-balance',
    position: Number(row?.['position']),
  })
  const stored = await world.sql`
    select id, recipient_id, channel from deliveries where alert_id = ${id} order by channel`
  expect(notified).toMatchObject({ msg: 'alert notified', kind: 'alert' })
  const planned = notified?.['deliveries'] as { deliveryId: string; channel: string }[]
  expect(planned.toSorted((a, b) => (a.channel < b.channel ? -1 : 1))).toEqual(
    stored.map(({ id: deliveryId, recipient_id: recipientId, channel }) => ({
      ...{ deliveryId, recipientId, channel, status: 'pending' },
    })),
  )
  const ofChannel = (channel: string) => attempts.filter((line) => line['channel'] === channel)
  const attempted = { msg: 'delivery attempted', level: 'info' }
  for (const channel of ['telegram', 'email']) {
    expect(ofChannel(channel)).toMatchObject([{ ...attempted, outcome: 'delivered', attempt: 1 }])
  }
  expect(ofChannel('webhook')).toMatchObject([
    { ...attempted, outcome: 'failed', statusCode: 500, isPermanent: false, attempt: 1 },
    { ...attempted, outcome: 'delivered', statusCode: 200, attempt: 2 },
  ])
})

test('the log of an episode has its reminder, acknowledgement, changed message, escalation and recovery', async () => {
  const input = { name: 'Pager', channel: 'webhook', url: world.receiver.url('pager') }
  const pager = (await world.alice.request('POST', '/recipients', input)).body.id
  const watchId = await world.watch('Credits')
  const escalation = { escalateAfterMinutes: 90, escalateTo: [pager] }
  await world.alice.request('PATCH', `/watches/${watchId}`, escalation)
  await world.record(watchId, { event: LOW, severity: 'critical' })
  const id = await newest()
  await world.deliver()
  await minutes(61)
  await minutes(30)
  const acknowledge = (acknowledged: boolean) =>
    world.alice.request('POST', `/alerts/${id}/acknowledge`, { acknowledged })
  await acknowledge(true)
  await acknowledge(false)
  await world.deliver()
  await world.record(watchId, { event: BACK })
  await world.deliver()
  const own = linesOf(id)
  const notified = own.filter(({ msg }) => msg === 'alert notified')
  expect(notified).toMatchObject([
    { kind: 'alert', isEscalation: false },
    { kind: 'reminder', isEscalation: false },
    { kind: 'alert', isEscalation: true, deliveries: [{ recipientId: pager }] },
  ])
  const messages = messagesOf(id)
  for (const msg of ['alert acknowledged', 'acknowledgement removed', 'episode ended']) {
    expect(messages.filter((message) => message === msg)).toEqual([msg])
  }
  expect(messages).toContain('message changed')
  const recovery = await newest()
  expect(linesOf(recovery)[0]).toMatchObject({ msg: 'alert recorded', isRecovery: true })
  expect(messagesOf(recovery)).toContain('delivery attempted')
})

test('every log line about a delivery of an alert has the id of the alert', async () => {
  const stored = await world.sql`select id, alert_id from deliveries where alert_id is not null`
  const alertOf = new Map(stored.map(({ id, alert_id }) => [id, alert_id]))
  const about = lines.filter(({ deliveryId }) => alertOf.has(deliveryId))
  expect(about.length).toBeGreaterThan(10)
  for (const line of about) expect(line['alertId']).toBe(alertOf.get(line['deliveryId']))
})
