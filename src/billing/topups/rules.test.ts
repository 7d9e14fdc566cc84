import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AssetKey, PAYMENT_ASSETS } from '../price-list.ts'
import { TOPUP_CREDITS_MAX } from './model.ts'
import {
  bonusFor,
  type CreditRate,
  creditsForUnits,
  creditsWithBonusOf,
  judgePayment,
  payerProblem,
  quotedUnitsFor,
  symbolOf,
  unitsForCredits,
  usdRateOf,
  xrpWalletLink,
} from './rules.ts'

const UINT256_MAX = 2n ** 256n - 1n
const FLR_RATE = usdRateOf('FLR', { value: 200_000n, decimals: 7 })
const XRP_RATE = usdRateOf('XRP', { value: 250_000n, decimals: 5 })

const keys = fc.constantFrom(...PAYMENT_ASSETS.map(({ key }) => key))
const prices = fc.record({
  value: fc.bigInt({ min: 1n, max: 10n ** 18n }),
  decimals: fc.integer({ min: -10, max: 30 }),
})
const rates = fc.tuple(keys, prices).map(([key, price]) => usdRateOf(key, price))
const amounts = fc.oneof(
  fc.bigInt({ min: 0n, max: 10n ** 24n }),
  fc.bigInt({ min: 0n, max: UINT256_MAX }),
)
const credits = fc.integer({ min: 1, max: TOPUP_CREDITS_MAX })

