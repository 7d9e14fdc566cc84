import type { Asset, BlockRef, Chain } from '#src/chain/chain.ts'
import { forEachConcurrently } from '#src/kernel/for-each-concurrently.ts'
import type { Address } from '#src/kernel/units.ts'
import type { History, HistoryGap } from '../history.ts'

/** Number of blocks at which the balance is read: about one per twelve hours of a week. */
const SAMPLES = 15
/** Number of samples that are read concurrently. */
const AT_ONCE = 4
/** Number of blocks from which the time between two blocks is first estimated. */
const PACE_BLOCKS = 10_000

interface Target {
  readonly address: Address
  readonly asset: Asset
}

/** A balance in the format of an observation of `wallet-balance`. */
interface PastBalance {
  readonly position: number
  readonly at: Date
  readonly balanceUnits: bigint
  readonly symbol: string
  readonly decimals: number
  readonly movement: null
}

/**
 * The balance at a few blocks, from endpoints that keep the state of old blocks. Where endpoints keep only
 * the state of the newest blocks, the history consists of these blocks.
 */
export const balanceHistory: History<Target, unknown, PastBalance> = {
  keeps: 'each',
  async *read({ chain, tip }, { target, from, signal }) {
    const last = await tip(signal)
    const info = await chain.assetInfo(target.asset, signal)
    const first = await findBlock(chain, last, from, signal)
    signal.throwIfAborted()
    if (info === undefined || first === undefined) {
      yield { observations: [], gaps: ['no_data'] }
      return
    }
    const start = await findKept(chain, target, { first: first.number, last: last.number }, signal)
    if (start === undefined) {
      yield { observations: [], gaps: ['no_archive'] }
      return
    }
    const gaps = new Set<HistoryGap>(['sampled_balances'])
    if (start > first.number) gaps.add('no_archive')
    const balances = new Map<number, PastBalance>()
    await forEachConcurrently(spread(start, last.number), AT_ONCE, async (number) => {
      const block = number === last.number ? last : await chain.blockAt(number, signal)
      const balanceUnits = await chain.pastBalance(target, number, signal)
      // An endpoint may prune states while it is read, and some endpoints keep only the state of every n-th
      // block.
      if (balanceUnits === undefined) gaps.add('no_archive')
      if (block === undefined || typeof balanceUnits !== 'bigint') return
      balances.set(number, {
        position: number,
        at: block.at,
        balanceUnits,
        ...info,
        movement: null,
      })
    })
    const observations = [...balances.values()].toSorted((a, b) => a.position - b.position)
    yield { observations, gaps: [...gaps] }
  },
}

/**
 * The first block whose state endpoints keep; undefined where they do not even keep the state of the last
 * block.
 */
async function findKept(
  chain: Chain,
  target: Target,
  { first, last }: { readonly first: number; readonly last: number },
  signal: AbortSignal,
): Promise<number | undefined> {
  const isKept = async (number: number) =>
    (await chain.pastBalance(target, number, signal)) !== undefined
  if (await isKept(first)) return first
  if (!(await isKept(last))) return undefined
  let pruned = first
  let kept = last
  while (kept - pruned > 1) {
    const middle = Math.floor((pruned + kept) / 2)
    if (await isKept(middle)) kept = middle
    else pruned = middle
  }
  return kept
}

/** Numbers of `SAMPLES` blocks at equal distances, both ends included; fewer on a short chain. */
function spread(first: number, last: number): readonly number[] {
  const step = (last - first) / (SAMPLES - 1)
  const all = Array.from({ length: SAMPLES }, (_, index) => first + Math.round(index * step))
  return [...new Set(all)]
}

/** A block close to a time; the first block for an earlier time; undefined where the chain has no block. */
async function findBlock(
  chain: Chain,
  tip: BlockRef,
  at: Date,
  signal: AbortSignal,
): Promise<BlockRef | undefined> {
  let near = await chain.blockAt(Math.max(0, tip.number - PACE_BLOCKS), signal)
  for (let step = 0; step < 2 && near !== undefined && near.number < tip.number; step += 1) {
    const msPerBlock = (tip.at.getTime() - near.at.getTime()) / (tip.number - near.number)
    if (msPerBlock <= 0) return near
    const back = Math.ceil((tip.at.getTime() - at.getTime()) / msPerBlock)
    near = await chain.blockAt(Math.max(0, tip.number - back), signal)
  }
  return near
}
