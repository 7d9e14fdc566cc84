import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as alerts from '#src/alerts/service.ts'
import { type JudgeLedgersDeps, judgeLedgers } from '#src/watches/evaluate/judge-ledgers.ts'
import { giveCredits } from '../support/credits.ts'
import { roundWorld } from './rounds.ts'
import type { Notified } from './world.ts'

/** Backtests beside watches that were running while the same things happened, on a real chain. */

const CASES = [
  ['Mute', 'no-commit'],
  ['Shy', 'no-reveal'],
  ['Liar', 'reveal-mismatch'],
  ['Poor', 'low-balance'],
] as const

let world: Awaited<ReturnType<typeof roundWorld>>
let credits: { readonly id: number }
let limit: number
let feed: { readonly id: number }

const XRP = { type: 'feed-move', target: { feed: 'XRP/USD' } }
const FEED = { ...XRP, settings: { percent: 5, windowSeconds: 120 } }
const CREDITS = { type: 'credits-balance', target: {} }

/** What is read of an alert in a list. */
interface Listed {
  readonly event: string
  readonly incidentId: number
}

/** The parts of an alert that backtest and watch have in common. */
function notified({ event, severity, firedAt }: Notified) {
  return { event, severity, at: firedAt }
}

async function backtest(body: object, query = '') {
  return world.alice.request('POST', `/watches/backtest${query}`, body)
}

async function replayed(body: object) {
  return inOrder((await backtest(body)).body)
}

function inOrder({ alerts: found }: { readonly alerts: readonly Record<string, unknown>[] }) {
  return found
    .map(({ event, severity, at }: Record<string, unknown>) => ({ event, severity, at }))
    .toReversed()
}

function watchOf(name: string, signals?: readonly object[]) {
  const provider = world.simulation().provider(name).accounts.identity.address
  return { type: 'provider-fsp', target: { provider }, ...(signals && { signals }) }
}

async function judgeCredits(): Promise<void> {
  const { app } = world
  const recordAlerts: JudgeLedgersDeps['recordAlerts'] = (tx, candidates) =>
    alerts.recordAlerts(app, tx, candidates)
  await judgeLedgers({ ...app, recordAlerts }, undefined, new AbortController().signal)
}

beforeAll(async () => {
  world = await roundWorld(
    CASES.map(([name]) => name),
    { unwatched: ['Alone'] },
  )
  feed = (await world.alice.request('POST', '/watches', FEED)).body
  const { body: account } = await world.alice.request('GET', '/account')
  limit = account.balanceCredits + 1
  const lowCredits = { ...CREDITS, settings: { limit } }
  credits = (await world.alice.request('POST', '/watches', lowCredits)).body
  for (const value of [250_000, 265_000, 250_000, 290_000, 240_000]) {
    await world.devnet.contracts.setFeed('XRP/USD', BigInt(value), 5)
    await world.pass(45)
  }
  // As many as it takes until one is complete, wherever in a round the time of the chain is by now.
  await world.simulation().playRounds(4)
  await world.scan()
  // The watches begin with the newest round, and so must the backtests.
  await world.sql`delete from fsp_rounds where round < (select max(round) from fsp_rounds)`
  for (const [name, behaviour] of CASES) await world.behave(name, behaviour)
  await world.behave('Alone', 'no-commit')
  await world.simulation().playRounds(6)
  await world.scan()
  await judgeCredits()
  await giveCredits(world.app, world.alice.caller.wallet, 100_000)
  await judgeCredits()
  // A backtest ends at the service's time, and the last round may be complete in one of the last blocks.
  await world.follow()
}, 120_000)
afterAll(() => world.close())

