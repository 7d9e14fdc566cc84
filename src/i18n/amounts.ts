/** Amounts as people read them, the same in messages, lists and pages. Pure. */
import { formatUnits } from 'viem/utils'
import type { DisplayValue, DisplayValues } from '#src/kernel/display-values.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { formatAmount, formatDecimal } from './format.ts'

type Amount = Extract<DisplayValue, { readonly kind: 'amount' }>
type Precision = Pick<Amount, 'rounded'>
type Decimal = Extract<DisplayValue, { readonly kind: 'decimal' }>

/**
 * Values that are shown together, with rounded amounts. Different amounts never have the same text, so an amount
 * below a limit does not read as the limit.
 */
export function withRoundedAmounts(facts: DisplayValues): DisplayValues {
  const compared = Object.values(facts).filter(isCompared)
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => {
      return [name, fact.kind === 'amount' ? readable(fact, compared) : fact]
    }),
  )
}

/** Texts of amounts that are shown together, rounded like those of an alert. */
export function formatAmounts(
  amounts: readonly Omit<Amount, 'kind'>[],
  locale: Locale,
): readonly string[] {
  const all = amounts.map((amount) => ({ ...amount, kind: 'amount' }) as const)
  return all.map((amount) => formatAmount(readable(amount, all), locale))
}

function isCompared(fact: DisplayValue): fact is Amount | Decimal {
  return fact.kind === 'amount' || fact.kind === 'decimal'
}

const SHORT: Precision = { rounded: 'whole' }
/** As people read amounts, then with as many decimals as tell them apart. */
const FORMS: readonly Precision[] = [
  SHORT,
  {},
  ...[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17].map((rounded) => ({ rounded })),
  { rounded: 'none' },
]

function readable(amount: Amount, all: readonly (Amount | Decimal)[]): Amount {
  const value = plainValue(amount)
  const alike = all.filter((other) => other.symbol === amount.symbol)
  // A typed decimal is shown with every digit, and so is an amount that equals it.
  if (alike.some((other) => other.kind === 'decimal' && plainValue(other) === value)) {
    return { ...amount, rounded: 'none' }
  }
  const others = alike.filter((other) => plainValue(other) !== value)
  const form = FORMS.find((how) => {
    const text = textOf(amount, how)
    return others.every((other) => textOf(other, how) !== text)
  })
  return { ...amount, ...(form ?? SHORT) }
}

/**
 * Text of a value in one precision, for comparison only. A decimal is compared in the precision of the amount,
 * although it is shown with every digit: if both texts differ, the amount reads as smaller or greater than the
 * decimal, as it is.
 */
function textOf(value: Amount | Decimal, how: Precision): string {
  return value.kind === 'amount'
    ? formatAmount({ ...value, ...how }, 'en')
    : formatDecimal({ ...value, ...how }, 'en')
}

/** The value in whole units, without zeros at its end. */
function plainValue(value: Amount | Decimal): string {
  const text = value.kind === 'amount' ? formatUnits(value.units, value.decimals) : value.value
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}
