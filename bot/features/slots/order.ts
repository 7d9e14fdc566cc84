import { SlotQuoteQuery } from '#src/billing/subscriptions/model.ts'
import { parseInput } from '#src/kernel/validation.ts'

/**
 * Refuses an order that the price of slots does not know, as only a forged press has it.
 * @throws AppError invalid `validation_failed`
 */
export function requireOrder(asked: { readonly quantity: number; readonly periods: number }): void {
  const query = { quantity: String(asked.quantity), periods: String(asked.periods) }
  const parsed = parseInput(SlotQuoteQuery, query)
  if (!parsed.success) throw parsed.error
}