describe('a backtest', () => {
  test('returns the alerts and incidents of a watch of the provider in that time', async () => {
    for (const [name] of CASES) {
      const { body: watch } = await world.alice.request('GET', `/watches/${world.watchOf(name)}`)
      // An outage of reading is no alert of the past.
      const live = (await world.alerts(name))
        .map(notified)
        .filter(({ event }) => !event.startsWith('fsp.monitoring'))
      expect(live.length, name).toBeGreaterThan(0)
      const { body: found } = await backtest(watchOf(name, watch.signals))
      expect(inOrder(found), name).toEqual(live)
      const { body: all } = await world.alice.request(
        'GET',
        `/alerts?limit=250&watchId=${world.watchOf(name)}`,
      )
      const known = all.data.filter(({ event }: Listed) => !event.startsWith('fsp.monitoring'))
      const incidents = Map.groupBy(known.toReversed() as Listed[], (each) => each.incidentId)
      const events = (parts: readonly Listed[]) => parts.map(({ event }) => event).toSorted()
      const parts = found.incidents.map((each: { parts: readonly Listed[] }) => events(each.parts))
      expect(parts.toReversed(), name).toEqual([...incidents.values()].map(events))
      const { critical, warning, info } = found.incidentCounts
      expect(critical + warning + info, name).toBe(incidents.size)
    }
  })

  test('returns the alerts that a watch of the feed fired', async () => {
    const live = (await world.notified(feed.id)).map(notified)
    expect(live.length).toBeGreaterThan(0)
    expect(await replayed(FEED)).toEqual(live)
  })

  test('reports that a provider had no watches, and judges its votes', async () => {
    const { status, body } = await backtest(watchOf('Alone'))
    expect(status).toBe(200)
    expect(body.counts.warning).toBeGreaterThan(0)
    expect(body.complete).toBe(false)
    expect(body.gaps.map(({ code }: { code: string }) => code)).toEqual([
      'starts_later',
      'unwatched_parts',
    ])
  })

  test('replays the ledger from the balance of a week ago', async () => {
    const body = { ...CREDITS, settings: { limit } }
    const { body: found } = await backtest(body)
    expect(found).toMatchObject({ complete: true, gaps: [] })
    const live = (await world.notified(credits.id)).map(notified)
    expect(live.map(({ event }) => event)).toEqual(['credits.low-balance', 'credits.recovered'])
    expect((await replayed(body)).at(-1)).toEqual(live.at(-1))
  })

  test('refuses the same input as a new watch, with the same errors', async () => {
    for (const body of [
      { ...FEED, settings: { percent: -1, windowSeconds: 120 } },
      { ...FEED, target: { feed: 'NOT/THERE' } },
      { ...FEED, signals: [{ id: 'unheard-of' }] },
      { ...FEED, recipientIds: [999_999] },
      { ...XRP, settings: { percent: 100, windowSeconds: 60, direction: 'down' } },
    ]) {
      const created = await world.alice.request('POST', '/watches', body)
      const tried = await backtest(body)
      expect(tried.status).toBe(created.status)
      expect(tried.body.errors).toEqual(created.body.errors)
    }
  })

  test('creates nothing and charges nothing', async () => {
    const before = await world.alice.request('GET', '/account')
    const watches = await world.alice.request('GET', '/watches')
    await backtest(FEED)
    expect((await world.alice.request('GET', '/account')).body).toEqual(before.body)
    expect((await world.alice.request('GET', '/watches')).body).toEqual(watches.body)
  })

  test('has texts in the language of the request', async () => {
    const headers = { 'accept-language': 'de' }
    const { body } = await world.alice.request('POST', '/watches/backtest', FEED, headers)
    expect(body.gaps[0].text).toBe(
      'Die gespeicherten Daten reichen nicht so weit zurück wie angefragt.',
    )
  })

  test('reports that no price of a feed is stored', async () => {
    const { body } = await backtest({ ...FEED, target: { feed: 'BTC/USD' } })
    expect(body.gaps.map(({ code }: { code: string }) => code)).toEqual(['no_data'])
    expect(body).toMatchObject({ from: null, to: null, observations: 0, complete: false })
  })

  test('reads balances of earlier blocks from an archive', async () => {
    const { wallet } = world.alice.caller
    const target = { address: wallet, asset: 'FLR' }
    const body = { type: 'wallet-balance', target, settings: { threshold: '1' } }
    await world.devnet.setBalance(wallet, 5n * 10n ** 18n)
    await world.see()
    const { body: found } = await backtest(body)
    expect(found.gaps.map(({ code }: { code: string }) => code)).toContain('sampled_balances')
    expect(found.observations).toBeGreaterThan(1)
    expect(found.alerts[0]).toMatchObject({ event: 'wallet-balance.moved' })
    for (const rpc of [world.primary, world.secondary]) {
      rpc.failNext(1000, { code: -32000, message: 'missing trie node' }, 'eth_getBalance')
    }
    const { body: pruned } = await backtest(body)
    for (const rpc of [world.primary, world.secondary]) await rpc.up()
    expect(pruned).toMatchObject({ from: null, gaps: [{ code: 'no_archive' }], alerts: [] })
  })

  test('reports that the chain does not respond', async () => {
    const target = { address: world.alice.caller.wallet, asset: 'FLR' }
    const body = { type: 'wallet-balance', target, settings: { threshold: '1' } }
    for (const rpc of [world.primary, world.secondary]) rpc.refuseShare(1, 503)
    const { status, body: found } = await backtest(body)
    for (const rpc of [world.primary, world.secondary]) await rpc.up()
    expect(status).toBe(200)
    expect(found).toMatchObject({ complete: false, gaps: [{ code: 'chain_unavailable' }] })
  })
})
