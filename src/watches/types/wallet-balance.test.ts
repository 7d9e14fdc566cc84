import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { evaluateBalanceChange } from './balance-moves.ts'
import { walletBalance } from './wallet-balance.ts'

const target = { address: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C', asset: 'FLR' } as const

type Movement = z.output<typeof walletBalance.observation>['movement']

function observation(balanceUnits: bigint, position = 1, movement: Movement = null) {
  return {
    movement,
    position,
    at: new Date(position * 1000),
    balanceUnits,
    symbol: 'FLR',
    decimals: 18,
  }
}

function evaluateChange(before: bigint | null, after: bigint, threshold = '1', direction = 'any') {
  const settings = z.decode(walletBalance.settings, { threshold, direction })
  return evaluateBalanceChange({ balanceUnits: before }, observation(after), { target, settings })
}

const FLR = 10n ** 18n

describe('balance-change', () => {
  test('never fires on its first observation', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (balance) => {
        expect(evaluateChange(null, balance).firings).toEqual([])
      }),
    )
  })

  test.each([
    ['below the threshold', 100n * FLR, 101n * FLR - 1n, 'any', 0],
    ['at the threshold', 100n * FLR, 101n * FLR, 'any', 1],
    ['at the threshold, downwards', 100n * FLR, 99n * FLR, 'any', 1],
    ['above the threshold', 100n * FLR, 200n * FLR, 'any', 1],
    ['unchanged', 100n * FLR, 100n * FLR, 'any', 0],
    ['up, wanted up', 100n * FLR, 102n * FLR, 'up', 1],
    ['down, wanted up', 100n * FLR, 98n * FLR, 'up', 0],
    ['up, wanted down', 100n * FLR, 102n * FLR, 'down', 0],
    ['down, wanted down', 100n * FLR, 98n * FLR, 'down', 1],
  ] as const)('fires from the threshold on, in the chosen direction only: %s', (_name, before, after, direction, fired) => {
    expect(evaluateChange(before, after, '1', direction).firings).toHaveLength(fired)
  })

  test('compares amounts of any size exactly with the threshold', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 200n }),
        fc.bigInt({ min: 1000n * FLR - 2n, max: 1000n * FLR + 2n }),
        (smaller, change) => {
          const fired = change >= 1000n * FLR ? 1 : 0
          expect(evaluateChange(smaller, smaller + change, '1000').firings).toHaveLength(fired)
          expect(evaluateChange(smaller + change, smaller, '1000').firings).toHaveLength(fired)
        },
      ),
    )
  })

  test('compares with the previous observation, not with the last alert', () => {
    const small = evaluateChange(100n * FLR, 100n * FLR + FLR / 2n)
    expect(small.firings).toEqual([])
    expect(small.state.balanceUnits).toBe(100n * FLR + FLR / 2n)
  })

  test('has both balances and the change in the smallest unit, as text', () => {
    expect(evaluateChange(100n * FLR, 90n * FLR).firings).toEqual([
      {
        event: 'wallet-balance.moved',
        severity: 'warning',
        data: {
          ...target,
          symbol: 'FLR',
          decimals: 18,
          previousAmount: '100000000000000000000',
          currentAmount: '90000000000000000000',
          changeAmount: '-10000000000000000000',
          threshold: '1',
          direction: 'outgoing',
          counterparty: null,
          transactionHash: null,
          transactions: [],
          transactionCount: 0,
          usd: null,
          blockNumber: 1,
          blockTime: '1970-01-01T00:00:01.000Z',
        },
      },
    ])
  })

  test('is of severity info for incoming amounts', () => {
    expect(evaluateChange(100n * FLR, 110n * FLR).firings).toMatchObject([
      { severity: 'info', data: { direction: 'incoming' } },
    ])
  })

  describe('with a movement', () => {
    const movement = {
      fromUnits: 100n * FLR,
      transactionHash: '0x9f1c2d3e4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      counterparty: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      transactions: [] as never[],
      transactionCount: 0,
      usdPrice: { value: 21_400n, decimals: 6 },
    } as const
    const settings = z.decode(walletBalance.settings, { threshold: '1' })
    const evaluate = (before: bigint) =>
      evaluateBalanceChange({ balanceUnits: before }, observation(90n * FLR, 1, movement), {
        target,
        settings,
      }).firings[0]?.data

    test('has the counterparty, the transaction and the value in dollars', () => {
      const { transactionHash, counterparty } = movement
      expect(evaluate(100n * FLR)).toMatchObject({ transactionHash, counterparty, usd: '0.21' })
    })

    test('names neither counterparty nor transaction if the movement began at another balance', () => {
      const unknown = {
        transactionHash: null,
        counterparty: null,
        transactions: [],
        usd: '2.35',
      }
      expect(evaluate(200n * FLR)).toMatchObject(unknown)
    })

    test.each([
      [5_000n, 6, 10n ** 18n, '0.01'],
      [4_999n, 6, 10n ** 18n, '0.00'],
      [3n, -2, 2n * 10n ** 18n, '600.00'],
      [
        2n ** 64n,
        0,
        2n ** 200n,
        '29642774844752946028434172162224104410437116074403984394101141.51',
      ],
    ])('values a change in dollars, to the cent: price %s / 10^%s', (value, decimals, change, usd) => {
      const moved = { ...movement, fromUnits: 0n, usdPrice: { value, decimals } }
      const seen = observation(change + FLR * FLR, 1, moved)
      const before = { balanceUnits: FLR * FLR }
      const view = { target, settings: { ...settings, threshold: '0.000001' } }
      const data = evaluateBalanceChange(before, seen, view).firings[0]?.data
      expect(data?.['usd']).toBe(usd)
    })
  })

  test('has a state that can be stored and read', () => {
    const [signal] = walletBalance.signals
    const { state } = evaluateChange(1n, 2n ** 255n)
    const stored = JSON.parse(JSON.stringify(z.encode(signal?.state ?? z.never(), state)))
    expect(z.decode(signal?.state ?? z.never(), stored)).toEqual(state)
  })

  test('has a value for every field that its example shows', () => {
    const [signal] = walletBalance.signals
    const example = signal?.examples['wallet-balance.moved'] ?? {}
    const shown = signal?.present('wallet-balance.moved', example)
    expect(shown?.fields.every((name) => name in (shown?.facts ?? {}))).toBe(true)
  })
})

describe('the settings of wallet-balance', () => {
  test.each([
    '0',
    '0.0000001',
    '-1',
    '1e3',
    '',
    'abc',
    '01',
    '1.',
    '10000000000000001',
  ])('refuse the threshold %j', (threshold) => {
    expect(walletBalance.settings.safeParse({ threshold }).success).toBe(false)
  })

  test.each([
    '0.000001',
    '1',
    '250.5',
    '1000000000000000',
  ])('accept the threshold %j', (threshold) => {
    expect(walletBalance.settings.safeParse({ threshold }).success).toBe(true)
  })
})
