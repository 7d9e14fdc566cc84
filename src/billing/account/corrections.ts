/** Entries that an operator writes: corrections, and refunds of what an entry took. Each is written once per reference. */
import type { Db } from '#src/db/connection.ts'
import { OperatorError } from '#src/kernel/operator-error.ts'
import type { Address } from '#src/kernel/units.ts'
import { refundReference } from '../metering/rules.ts'
import type { LedgerType } from './model.ts'
import { credit, debit } from './service.ts'
import * as store from './store.ts'

/** What an entry of an operator did. */
export interface Correction {
  readonly reference: string
  readonly deltaCredits: number
  readonly balanceCredits: number
  /** False when the same entry was written before. */
  readonly isNew: boolean
}

/**
 * Adds credits, or takes them if the number is negative.
 *
 * @param input `reference`: unique name of the cause, such as the number of a support request
 * @throws OperatorError when the reference was used for something else, or the balance is too low
 */
export async function correctBalance(
  tx: Db,
  input: {
    readonly wallet: Address
    readonly credits: number
    readonly reference: string
    readonly note: string
    readonly at: Date
  },
): Promise<Correction> {
  const { wallet, credits, note, at } = input
  const reference = `operator:${input.reference}`
  await store.lockAccount(tx, wallet)
  await refuseOther(tx, { wallet, type: 'adjustment', deltaCredits: credits, reference })
  const entry = { wallet, type: 'adjustment', note, at, reference } as const
  if (credits > 0) {
    const posted = await credit(tx, { ...entry, amountCredits: credits })
    return { reference, deltaCredits: credits, ...posted }
  }
  const posted = await debit(tx, { ...entry, amountCredits: -credits })
  if (!posted.ok) {
    throw new OperatorError(`the wallet has ${posted.balanceCredits} credits, not ${-credits}`)
  }
  const { balanceCredits, isNew } = posted
  return { reference, deltaCredits: credits, balanceCredits, isNew }
}

/**
 * Gives back what an entry took, once, whoever refunds it: the reference is that of automatic refunds.
 *
 * @throws OperatorError when there is no such entry, or it took nothing
 */
export async function refundEntryAt(
  tx: Db,
  input: {
    readonly wallet: Address
    /** Number of the entry, its `id` in `GET /account`. */
    readonly position: number
    readonly note: string
    readonly at: Date
  },
): Promise<Correction> {
  const { wallet, position, note, at } = input
  const entry = await store.findEntryAt(tx, wallet, position)
  if (entry === undefined)
    throw new OperatorError(`the ledger of ${wallet} has no entry ${position}`)
  const { deltaCredits, reference: refunded, type } = entry
  if (deltaCredits >= 0) {
    throw new OperatorError(
      `entry ${position} (${type}) added ${deltaCredits} credits; there is nothing to refund`,
    )
  }
  const reference = refundReference(refunded)
  const posted = await credit(tx, {
    ...{ wallet, type: 'refund', amountCredits: -deltaCredits, reference, note, at },
  })
  return { reference, deltaCredits: -deltaCredits, ...posted }
}

/** @throws OperatorError when another change has the reference */
async function refuseOther(
  tx: Db,
  change: {
    readonly wallet: Address
    readonly type: LedgerType
    readonly deltaCredits: number
    readonly reference: string
  },
): Promise<void> {
  const existing = await store.findEntry(tx, change.reference)
  if (existing === undefined) return
  const isSame =
    existing.wallet === change.wallet &&
    existing.type === change.type &&
    existing.deltaCredits === change.deltaCredits
  if (isSame) return
  throw new OperatorError(
    `the reference was used before, for ${existing.deltaCredits} credits of ${existing.wallet}; choose another one`,
  )
}
