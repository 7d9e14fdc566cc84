/** Refunds of charges, which are retried when the database is not available. */

import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { storedAddress } from '#src/kernel/units.ts'
import { credit } from '../account/service.ts'
import { findEntry } from '../account/store.ts'
import {
  type Charge,
  LOST_STATEMENT_MS_MAX,
  PENDING_REFUNDS_MAX,
  type RefundResult,
} from './model.ts'
import { freeCallsLeft, refundReference } from './rules.ts'
import { refundFreeCalls } from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}

/** List of ledger entries that must still be refunded, in the memory of this process. */
export interface PendingRefunds {
  /** Adds entries, including entries that may or may not have been written. */
  add(references: readonly string[]): void
  /** Refunds as many entries as possible. @throws Error when the database does not answer */
  settle(): Promise<void>
  /** Tries once more to refund, and logs the remaining entries. */
  close(): Promise<void>
}

/** Creates an empty list of pending refunds. */
export function createPendingRefunds({ db, clock, log }: Deps): PendingRefunds {
  const pendingSince = new Map<string, Date>()

  async function settle(): Promise<void> {
    for (const [reference, since] of pendingSince) {
      const now = clock.now()
      const balance = await transact(db, (tx) => refundEntry(tx, reference, now))
      const isOver = now.getTime() - since.getTime() >= LOST_STATEMENT_MS_MAX
      if (balance !== undefined || isOver) pendingSince.delete(reference)
    }
  }

  return {
    add(references) {
      const free = PENDING_REFUNDS_MAX - pendingSince.size
      for (const reference of references.slice(0, free)) pendingSince.set(reference, clock.now())
      const lost = references.slice(Math.max(0, free))
      if (lost.length > 0)
        log.error(
          { references: lost },
          'credits of failed calls were not refunded; refund these ledger entries by hand',
        )
    },
    settle,
    async close() {
      await settle().catch(() => undefined)
      if (pendingSince.size > 0) {
        log.error(
          { references: [...pendingSince.keys()] },
          'credits of failed calls were not refunded; refund these ledger entries by hand',
        )
      }
    },
  }
}

/**
 * Refunds charges of one payer: either all free calls of one day, or all paid calls. Never rejects: paid
 * calls that cannot be refunded now are added to the pending refunds.
 */
export async function refundCharges(
  deps: Deps,
  charges: readonly [Charge, ...Charge[]],
  pendingRefunds: PendingRefunds,
): Promise<readonly RefundResult[]> {
  const [first] = charges
  try {
    if (first.kind === 'free') {
      const { subject, day } = first
      const counted = await refundFreeCalls(deps.db, subject, day, charges.length)
      return charges.map(() => ({ ok: true, freeLeft: freeCallsLeft(counted) }))
    }
    const references = referencesOf(charges)
    return await transact(deps.db, async (tx) => {
      const returned: RefundResult[] = []
      for (const reference of references) {
        const balanceCredits = await refundEntry(tx, reference, deps.clock.now())
        returned.push({ ok: true, ...(balanceCredits !== undefined && { balanceCredits }) })
      }
      return returned
    })
  } catch (error) {
    deps.log.warn(
      { calls: charges.length, problem: loggableError(error) },
      'charges of failed calls were not refunded yet; the next run tries again',
    )
    pendingRefunds.add(referencesOf(charges))
    return charges.map(() => ({ ok: false }))
  }
}

function referencesOf(charges: readonly Charge[]): readonly string[] {
  return charges.flatMap((charge) => (charge.kind === 'paid' ? charge.reference : []))
}

/**
 * Adds the credits that a `usage` entry took, once.
 *
 * @returns the balance; undefined when there is no such entry
 */
async function refundEntry(tx: Db, usage: string, at: Date): Promise<number | undefined> {
  const entry = await findEntry(tx, usage)
  if (entry === undefined) return undefined
  const { balanceCredits } = await credit(tx, {
    wallet: storedAddress(entry.wallet),
    type: 'refund',
    amountCredits: -entry.deltaCredits,
    reference: refundReference(usage),
    ...(entry.note !== null && { note: entry.note }),
    at,
  })
  return balanceCredits
}
