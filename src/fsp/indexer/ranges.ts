/** Sets of blocks that have been read, as sorted ranges that do not touch. Pure. */

/** Blocks from one to another, both included. */
export interface Range {
  readonly fromBlock: number
  readonly toBlock: number
}

/** Adds a range and joins those that touch. */
export function addRange(ranges: readonly Range[], added: Range): readonly Range[] {
  const touches = (one: Range) =>
    one.fromBlock <= added.toBlock + 1 && one.toBlock >= added.fromBlock - 1
  const joined = ranges.filter(touches).reduce(
    (sum, one) => ({
      fromBlock: Math.min(sum.fromBlock, one.fromBlock),
      toBlock: Math.max(sum.toBlock, one.toBlock),
    }),
    added,
  )
  return [...ranges.filter((one) => !touches(one)), joined].toSorted(
    (one, other) => one.fromBlock - other.fromBlock,
  )
}

/** The parts of a range that have not been read, in rising order. */
export function gapsIn(ranges: readonly Range[], wanted: Range): readonly Range[] {
  let gaps: readonly Range[] = wanted.fromBlock > wanted.toBlock ? [] : [wanted]
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
