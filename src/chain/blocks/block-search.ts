import type { BlockRef, Chain } from '../chain.ts'

/** Maximum number of requests of one search. A binary search over a day of blocks needs seventeen. */
const REQUESTS_MAX = 60
/** Blocks by which a search first goes back. */
const FIRST_STEP = 64

/**
 * Finds the first block at or after a time.
 *
 * @param after a block at or after the requested time; the search goes back from this block
 * @returns undefined where the endpoints lack a block of the search
 * @throws AppError upstream when no endpoint answers
 */
export async function firstBlockAt(
  chain: Pick<Chain, 'blockAt'>,
  seconds: number,
  after: BlockRef,
  signal?: AbortSignal,
): Promise<BlockRef | undefined> {
  const isBefore = ({ at }: BlockRef) => at.getTime() < seconds * 1000
  let firstKnown = after
  let low = after.number
  let requests = 0
  const read = (number: number) => {
    requests += 1
    return chain.blockAt(number, signal)
  }
  for (let step = FIRST_STEP; low > 0 && requests < REQUESTS_MAX; step *= 2) {
    const block = await read(Math.max(0, low - step))
    if (block === undefined) return undefined
    low = block.number
    if (isBefore(block)) {
      low += 1
      break
    }
    firstKnown = block
  }
  while (low < firstKnown.number && requests < REQUESTS_MAX) {
    const block = await read(Math.floor((low + firstKnown.number) / 2))
    if (block === undefined) return undefined
    if (isBefore(block)) low = block.number + 1
    else firstKnown = block
  }
  return low >= firstKnown.number ? firstKnown : undefined
}
