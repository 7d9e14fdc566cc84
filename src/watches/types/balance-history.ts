import type { Asset, BlockRef, Chain } from '#src/chain/chain.ts'
import { forEachAtOnce } from '#src/chain/parallel.ts'
import type { Address } from '#src/kernel/units.ts'
import type { History } from '../history.ts'

/** Blocks at which the balance is read: about every twelve hours of a week. */
const SAMPLES = 15
/** Samples read at once. */
const AT_ONCE = 4
/** Blocks over which the time between two blocks is first estimated. */
const PACE_BLOCKS = 10_000

/** A balance in the form of an observation of `wallet-balance`. */
interface PastBalance {
  readonly position: number
  readonly at: Date
  readonly balanceUnits: bigint
  readonly symbol: string
  readonly decimals: number
  readonly movement: null
}

/** The balance at a few blocks, from an endpoint that keeps the state of old ones. */
export const balanceHistory: History<{ address: Address; asset: Asset }, unknown, PastBalance> = {
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
    // The state of a token is as old as that of the coin, and this call distinguishes pruned from
    // refused.
    if ((await chain.balanceAt(target.address, first.number, signal)) === undefined) {
      yield { observations: [], gaps: ['no_archive'] }
      return
    }
    const found = new Map<number, PastBalance>()
    await forEachAtOnce(spread(first.number, last.number), AT_ONCE, async (number) => {
      const block = number === last.number ? last : await chain.blockAt(number, signal)
      if (block === undefined) return
      const [balanceUnits] = await chain.balances([target], block, signal)
      if (balanceUnits === undefined) return
      found.set(number, { position: number, at: block.at, balanceUnits, ...info, movement: null })
    })
    const observations = [...found.values()].toSorted((a, b) => a.position - b.position)
    yield { observations, gaps: ['sampled_balances'] }
  },
}

/** Numbers of `SAMPLES` blocks at equal distances, both ends included; fewer on a short chain. */
function spread(first: number, last: number): readonly number[] {
  const step = (last - first) / (SAMPLES - 1)
  const all = Array.from({ length: SAMPLES }, (_, index) => first + Math.round(index * step))
  return [...new Set(all)]
}

/** A block close to a time; the first block for an earlier time; undefined where the chain has none. */
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
