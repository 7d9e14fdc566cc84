/** Which wallets run out of credits next, for the operator. */
import type { Db } from '#src/db/connection.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { listSpending, type SpendingRow } from './running-out-store.ts'
import { priceSlots } from './subscriptions/rules.ts'

/** Days whose metered calls are the measure of the next ones. */
const MEASURED_DAYS = 7

/** A wallet that runs out. */
export interface RunningOut {
  readonly wallet: Address
  readonly balanceCredits: number
  /** Credits of metered calls a day. */
  readonly creditsPerDay: number
  /** When the balance does not cover what is due. */
  readonly at: Date
  /** `calls`: metered calls use it up; `renewal`: it does not cover a renewal. */
  readonly cause: 'calls' | 'renewal'
  /** Credits that are missing then; 0 for calls. */
  readonly missingCredits: number
}

/** The wallets that run out within some days if they go on as in the last week, the next one first. */
export async function listRunningOut(
  db: Db,
  { now, days }: { readonly now: Date; readonly days: number },
): Promise<readonly RunningOut[]> {
  const until = new Date(now.getTime() + days * DAY_MS)
  const since = new Date(now.getTime() - MEASURED_DAYS * DAY_MS)
  const rows = await listSpending(db, { since, until })
  return rows
    .flatMap((row) => whenOut(row, { now, until }) ?? [])
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || (a.wallet < b.wallet ? -1 : 1))
}

/** When a wallet runs out; undefined if it does not before `until`. Pure. */
export function whenOut(
  { wallet, balanceCredits, usedCredits, renewals }: SpendingRow,
  { now, until }: { readonly now: Date; readonly until: Date },
): RunningOut | undefined {
  const creditsPerDay = Math.max(0, usedCredits) / MEASURED_DAYS
  const usedBy = (at: Date) => (Math.max(0, at.getTime() - now.getTime()) / DAY_MS) * creditsPerDay
  const found = { wallet, balanceCredits, creditsPerDay: Math.round(creditsPerDay) }
  let left = balanceCredits
  const emptyAt = () =>
    creditsPerDay === 0 ? undefined : new Date(now.getTime() + (left / creditsPerDay) * DAY_MS)
  for (const { at, quantity, periods } of renewals) {
    const empty = emptyAt()
    if (empty !== undefined && empty < at)
      return { ...found, at: empty, cause: 'calls', missingCredits: 0 }
    const price = priceSlots(quantity, periods).totalCredits
    const missing = Math.ceil(price - (left - usedBy(at)))
    if (missing > 0) return { ...found, at, cause: 'renewal', missingCredits: missing }
    left -= price
  }
  const empty = emptyAt()
  if (empty === undefined || empty > until) return undefined
  return { ...found, at: empty, cause: 'calls', missingCredits: 0 }
}
