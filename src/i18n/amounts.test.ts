import fc from 'fast-check'
import { formatEther, parseEther } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { formatAmount, formatDisplayValue } from '#src/i18n/format.ts'
import type { DisplayValue } from '#src/kernel/display-values.ts'
import { formatAmounts, withRoundedAmounts } from './amounts.ts'

const flr = (units: bigint): DisplayValue => ({
  kind: 'amount',
  units,
  decimals: 18,
  symbol: 'FLR',
})

function shown(...amounts: readonly bigint[]): readonly string[] {
  const facts = Object.fromEntries(amounts.map((units, index) => [`a${index}`, flr(units)]))
  return Object.values(withRoundedAmounts(facts)).map((fact) => {
    if (fact.kind !== 'amount') throw new Error('not an amount')
    return formatAmount(fact, 'en').replace('\u00a0FLR', '')
  })
}

/** An amount and a typed limit, shown together. */
function besideLimit(units: bigint, value: string): readonly string[] {
  const facts = {
    balance: flr(units),
    threshold: { kind: 'decimal', value, symbol: 'FLR' } as const,
  }
  return Object.values(withRoundedAmounts(facts)).map((fact) =>
    formatDisplayValue(fact, { locale: 'en', timeZone: 'UTC' }).replace('\u00a0FLR', ''),
  )
}

describe('amounts of an alert', () => {
  test.each([
    ['8499.99994', '8,500'],
    ['12742.5', '12,742.5'],
    ['1.23456', '1.23'],
    ['0.123456', '0.1235'],
    ['0.00001234', '0.000012'],
    ['0', '0'],
  ])('are rounded as people read them: %s', (amount, text) => {
    expect(shown(parseEther(amount))).toEqual([text])
  })

  test.each([
    ['9999.99', '10000', ['9,999.99', '10,000']],
    ['9999.9996', '10000', ['9,999.9996', '10,000']],
    ['9999.999999999999999999', '10000', ['9,999.999999999999999999', '10,000']],
    ['9999.999999623456789012', '10000', ['9,999.9999996', '10,000']],
    ['10000', '10000', ['10,000', '10,000']],
  ])('stay different where they differ: %s and %s', (first, second, texts) => {
    expect(shown(parseEther(first), parseEther(second))).toEqual(texts)
  })

  test('are equal only if they are, and ordered as they are', () => {
    const units = fc.oneof(
      fc.bigInt(0n, 10n ** 24n),
      fc.bigInt(-(10n ** 15n), 10n ** 15n).map((less) => 10n ** 22n - less),
    )
    fc.assert(
      fc.property(units, units, (first, second) => {
        const [a, b] = shown(first, second).map((text) => parseEther(text.replaceAll(',', '')))
        if (a === undefined || b === undefined) throw new Error('no texts')
        expect(a < b).toBe(first < second)
        expect(a === b).toBe(first === second)
      }),
    )
  })

  test.each([
    ['7999.9999', '7,999.9999'],
    ['8000', '8,000'],
    ['8123.4567', '8,123.46'],
  ])('never read as a limit that they do not have: %s beside 8000', (amount, text) => {
    const threshold = { kind: 'decimal', value: '8000.0', symbol: 'FLR' } as const
    const { balance } = withRoundedAmounts({ balance: flr(parseEther(amount)), threshold })
    if (balance?.kind !== 'amount') throw new Error('not an amount')
    expect(formatAmount(balance, 'en')).toBe(`${text}\u00a0FLR`)
  })

  test.each([
    ['0.0002', '0.00015', '0.0002', '0.00015'],
    ['1', '1.00001', '1', '1.00001'],
    ['0.1234', '0.12344', '0.1234', '0.12344'],
    ['7999.996', '7999.998', '7,999.996', '7,999.998'],
    ['2', '0.000000000000000001', '2', '0.000000000000000001'],
    ['9999.99999', '9999.99999', '9,999.99999', '9,999.99999'],
  ])('%s beside a limit of %s leaves the limit as it was typed', (amount, value, text, limit) => {
    expect(besideLimit(parseEther(amount), value)).toEqual([text, limit])
  })

  test('are on the side of a limit on which they are', () => {
    const units = fc.oneof(
      fc.bigInt(0n, 10n ** 24n),
      fc.bigInt(-(10n ** 15n), 10n ** 15n).map((less) => 10n ** 22n - less),
      fc.bigInt(0n, 10n ** 15n),
    )
    fc.assert(
      fc.property(units, units, (amount, limit) => {
        const [shownAmount = '', shownLimit = ''] = besideLimit(amount, formatEther(limit))
        const read = parseEther(shownAmount.replaceAll(',', ''))
        expect(parseEther(shownLimit.replaceAll(',', ''))).toBe(limit)
        expect(read < limit).toBe(amount < limit)
        expect(read > limit).toBe(amount > limit)
      }),
    )
  })

  test('are the same in lists and pages as in an alert', () => {
    const coin = { decimals: 18, symbol: 'FLR' }
    const texts = (...amounts: readonly string[]) =>
      formatAmounts(
        amounts.map((amount) => ({ ...coin, units: parseEther(amount) })),
        'en',
      )
    expect(texts('7999.9999')).toEqual(['8,000\u00a0FLR'])
    expect(texts('7999.9999', '8000')).toEqual(['7,999.9999\u00a0FLR', '8,000\u00a0FLR'])
  })

  test('of different coins are rounded apart, and other values stay', () => {
    const wflr = {
      kind: 'amount',
      units: parseEther('10000'),
      decimals: 18,
      symbol: 'WFLR',
    } as const
    const name = { kind: 'name', text: '10000' } as const
    const facts = { before: flr(parseEther('9999.9999')), after: wflr, name }
    const rounded = withRoundedAmounts(facts)
    expect(rounded['before']).toMatchObject({ rounded: 'whole' })
    expect(rounded['name']).toBe(name)
  })
})