describe('the amount of a quote', () => {
  test.each([
    // 10 USD at 0.02 USD.
    ['FLR', 10_000, { value: 200_000n, decimals: 7 }, 500n * 10n ** 18n],
    ['WFLR', 10_000, { value: 2n, decimals: 2 }, 500n * 10n ** 18n],
    // 10 USD at 2.50 USD, six decimals.
    ['XRP', 10_000, { value: 250_000n, decimals: 5 }, 4_000_000n],
    ['FXRP', 12_345, { value: 250_000n, decimals: 5 }, 4_938_000n],
    // 10 USD at 3 USD is not a whole amount: rounded up.
    ['XRP', 10_000, { value: 3n, decimals: 0 }, 3_333_334n],
    // Decimals may be negative: the price is 30 USD.
    ['XRP', 10_000, { value: 3n, decimals: -1 }, 333_334n],
    ['service', 10_000, { value: 50_000n, decimals: 6 }, 200n * 10n ** 18n],
  ] as const)('in %s for %i credits is exact, rounded up at the end', (key, count, price, units) => {
    expect(unitsForCredits(count, usdRateOf(key, price))).toBe(units)
  })

  test('is the smallest that is worth the credits', () => {
    fc.assert(
      fc.property(credits, rates, (count, rate) => {
        const units = unitsForCredits(count, rate)
        fc.pre(units !== undefined)
        expect(creditsForUnits(units, rate)).toBeGreaterThanOrEqual(BigInt(count))
        expect(creditsForUnits(units - 1n, rate)).toBeLessThan(BigInt(count))
      }),
    )
  })

  test.each([
    ['FLR', 10_000, { value: 224n, decimals: 4 }, 44_643n * 10n ** 16n],
    ['FLR', 10_000, { value: 2n, decimals: 2 }, 500n * 10n ** 18n],
    // 421.1588…: the last digit is worth a tenth of a credit.
    ['FLR', 5_000, { value: 118_720n, decimals: 7 }, 42_116n * 10n ** 16n],
    // 42.1585…: a hundredth is worth more than a credit.
    ['FLR', 5_000, { value: 118_600n, decimals: 6 }, 4_216n * 10n ** 16n],
    ['XRP', 5_000, { value: 237n, decimals: 2 }, 2_110_000n],
    // Below one unit, each digit is worth many credits.
    ['XRP', 1_000, { value: 3n, decimals: 0 }, 333_400n],
  ] as const)('in %s for %i credits is what a person types', (key, count, price, units) => {
    expect(quotedUnitsFor(count, usdRateOf(key, price))).toBe(units)
  })

  test('that people type has two decimals from one unit upward, and never costs a credit', () => {
    fc.assert(
      fc.property(credits, rates, (count, rate) => {
        const [exact, quoted] = [unitsForCredits(count, rate), quotedUnitsFor(count, rate)]
        fc.pre(exact !== undefined && quoted !== undefined)
        const [whole, cent] = [10n ** BigInt(rate.decimals), 10n ** BigInt(rate.decimals - 2)]
        expect(quoted).toBeGreaterThanOrEqual(exact)
        expect(creditsForUnits(quoted, rate)).toBeGreaterThanOrEqual(BigInt(count))
        if (quoted >= whole) {
          expect(quoted % cent).toBe(0n)
          // A digit worth less than a credit may lie before the decimal sign.
          if (creditsForUnits(quoted, rate) > BigInt(count))
            expect(quoted - exact).toBeLessThan(cent)
        } else if (creditsForUnits(1n, rate) === 0n) {
          expect(creditsForUnits(quoted, rate)).toBe(BigInt(count))
        } else expect(quoted).toBe(exact)
      }),
    )
  })

  test('grows with the credits and falls with the price', () => {
    fc.assert(
      fc.property(credits, credits, rates, (a, b, rate) => {
        const [less, more] = [
          unitsForCredits(Math.min(a, b), rate),
          unitsForCredits(Math.max(a, b), rate),
        ]
        fc.pre(less !== undefined && more !== undefined)
        expect(less).toBeLessThanOrEqual(more)
      }),
    )
    fc.assert(
      fc.property(
        credits,
        keys,
        prices,
        fc.bigInt({ min: 1n, max: 1000n }),
        (count, key, price, times) => {
          const now = unitsForCredits(count, usdRateOf(key, price))
          const dearer = unitsForCredits(
            count,
            usdRateOf(key, { ...price, value: price.value * times }),
          )
          fc.pre(now !== undefined && dearer !== undefined)
          expect(dearer).toBeLessThanOrEqual(now)
        },
      ),
    )
  })

  test('is never zero, and never more than a chain can move', () => {
    fc.assert(
      fc.property(credits, rates, (count, rate) => {
        const units = unitsForCredits(count, rate)
        if (units === undefined) return
        expect(units).toBeGreaterThan(0n)
        expect(units).toBeLessThanOrEqual(UINT256_MAX)
      }),
    )
    expect(
      unitsForCredits(TOPUP_CREDITS_MAX, usdRateOf('FLR', { value: 1n, decimals: 60 })),
    ).toBeUndefined()
    expect(unitsForCredits(10_000, usdRateOf('FLR', { value: 0n, decimals: 0 }))).toBeUndefined()
  })

  test('for 1000 credits at a time is never less than for all at once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), rates, (thousands, rate) => {
        const all = unitsForCredits(thousands * 1000, rate)
        const each = unitsForCredits(1000, rate)
        fc.pre(all !== undefined && each !== undefined)
        expect(all).toBeLessThanOrEqual(each * BigInt(thousands))
      }),
    )
  })
})

describe('the credits of an amount', () => {
  test('are never more when it is paid in two parts, and at most one less', () => {
    fc.assert(
      fc.property(amounts, amounts, rates, (a, b, rate) => {
        const together = creditsForUnits(a + b, rate)
        const apart = creditsForUnits(a, rate) + creditsForUnits(b, rate)
        expect(together).toBeGreaterThanOrEqual(apart)
        expect(together - apart).toBeLessThanOrEqual(1n)
      }),
    )
  })

  test('are exact at the largest amount there is', () => {
    // 0.02 USD a coin: 20 credits for 10^18 units.
    expect(creditsForUnits(UINT256_MAX, FLR_RATE)).toBe((UINT256_MAX * 20n) / 10n ** 18n)
  })
})

describe('the bonus', () => {
  test('is a tenth for the service’s own token, rounded down, and nothing for others', () => {
    expect(creditsWithBonusOf(12_345, 'service')).toEqual({ credits: 12_345, bonusCredits: 1234 })
    for (const key of ['WFLR', 'FXRP', 'FLR', 'XRP'] as const) {
      expect(bonusFor(10n ** 30n, key)).toBe(0n)
    }
  })
})

