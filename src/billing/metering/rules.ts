import { DAY_MS } from '#src/kernel/durations.ts'
import { storedAddress } from '#src/kernel/units.ts'
import { FREE_TIER_DAILY_CALLS } from '../price-list.ts'
import type { CallSettlement, ChargeOutcome } from './model.ts'

/** The UTC day of an instant, `YYYY-MM-DD`. */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/** The next midnight in UTC, when the free calls are renewed. */
export function nextUtcDay(at: Date): Date {
  return new Date((Math.floor(at.getTime() / DAY_MS) + 1) * DAY_MS)
}

/** Free calls left after `countedCalls`, which may be above the limit. */
export function freeCallsLeft(countedCalls: number): number {
  return Math.max(0, FREE_TIER_DAILY_CALLS - countedCalls)
}

/** Prefix of the references of a batch's ledger entries; the number of the paid call follows. */
export function usageReferencePrefix(batch: string): string {
  return `usage:${batch}:`
}

/** Reference of the ledger entry of the `number`th paid call of a batch, from 1 on. */
export function usageReference(batch: string, number: number): string {
  return `${usageReferencePrefix(batch)}${number}`
}

/** Reference of the entry that refunds the entry `usage`. */
export function refundReference(usage: string): string {
  return `refund:${usage}`
}

/**
 * Outcomes of the calls of a batch, in order: first the free calls, then the paid calls with the balance
 * after each ledger entry, then the refused calls.
 */
export function listCallOutcomes(
  settlement: CallSettlement,
  calls: number,
): readonly ChargeOutcome[] {
  const { subject, day, priceCredits, batch, free, paid, balanceBeforeCredits } = settlement
  return Array.from({ length: calls }, (_, index): ChargeOutcome => {
    const freeLeft = Math.max(0, settlement.freeLeftBefore - index - 1)
    const number = index - free + 1
    if (number < 1) {
      const charge = { kind: 'free', subject, day } as const
      return { ok: true, charge, balanceCredits: balanceBeforeCredits, freeLeft }
    }
    const balanceCredits = balanceBeforeCredits - Math.min(number, paid) * priceCredits
    if (number > paid) return { ok: false, reason: 'payment_required', balanceCredits, freeLeft }
    const wallet = storedAddress(subject)
    const reference = usageReference(batch, number)
    const charge = { kind: 'paid', wallet, reference, priceCredits } as const
    return { ok: true, charge, balanceCredits, freeLeft }
  })
}
