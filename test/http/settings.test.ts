import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { credit, debit } from '#src/billing/account/service.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { judgeLedgers } from '#src/jobs/judge-ledgers.ts'
import type { Alert, AlertList, Settings } from '../generated/api.ts'
import { confirmMailbox } from '../support/destinations.ts'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

let world: World
let alice: Client
let at = 0

beforeAll(async () => {
  world = await harness()
  alice = await withTrial(await signIn(world, 'alice'))
  await alice.request('PUT', '/channels/email', { address: 'ops@example.org' })
  await confirmMailbox(world)
  await alice.request('PUT', '/channels/webhook', { url: world.receiver.url() })
  await change(1000)
  const type = 'credits-balance'
  await alice.request('POST', '/watches', { type, target: {}, settings: { limit: 500 } })
})
afterAll(() => world.close())

/** Adds or takes credits, and judges the watch of the wallet's credits. */
async function change(credits: number): Promise<void> {
  at += 1
  const entry = {
    wallet: alice.caller.wallet,
    type: 'adjustment',
    amountCredits: Math.abs(credits),
    reference: `test:${at}`,
    at: world.clock.now(),
  } as const
  await world.app.db.transaction(async (tx) => {
    await (credits > 0 ? credit : debit)(tx, entry)
  })
  await judgeLedgers.run(world.app, new AbortController().signal, CHECK_EVERYTHING)
  // Seldom enough that no cooldown is imposed.
  world.clock.advance(400)
}

async function changeSettings(over: Partial<Settings>) {
  const { body } = await alice.request<Settings>('GET', '/settings')
  const { version: _version, ...rest } = body
  return alice.request('PUT', '/settings', { ...rest, ...over })
}

/** The newest alert, and the channels of its deliveries, sorted. */
async function newest(): Promise<{ alert: Alert; channels: string[] }> {
  const { body } = await alice.request<AlertList>('GET', '/alerts?limit=1')
  const [alert] = body.data
  if (alert === undefined) throw new Error('there is no alert')
  return { alert, channels: alert.deliveries.map(({ channel }) => channel).toSorted() }
}

/** Channel and status of each delivery of the newest alert. */
async function statuses(): Promise<string[]> {
  const { alert } = await newest()
  return alert.deliveries.map(({ channel, status }) => `${channel} ${status}`).toSorted()
}

describe('settings of a wallet', () => {
  test('quiet hours defer alerts to mailboxes, not to webhooks', async () => {
    const quietHours = { enabled: true, from: '11:00', to: '13:00', criticalBypass: true }
    expect(await changeSettings({ quietHours })).toMatchObject({
      status: 200,
      body: { quietHours },
    })
    await change(-900)
    expect(await statuses()).toEqual(['email held', 'webhook pending'])
    await change(900)
    await changeSettings({ quietHours: { ...quietHours, enabled: false } })
  })

  test('a daily digest defers alerts to mailboxes, not to webhooks', async () => {
    expect(await changeSettings({ digest: 'daily' })).toMatchObject({ body: { digest: 'daily' } })
    await change(-900)
    expect(await statuses()).toEqual(['email held', 'webhook pending'])
    await change(900)
    await changeSettings({ digest: 'off' })
  })

  test('alerts below the lowest severity are sent to webhooks, not to mailboxes', async () => {
    await changeSettings({ minSeverity: 'critical' })
    await change(-900)
    const { alert, channels } = await newest()
    expect(alert.event).toBe('credits.low-balance')
    expect(channels).toEqual(['webhook'])
    await change(900)
    expect((await newest()).channels).toEqual(['webhook'])
  })

  test('a recovery goes to every recipient of its alert, although its own severity is info', async () => {
    await changeSettings({ minSeverity: 'warning' })
    await change(-900)
    expect((await newest()).channels).toEqual(['email', 'webhook'])
    await change(900)
    const { alert, channels } = await newest()
    expect(alert).toMatchObject({ event: 'credits.recovered', severity: 'info' })
    expect(channels).toEqual(['email', 'webhook'])
  })

  test('with recoveries off, recoveries are sent to webhooks, not to mailboxes', async () => {
    await changeSettings({ recoveries: false })
    await change(-900)
    await change(900)
    const { alert, channels } = await newest()
    expect(alert.event).toBe('credits.recovered')
    expect(channels).toEqual(['webhook'])
  })
})