describe('a payment', () => {
  const judge = (
    asset: string,
    amountUnits: bigint,
    topup: { asset: AssetKey; token: string | null } | undefined,
    rate: CreditRate | undefined,
  ) => judgePayment({ asset, amountUnits, topup, rate })
  const flr = { asset: 'FLR', token: null } as const
  const fxrp = { asset: 'FXRP', token: '0xF' } as const
  const FXRP_RATE = { ...XRP_RATE }

  test('is worth the paid amount, not the quoted one', () => {
    expect(judge('FLR', 10n ** 18n, flr, FLR_RATE)).toEqual({
      ok: true,
      worth: { credits: 20, bonusCredits: 0 },
    })
  })

  test.each([
    ['with an unknown reference', 'FLR', 10n ** 18n, undefined, 'unknown_reference'],
    ['in another coin', 'XRP', 10n ** 18n, flr, 'wrong_asset'],
    ['in a token for a coin', '0xF', 10n ** 18n, flr, 'wrong_asset'],
    ['worth less than a credit', 'FLR', 5n * 10n ** 16n - 1n, flr, 'too_small'],
    ['of nothing', 'FLR', 0n, flr, 'too_small'],
    ['worth more than can be counted', 'FLR', UINT256_MAX, flr, 'too_large'],
  ] as const)('%s is refused', (_what, asset, amount, topup, reason) => {
    expect(judge(asset, amount, topup, FLR_RATE)).toEqual({ ok: false, reason })
  })

  test('worth exactly one credit is accepted', () => {
    expect(judge('FLR', 5n * 10n ** 16n, flr, FLR_RATE)).toMatchObject({ worth: { credits: 1 } })
  })

  test('is accepted up to the cap, and refused as a whole above it', () => {
    const cap = 1000n * 10n ** 6n
    expect(judge('0xF', cap, fxrp, FXRP_RATE)).toMatchObject({ ok: true })
    expect(judge('0xF', cap + 1n, fxrp, FXRP_RATE)).toEqual({ ok: false, reason: 'over_cap' })
  })

  test('of any amount and price has credits within the limits', () => {
    fc.assert(
      fc.property(amounts, keys, prices, (amountUnits, key, price) => {
        const topup = { asset: key, token: null }
        const verdict = judgePayment({
          asset: key,
          amountUnits,
          topup,
          rate: usdRateOf(key, price),
        })
        if (!verdict.ok) return
        const { credits: base, bonusCredits } = verdict.worth
        expect(Number.isSafeInteger(base) && base >= 1).toBe(true)
        expect(Number.isSafeInteger(bonusCredits) && bonusCredits >= 0).toBe(true)
        expect(base + bonusCredits).toBeLessThanOrEqual(TOPUP_CREDITS_MAX)
      }),
    )
  })
})

test.each([
  ['ERC20InsufficientAllowance', 'allowance'],
  ['ERC20: transfer amount exceeds allowance', 'allowance'],
  ['ERC20: insufficient allowance', 'allowance'],
  ['ERC20InsufficientBalance', 'balance'],
  ['ERC20: transfer amount exceeds balance', 'balance'],
  ['tecUNFUNDED_PAYMENT', 'balance'],
  ['IsPaused', 'paused'],
  ['Pausable: paused', 'paused'],
  ['TokenNotAllowed', 'token'],
  ['ZeroAmount', undefined],
  ['not paused', undefined],
  ['reverted', undefined],
])('the reason %s is the problem %s for a payer', (reason, problem) => {
  expect(payerProblem(reason)).toBe(problem)
})

test('the service’s own token has the symbol that the configuration gives', () => {
  expect(symbolOf('service', 'ABC')).toBe('ABC')
  expect(symbolOf('FXRP', 'ABC')).toBe('FXRP')
})

test('a wallet on the XRP Ledger gets address, exact amount and tag', () => {
  const link = new URL(
    xrpWalletLink('rQa5iZoN1aw2U7GuN5CygB31QMyJV7CJ5Z', 4_294_967_295, 4_000_001n),
  )
  expect(link.href).toContain(
    'https://xaman.app/detect/request:rQa5iZoN1aw2U7GuN5CygB31QMyJV7CJ5Z?',
  )
  expect(Object.fromEntries(link.searchParams)).toEqual({
    amount: '4.000001',
    network: 'XRPL',
    dt: '4294967295',
  })
})
