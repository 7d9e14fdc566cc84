import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { evaluateBalanceLevel } from './balance-levels.ts'
import { evaluateBalanceChange } from './balance-moves.ts'
import { holdingsTogether } from './balance-readings.ts'
import { BalanceSettings } from './balance-settings.ts'
import { evaluatePriceLevel } from './price-levels.ts'
import { walletBalance } from './wallet-balance.ts'

const ADDRESS = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'
const TOKEN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const target = { address: ADDRESS, asset: 'FLR' } as const
const at = new Date('2026-11-20T12:00:00Z')

function settingsOf(settings: object): BalanceSettings {
  return z.decode(BalanceSettings, settings as z.input<typeof BalanceSettings>)
}

/** Phases of a level over balances in whole units. */
function phases(side: 'below' | 'above', settings: object, balances: readonly number[]) {
  let state = { isBeyond: false }
  return balances.map((units, index) => {
    const seen = { balanceUnits: BigInt(units), symbol: 'FLR', decimals: 0, movement: null }
    const watch = { target, settings: settingsOf(settings) }
    const outcome = evaluateBalanceLevel(side, state, { ...seen, position: index, at }, watch)
    state = outcome.state
    return outcome.phase
  })
}

describe('the level of a balance', () => {
  test('alerts beyond it, also at first, and recovers 5 % on the other side', () => {
    expect(phases('below', { floor: '100' }, [99, 100, 104, 105, 100, 99])).toEqual([
      ...['firing', 'firing', 'firing', 'ok', 'ok', 'firing'],
    ])
    expect(phases('above', { ceiling: '100' }, [100, 101, 100, 96, 95, 100])).toEqual([
      ...['ok', 'firing', 'firing', 'firing', 'ok', 'ok'],
    ])
  })

  test('is not judged without the setting', () => {
    expect(phases('below', { threshold: '1' }, [0])).toEqual(['unknown'])
  })

  test('is exact for every balance, and only the margin changes the answer', () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 }), fc.boolean(), (units, isBeyond) => {
        const seen = { balanceUnits: BigInt(units), symbol: 'FLR', decimals: 0, movement: null }
        const watch = { target, settings: settingsOf({ floor: '100' }) }
        const { phase } = evaluateBalanceLevel(
          'below',
          { isBeyond },
          { ...seen, position: 1, at },
          watch,
        )
        expect(phase === 'firing').toBe(units < (isBeyond ? 105 : 100))
      }),
    )
  })
})

test('the level of a price is exact whatever the decimals, and recovers 1 % on the other side', () => {
  const settings = { below: '0.02', above: '0.03' }
  const seen = (value: bigint, decimals: number) => ({
    ...{ feed: 'FLR/USD', feedId: '0x01', position: 1, at, price: { value, decimals } },
  })
  const phase = (side: 'below' | 'above', isBeyond: boolean, value: bigint, decimals: number) =>
    evaluatePriceLevel(side, { isBeyond }, seen(value, decimals), { settings }).phase
  expect(phase('below', false, 2n, 2)).toBe('ok')
  expect(phase('below', false, 19_999_999n, 9)).toBe('firing')
  expect(phase('below', true, 20_199n, 6)).toBe('firing')
  expect(phase('below', true, 20_200n, 6)).toBe('ok')
  expect(phase('above', false, 5n, -2)).toBe('firing')
  expect(phase('above', true, 29_700n, 6)).toBe('ok')
})

describe('the settings', () => {
  test.each([
    [{}, ['threshold']],
    [{ direction: 'up' }, ['threshold']],
    [{ threshold: null, floor: null }, ['threshold']],
    [{ floor: '100', ceiling: '100' }, ['floor']],
    [{ floor: '0' }, ['floor']],
    [{ daysLeft: 0 }, ['daysLeft']],
  ])('refuse %j', (settings, path) => {
    const read = walletBalance.settings.safeParse(settings)
    expect(read.error?.issues.map((issue) => issue.path)).toEqual([path])
  })

  test.each([
    { floor: '100' },
    { ceiling: '100' },
    { daysLeft: 7 },
    { threshold: null, floor: '1', ceiling: '2' },
  ])('accept %j', (settings) => {
    expect(walletBalance.settings.safeParse(settings).success).toBe(true)
  })
})

describe('all assets of a wallet', () => {
  const all = { address: ADDRESS, asset: '*' } as const
  const usd = (cents: bigint) => ({ value: cents, decimals: 2 })
  /** Holdings of whole units: of FLR at two cents, of a token at a dollar, and of one without a price. */
  const holdings = (flr: bigint, token: bigint, other = 0n) =>
    holdingsTogether([
      {
        asset: 'FLR',
        symbol: 'FLR',
        decimals: 0,
        balanceUnits: flr,
        usdPrice: usd(2n),
        movement: null,
      },
      {
        asset: TOKEN,
        symbol: 'T',
        decimals: 0,
        balanceUnits: token,
        usdPrice: usd(100n),
        movement: null,
      },
      {
        ...{ asset: ADDRESS, symbol: 'O', decimals: 0, balanceUnits: other },
        ...{ usdPrice: null, movement: null },
      },
    ])
  const watch = { target: all, settings: settingsOf({ threshold: '10', floor: '100' }) }
  const move = (before: ReturnType<typeof holdings>, after: ReturnType<typeof holdings>) => {
    const first = evaluateBalanceChange(
      { balanceUnits: null },
      { ...before, position: 1, at },
      watch,
    )
    expect(first.firings).toEqual([])
    return evaluateBalanceChange(first.state, { ...after, position: 2, at }, watch).firings
  }

  test('alert when one moves by the threshold in dollars, and name the others', () => {
    expect(move(holdings(1000n, 50n), holdings(501n, 50n))).toEqual([])
    expect(move(holdings(1000n, 50n), holdings(500n, 50n))).toMatchObject([
      { severity: 'warning', data: { asset: 'FLR', changeAmount: '-500', usd: '10.00' } },
    ])
    const [drained, ...more] = move(holdings(1000n, 50n, 3n), holdings(0n, 0n, 4n))
    expect(more).toEqual([])
    expect(drained?.data).toMatchObject({
      ...{ address: ADDRESS, asset: TOKEN, changeAmount: '-50', usd: '50.00' },
      otherChanges: [
        { asset: 'FLR', changeAmount: '-1000' },
        { asset: ADDRESS, changeAmount: '1' },
      ],
    })
  })

  test('alert on a named token without a price whenever it moves, and not on a price that moves', () => {
    expect(move(holdings(1n, 1n, 5n), holdings(1n, 1n, 4n))).toMatchObject([
      { data: { asset: ADDRESS, changeAmount: '-1', usd: null } },
    ])
    const before = holdings(1000n, 50n)
    const dearer = before.holdings?.map((held) => ({ ...held, usdPrice: usd(9000n) })) ?? []
    expect(move(before, holdingsTogether(dearer))).toEqual([])
  })

  test('count their value in dollars against the floor', () => {
    const phase = (flr: bigint) =>
      evaluateBalanceLevel(
        'below',
        { isBeyond: false },
        { ...holdings(flr, 50n), position: 1, at },
        watch,
      ).phase
    expect(phase(2500n)).toBe('ok')
    expect(phase(2499n)).toBe('firing')
  })
})
