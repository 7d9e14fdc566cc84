import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockRef } from '../chain.ts'
import { firstBlockAt } from './block-search.ts'

/** A chain whose blocks have these distances in seconds. */
function chainOf(gaps: readonly number[]) {
  let at = 1_000_000
  const blocks = gaps.map((gap, number): BlockRef => {
    at += gap
    return { number, hash: `0x${'00'.repeat(32)}`, at: new Date(at * 1000) }
  })
  return { blocks, blockAt: async (number: number) => blocks[number] }
}

test('the search finds the first block at or after any time, also if blocks share a second', async () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 400 })
  await fc.assert(
    fc.asyncProperty(gaps, fc.double({ min: 0, max: 1, noNaN: true }), async (all, share) => {
      const { blocks, blockAt } = chainOf(all)
      const last = blocks.at(-1) as BlockRef
      const first = (blocks[0] as BlockRef).at.getTime() / 1000
      const seconds = Math.floor(first - 2 + share * (last.at.getTime() / 1000 - first + 2))
      const expected = blocks.find(({ at }) => at.getTime() >= seconds * 1000)
      expect(await firstBlockAt({ blockAt }, seconds, last)).toEqual(expected)
    }),
  )
})

test('the search returns undefined if it misses a block', async () => {
  const { blocks } = chainOf(Array.from({ length: 300 }, () => 2))
  const last = blocks.at(-1) as BlockRef
  expect(await firstBlockAt({ blockAt: async () => undefined }, 0, last)).toBeUndefined()
})

test('the search ends even if block times do not rise', async () => {
  const last: BlockRef = { number: 1_000_000, hash: `0x${'00'.repeat(32)}`, at: new Date(5000) }
  let asked = 0
  const blockAt = async (number: number) => {
    asked += 1
    return { ...last, number, at: new Date((number % 2) * 10_000) }
  }
  await firstBlockAt({ blockAt }, 5, last)
  expect(asked).toBeLessThanOrEqual(60)
})
