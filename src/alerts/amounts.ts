/** Amounts of an alert as people read them. Pure. */
import { formatAmount } from '#src/i18n/format.ts'
import type { DisplayValue, DisplayValues } from '#src/kernel/display-values.ts'

type Amount = Extract<DisplayValue, { readonly kind: 'amount' }>

/**
 * The values of an alert with rounded amounts. Different amounts stay different: what is below a limit never reads as
 * the limit.
 */
export function withRoundedAmounts(facts: DisplayValues): DisplayValues {
  const amounts = Object.values(facts).filter((fact) => fact.kind === 'amount')
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => {
      return [name, fact.kind === 'amount' ? readable(fact, amounts) : fact]
    }),
  )
}

function readable(amount: Amount, all: readonly Amount[]): Amount {
  const others = all.filter(
    ({ units, symbol }) => symbol === amount.symbol && units !== amount.units,
  )
  const short = { rounded: 'whole' } as const
  const forms = [short, {}, { rounded: 'none' }] as const
  const form = forms.find((how) => {
    const text = formatAmount({ ...amount, ...how }, 'en')
    return others.every((other) => formatAmount({ ...other, ...how }, 'en') !== text)
  })
  return { ...amount, ...(form ?? short) }
}
