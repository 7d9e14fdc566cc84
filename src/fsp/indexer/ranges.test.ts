import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addRange, type BlockRange, missingRanges } from './ranges.ts'

const range = fc
  .tuple(fc.nat({ max: 60 }), fc.nat({ max: 12 }))
  .map(([fromBlock, length]): BlockRange => ({ fromBlock, toBlock: fromBlock + length }))

function blocksOf(ranges: readonly BlockRange[]): ReadonlySet<number> {
  return new Set(
    ranges.flatMap(({ fromBlock, toBlock }) =>
      Array.from({ length: toBlock - fromBlock + 1 }, (_, index) => fromBlock + index),
    ),
  )
}

describe('ranges of blocks', () => {
  test('contain exactly the added blocks, in as few ranges as possible', () => {
    fc.assert(
      fc.property(fc.array(range), (added) => {
        const ranges = added.reduce(addRange, [] as readonly BlockRange[])
        expect(blocksOf(ranges)).toEqual(blocksOf(added))
        for (const [index, range] of ranges.entries()) {
          const next = ranges[index + 1]
          if (next !== undefined) expect(next.fromBlock).toBeGreaterThan(range.toBlock + 1)
        }
      }),
    )
  })

  test('lack exactly the blocks that were not added', () => {
    fc.assert(
      fc.property(fc.array(range), range, (added, wanted) => {
        const ranges = added.reduce(addRange, [] as readonly BlockRange[])
        const gaps = blocksOf(missingRanges(ranges, wanted))
        const have = blocksOf(added)
        expect(gaps).toEqual(new Set([...blocksOf([wanted])].filter((block) => !have.has(block))))
      }),
    )
  })

  test('have no gap in an empty range', () => {
    expect(missingRanges([], { fromBlock: 5, toBlock: 4 })).toEqual([])
  })
})
