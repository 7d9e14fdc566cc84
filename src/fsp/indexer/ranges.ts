/** Sets of blocks that have been read, as sorted ranges that do not touch. Pure. */

/** Blocks from one to another, both included. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

/** Adds a range, and joins ranges that touch. */
export function addRange(ranges: readonly BlockRange[], added: BlockRange): readonly BlockRange[] {
  const touches = (range: BlockRange) =>
    range.fromBlock <= added.toBlock + 1 && range.toBlock >= added.fromBlock - 1
  const joined = ranges.filter(touches).reduce(
    (sum, range) => ({
      fromBlock: Math.min(sum.fromBlock, range.fromBlock),
      toBlock: Math.max(sum.toBlock, range.toBlock),
    }),
    added,
  )
  return [...ranges.filter((range) => !touches(range)), joined].toSorted(
    (range, other) => range.fromBlock - other.fromBlock,
  )
}

/** The parts of a range that are in no other range, in rising order. */
export function missingRanges(
  ranges: readonly BlockRange[],
  wanted: BlockRange,
): readonly BlockRange[] {
  let gaps: readonly BlockRange[] = wanted.fromBlock > wanted.toBlock ? [] : [wanted]
  for (const { fromBlock, toBlock } of ranges) {
    gaps = gaps.flatMap((gap) =>
      [
        { fromBlock: gap.fromBlock, toBlock: Math.min(gap.toBlock, fromBlock - 1) },
        { fromBlock: Math.max(gap.fromBlock, toBlock + 1), toBlock: gap.toBlock },
      ].filter((rest) => rest.fromBlock <= rest.toBlock),
    )
  }
  return gaps
}
