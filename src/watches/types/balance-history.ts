import type { AssetInfo, BalanceQuery, BlockRef, Chain } from '#src/chain/chain.ts'
import { forEachConcurrently } from '#src/kernel/for-each-concurrently.ts'
import type { History, HistoryGap, HistorySources } from '../history.ts'
import type { BalanceObservation, Holding } from './balance-observation.ts'
import { assetsOf, holdingsTogether, readPrices } from './balance-readings.ts'
import type { BalanceTarget } from './balance-settings.ts'
import { ALL_ASSETS } from './own-coin.ts'

/** Number of blocks at which the balance is read: about one per twelve hours of a week. */
const SAMPLES = 15
/** Number of samples that are read concurrently. */
const AT_ONCE = 4
/** Number of blocks from which the time between two blocks is first estimated. */
const PACE_BLOCKS = 10_000

/**
 * The balance at a few blocks, from endpoints that keep the state of old blocks. Where endpoints keep only
 * the state of the newest blocks, the history consists of these blocks. Of all assets, the prices are those at the
 * end of each block.
 */
export const balanceHistory: History<BalanceTarget, unknown, BalanceObservation> = {
  keeps: 'each',
  async *read(sources, { target, from, signal }) {
    const { chain, facts, tip } = sources
    const last = await tip(signal)
    const assets = assetsOf(target, facts)
    const infos = await Promise.all(assets.map((asset) => chain.assetInfo(asset, signal)))
    const known = assets.flatMap((asset, index) => {
      const info = infos[index]
      return info === undefined ? [] : [{ query: { address: target.address, asset }, info }]
    })
    const [firstKnown] = known
    const first = await findBlock(chain, last, from, signal)
    signal.throwIfAborted()
    if (firstKnown === undefined || known.length < assets.length || first === undefined) {
      yield { observations: [], gaps: ['no_data'] }
      return
    }
    const span = { first: first.number, last: last.number }
    const start = await findKept(chain, firstKnown.query, span, signal)
    if (start === undefined) {
      yield { observations: [], gaps: ['no_archive'] }
      return
    }
    const gaps = new Set<HistoryGap>(['sampled_balances'])
    if (start > first.number) gaps.add('no_archive')
    const balances = new Map<number, BalanceObservation>()
    await forEachConcurrently(spread(start, last.number), AT_ONCE, async (number) => {
      const block = number === last.number ? last : await chain.blockAt(number, signal)
      if (block === undefined) return
      const read = await balanceAt(sources, { target, known, block }, signal)
      // An endpoint may prune states while it is read, and some endpoints keep only the state of every n-th
      // block.
      if (read === undefined) gaps.add('no_archive')
      else if (read !== null) balances.set(number, { position: number, at: block.at, ...read })
    })
    const observations = [...balances.values()].toSorted((a, b) => a.position - b.position)
    yield { observations, gaps: [...gaps] }
  },
}

/** A balance, or all of a wallet, at the end of a block; undefined where it is pruned, null where a part is unknown. */
async function balanceAt(
  { chain, facts }: HistorySources,
  {
    target,
    known,
    block,
  }: {
    readonly target: BalanceTarget
    readonly known: readonly { readonly query: BalanceQuery; readonly info: AssetInfo }[]
    readonly block: BlockRef
  },
  signal: AbortSignal,
): Promise<Omit<BalanceObservation, 'position' | 'at'> | null | undefined> {
  const units = await Promise.all(
    known.map(({ query }) => chain.pastBalance(query, block.number, signal)),
  )
  if (units.includes(undefined)) return undefined
  if (target.asset !== ALL_ASSETS) {
    const [only] = units
    const [asset] = known
    if (typeof only !== 'bigint' || asset === undefined) return null
    return { balanceUnits: only, ...asset.info, movement: null }
  }
  const prices = await readPrices({ chain, facts }, block, signal)
  const holdings = known.flatMap(({ query: { asset }, info }, index): Holding[] => {
    const balanceUnits = units[index]
    const usdPrice = prices.has(asset) ? prices.get(asset) : null
    if (typeof balanceUnits !== 'bigint' || usdPrice === undefined) return []
    return [{ asset, ...info, balanceUnits, usdPrice, movement: null }]
  })
  return holdings.length < known.length ? null : holdingsTogether(holdings)
}

/**
 * The first block whose state endpoints keep; undefined where they do not even keep the state of the last
 * block.
 */
async function findKept(
  chain: Chain,
  target: BalanceQuery,
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
