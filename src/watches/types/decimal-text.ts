import { parseUnits } from 'viem/utils'
import { textFormat } from '#src/kernel/text-format.ts'

/** Schema of a decimal number as text, with at most 18 decimals, from `minimum` to `maximum`. */
export function decimalBetween(minimum: string, maximum: string) {
  return textFormat(/^(0|[1-9]\d{0,15})(\.\d{1,18})?$/, () => ({ code: 'decimal' }))
    .refine((text) => parseUnits(text, 18) >= parseUnits(minimum, 18), {
      params: { code: 'too_small', minimum },
    })
    .refine((text) => parseUnits(text, 18) <= parseUnits(maximum, 18), {
      params: { code: 'too_big', maximum },
    })
}

/** Whether the first of two decimal texts is smaller. */
export function isLess(a: string, b: string): boolean {
  return parseUnits(a, 18) < parseUnits(b, 18)
}
