import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { Address } from '#src/kernel/units.ts'
import { runs } from '../support/runs.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/**
 * Random balances are judged twice: live, by jobs, evaluator and alert tables, and by a backtest of the same
 * watches over the same blocks. Both must give the same alerts.
 */

/** Number of random histories; each is played on a chain of its own. */
const RUNS = runs(1, 10)

let world: WatchWorld | undefined
afterEach(() => world?.close())

/** The compared fields of an alert. */
interface Shown {
  readonly signal: string | null
  readonly event: string
  readonly severity: string
  readonly at: string
}

interface TriedWatch {
  readonly id: number
  readonly body: object
}

/** Creates a watch; its backtest has the same body. */
async function create({ alice }: Pick<WatchWorld, 'alice'>, body: object): Promise<TriedWatch> {
  const { status, body: made, text } = await alice.request('POST', '/watches', body)
  if (status !== 201) throw new Error(`no watch: ${text}`)
  return { id: made.id, body }
}

/** Alerts of a watch, oldest first, as they are in the history of the service. */
async function notifiedLive({ alice }: Pick<WatchWorld, 'alice'>, { id }: TriedWatch) {
  const { body } = await alice.request('GET', `/alerts?limit=250&watchId=${id}`)
  return body.data
    .map(({ signal, event, severity, firedAt: at }: Shown & { readonly firedAt: string }) => ({
      signal,
      event,
      severity,
      at,
    }))
    .toReversed()
}

/** Alerts of a backtest, oldest first. */
async function notifiedLater({ alice }: Pick<WatchWorld, 'alice'>, { body }: TriedWatch) {
  const { body: found, status, text } = await alice.request('POST', '/watches/backtest', body)
  if (status !== 200) throw new Error(`no backtest: ${text}`)
  const replayed = found.alerts.map(({ signal, event, severity, at }: Shown) => ({
    signal,
    event,
    severity,
    at,
  }))
  const { counts } = found
  expect(counts.critical + counts.warning + counts.info + counts.recovery).toBe(replayed.length)
  return replayed.toReversed()
}

/** Compares the alerts of each watch with those of its backtest. @returns the number of alerts */
async function compare(
  of: Pick<WatchWorld, 'alice'>,
  watches: readonly TriedWatch[],
): Promise<number> {
  let count = 0
  for (const watch of watches) {
    const live = await notifiedLive(of, watch)
    expect(await notifiedLater(of, watch), JSON.stringify(watch.body)).toEqual(live)
    count += live.length
  }
  return count
}

const FLR = 10n ** 18n
interface Holder {
  readonly address: Address
  /** The balance in whole FLR at block 0, the first block that a backtest reads; the live watch reads later ones. */
  readonly start: number
}
const fundedHolder = ({ account }: (typeof PEOPLE)['alice']): Holder => ({
  address: account.address,
  start: 10_000,
})
const emptyHolder = (digit: string): Holder => ({ address: `0x${digit.repeat(40)}`, start: 0 })
/**
 * Every other holder has levels. At block 0 its balance is between them: a first balance beyond a level causes an alert,
 * which would be that of block 0 in the backtest only.
 */
const HOLDERS = [
  fundedHolder(PEOPLE.alice),
  emptyHolder('2'),
  fundedHolder(PEOPLE.bob),
  emptyHolder('4'),
  fundedHolder(PEOPLE.carol),
]
const LEVELS = { floor: '9400', ceiling: '10600', daysLeft: 3 }
/** Observations of a balance: as many as a backtest reads after the first block. */
const READINGS = 14

/** A change of each balance before each reading, in whole FLR; often none. */
const change = fc.oneof(fc.constant(0), fc.integer({ min: -3000, max: 3000 }))
const balances = fc.record({
  // Nothing has moved before the first reading, which is the baseline of the watch.
  moves: fc
    .array(fc.array(change, { minLength: HOLDERS.length, maxLength: HOLDERS.length }), {
      minLength: READINGS - 1,
      maxLength: READINGS - 1,
    })
    .map((moves) => [HOLDERS.map(() => 0), ...moves]),
  thresholds: fc.array(fc.integer({ min: 1, max: 2000 }), {
    minLength: HOLDERS.length,
    maxLength: HOLDERS.length,
  }),
  cooldowns: fc.array(fc.constantFrom(0, 3600, 20_000), {
    minLength: HOLDERS.length,
    maxLength: HOLDERS.length,
  }),
})

describe('a backtest returns the alerts of the live watch', () => {
  test('of balances, if it reads the blocks that were observed', async () => {
    const property = fc.asyncProperty(balances, async ({ moves, thresholds, cooldowns }) => {
      await world?.close()
      const played = await watchWorld()
      world = played
      const { devnet } = played
      await devnet.mine(1)
      // A backtest reads block 0 and fourteen more, at equal distances.
      const { number: before } = await devnet.client.getBlock()
      const distance = Number(before) + 10
      const watches: TriedWatch[] = []
      for (const [index, { address }] of HOLDERS.entries()) {
        const settings = {
          threshold: String(thresholds[index]),
          direction: (['any', 'up', 'down'] as const)[index % 3],
          ...(index % 2 === 0 && LEVELS),
        }
        const target = { address, asset: 'FLR' }
        const cooldownSeconds = cooldowns[index]
        const body = { type: 'wallet-balance', target, settings, cooldownSeconds }
        watches.push(await create(played, body))
      }
      const held = HOLDERS.map(({ start }) => start)
      for (const [at, changes] of moves.entries()) {
        for (const [index, { address }] of HOLDERS.entries()) {
          held[index] = Math.max(0, Number(held[index]) + (changes[index] ?? 0))
          await devnet.setBalance(address, BigInt(held[index] ?? 0) * FLR)
        }
        const { number } = await devnet.client.getBlock()
        const wanted = (at + 1) * distance + played.app.confirmations - 1
        await devnet.mine(wanted - Number(number), 30)
        await played.follow()
        await played.look()
      }
      expect(await compare(played, watches)).toBeGreaterThan(0)
    })
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true })
  })
})
