import { describe, expect, test } from 'vitest'
import type { HistoryPage, HistorySources } from '../history.ts'
import { balanceHistory } from './balance-history.ts'

/** Histories of balances from endpoints that keep some states only. */

const BLOCK_MS = 1800
const TIP = 400_000
const START_MS = Date.parse('2026-11-13T00:00:00Z')
const ADDRESS = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const WEEK_BLOCKS = Math.ceil((7 * 86_400_000) / BLOCK_MS)

const blockAt = (number: number) => ({
  number,
  hash: `0x${'0'.repeat(64)}` as const,
  at: new Date(START_MS + number * BLOCK_MS),
})

/** A chain whose endpoint keeps the states of these blocks. */
function sourcesOf(isKept: (number: number) => boolean) {
  const asked: number[] = []
  const chain = {
    assetInfo: async () => ({ symbol: 'FLR', decimals: 18 }),
    blockAt: async (number: number) => blockAt(number),
    pastBalance: async (_query: unknown, number: number) => {
      asked.push(number)
      return isKept(number) ? BigInt(number) : undefined
    },
  }
  const sources = { chain, tip: async () => blockAt(TIP) } as unknown as HistorySources
  return { sources, asked }
}

async function read(sources: HistorySources) {
  const to = blockAt(TIP).at
  const query = {
    target: { address: ADDRESS, asset: 'FLR' },
    settings: {},
    from: blockAt(TIP - WEEK_BLOCKS).at,
    to,
    signal: new AbortController().signal,
  } as const
  const pages: HistoryPage<{ readonly position: number }>[] = []
  for await (const page of balanceHistory.read(sources, query)) pages.push(page)
  return {
    blocks: pages.flatMap(({ observations }) => observations.map(({ position }) => position)),
    gaps: pages.flatMap(({ gaps = [] }) => gaps),
  }
}

describe('the history of a balance', () => {
  test('of an archive is fifteen readings of the whole time', async () => {
    const { blocks, gaps } = await read(sourcesOf(() => true).sources)
    expect(blocks).toHaveLength(15)
    expect(blocks[0]).toBe(TIP - WEEK_BLOCKS)
    expect(blocks.at(-1)).toBe(TIP)
    expect(gaps).toEqual(['sampled_balances'])
  })

  test('starts with the oldest state that an endpoint keeps', async () => {
    const { sources, asked } = sourcesOf((number) => number > TIP - 128)
    const { blocks, gaps } = await read(sources)
    expect(blocks).toHaveLength(15)
    expect(blocks[0]).toBe(TIP - 127)
    expect(gaps).toEqual(['sampled_balances', 'no_archive'])
    expect(asked.length).toBeLessThan(40)
  })

  test('has the states that an endpoint keeps at intervals, and is marked as incomplete', async () => {
    const { blocks, gaps } = await read(
      sourcesOf((number) => number % 4096 === 0 || number > TIP - 32).sources,
    )
    expect(blocks.length).toBeGreaterThan(0)
    expect(blocks.every((number) => number % 4096 === 0 || number > TIP - 32)).toBe(true)
    expect(gaps).toEqual(['sampled_balances', 'no_archive'])
  })

  test('omits states that are pruned during the reading', async () => {
    const asked = new Map<number, number>()
    const { sources } = sourcesOf((number) => {
      asked.set(number, (asked.get(number) ?? 0) + 1)
      return !(number === TIP - WEEK_BLOCKS && asked.get(number) === 2)
    })
    const { blocks, gaps } = await read(sources)
    expect(blocks).toHaveLength(14)
    expect(gaps).toEqual(['sampled_balances', 'no_archive'])
  })

  test('is unknown where not even the newest state is kept', async () => {
    expect(await read(sourcesOf(() => false).sources)).toEqual({ blocks: [], gaps: ['no_archive'] })
  })
})
