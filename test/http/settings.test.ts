import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { credit, debit } from '#src/billing/account/service.ts'
import { FULL_SCAN } from '#src/jobs/define.ts'
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
  await judgeLedgers.run(world.app, new AbortController().signal, FULL_SCAN)
  world.clock.advance(1)
}

async function settings(over: Partial<Settings>) {
  const { body } = await alice.request<Settings>('GET', '/settings')
  const { version: _version, ...rest } = body
  return alice.request('PUT', '/settings', { ...rest, ...over })
}

/** The channels that the newest alert is for. */
async function newest(): Promise<{ alert: Alert; channels: string[] }> {
  const { body } = await alice.request<AlertList>('GET', '/alerts?limit=1')
  const [alert] = body.data
  if (alert === undefined) throw new Error('there is no alert')
  return { alert, channels: alert.deliveries.map(({ channel }) => channel).toSorted() }
}

/** Status of the newest alert's delivery by channel. */
async function statuses(): Promise<string[]> {
  const { alert } = await newest()
  return alert.deliveries.map(({ channel, status }) => `${channel} ${status}`).toSorted()
}

describe('the settings', () => {
  test('hold messages for mailboxes in quiet hours, never for programs', async () => {
    const quietHours = { enabled: true, from: '11:00', to: '13:00', criticalBypass: true }
    expect(await settings({ quietHours })).toMatchObject({ status: 200, body: { quietHours } })
    await change(-900)
    expect(await statuses()).toEqual(['email held', 'webhook pending'])
    await change(900)
    await settings({ quietHours: { ...quietHours, enabled: false } })
  })

  test('hold them for the digest', async () => {
    expect(await settings({ digest: 'daily' })).toMatchObject({ body: { digest: 'daily' } })
    await change(-900)
    expect(await statuses()).toEqual(['email held', 'webhook pending'])
    await change(900)
    await settings({ digest: 'off' })
  })

  test('keep what is below the lowest severity from mailboxes, never from programs', async () => {
    await settings({ minSeverity: 'critical' })
    await change(-900)
    const { alert, channels } = await newest()
    expect(alert.event).toBe('credits.low-balance')
    expect(channels).toEqual(['webhook'])
    await change(900)
    expect((await newest()).channels).toEqual(['webhook'])
  })

  test('send a recovery to each recipient of its alert, although it is only info', async () => {
    await settings({ minSeverity: 'warning' })
    await change(-900)
    expect((await newest()).channels).toEqual(['email', 'webhook'])
    await change(900)
    const { alert, channels } = await newest()
    expect(alert).toMatchObject({ event: 'credits.recovered', severity: 'info' })
    expect(channels).toEqual(['email', 'webhook'])
  })

  test('keep recoveries from mailboxes when they are not wanted', async () => {
    await settings({ recoveries: false })
    await change(-900)
    await change(900)
    const { alert, channels } = await newest()
    expect(alert.event).toBe('credits.recovered')
    expect(channels).toEqual(['webhook'])
  })
})
