/** Refunds of charges, which are retried when the database is not available. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
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
import { refundFreeCall } from './store.ts'

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

/** Refunds the charge of one call: the free call, or the credits with an entry `refund`, once. */
export async function refundCharge(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  charge: Charge,
): Promise<RefundResult> {
  if (charge.kind === 'free') {
    const counted = await refundFreeCall(db, charge.subject, charge.day)
    return { ok: true, freeLeft: freeCallsLeft(counted) }
  }
  const { reference } = charge
  const balanceCredits = await transact(db, (tx) => refundEntry(tx, reference, clock.now()))
  return { ok: true, ...(balanceCredits !== undefined && { balanceCredits }) }
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
