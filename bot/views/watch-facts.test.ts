import { parseEther } from 'viem/utils'
import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import type { Reader } from './view.ts'
import { typeLine } from './watch-facts.ts'

const now = new Date('2026-11-20T12:00:00.000Z')
const reader = { t: translator('en'), timezone: 'UTC', isGroup: false } as unknown as Reader

test.each([
  ['7999.9999', '10000', '8,000'],
  ['7999.9999', '8000', '7,999.9999'],
  ['8000', '8000', '8,000'],
])('a balance is rounded as in alerts, and never reads as a limit that it misses: %s of %s', (balance, threshold, text) => {
  const watch = {
    type: 'wallet-balance',
    target: { address: '0x52c14c0b0c1f0e5b1f6f3a3b7e1f1d2c3b4a07ae', asset: 'FLR' },
    settings: { threshold },
    lastObservation: {
      ...{ position: 1, at: now.toISOString(), symbol: 'FLR', decimals: 18 },
      balanceUnits: parseEther(balance).toString(),
      movement: null,
    },
  }
  expect(typeLine(reader, watch, 'now', now)).toContain(`${text}\u00a0FLR`)
})

test.each([
  ['2026-11-20T11:59:10.000Z', '2026-11-20T11:59:10.000Z', false],
  ['2026-11-20T11:59:10.000Z', '2026-11-20T11:59:40.000Z', false],
  ['2026-11-20T11:40:00.000Z', '2026-11-20T11:59:10.000Z', true],
])('a price shows a move only over some time: since %s, at %s', (since, updatedAt, isShown) => {
  const price = { value: '2', decimals: 2 }
  const observed = { feed: 'FLR/USD', feedId: '0x01464c522f55534400000000000000000000000000' }
  const watch = {
    type: 'feed-move',
    target: { feed: 'FLR/USD' },
    lastObservation: {
      ...{ position: 1, at: now.toISOString(), price, updatedAt, ...observed },
      oldest: { ...price, at: since },
    },
  }
  const line = typeLine(reader, watch, 'now', now)
  expect(line).toMatch(/^Price: 0\.02\sUSD/)
  expect(line?.includes(' · 0% since ')).toBe(isShown)
})
