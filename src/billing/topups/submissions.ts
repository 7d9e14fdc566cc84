/** Transactions that payers submit for their top-ups, followed until they pay or are given up. */
import type { BlockRef, Payment } from '#src/chain/chain.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import { storedAddress } from '#src/kernel/units.ts'
import { PENDING_TRANSACTION_SECONDS, TX_NOT_FOUND, UNKNOWN_TRANSACTION_SECONDS } from './model.ts'
import { type CursorRow, listPaymentsInTransaction, type PaymentRow } from './payment-store.ts'
import { findTopupOfPayment, readFacts, recordPayments } from './payments.ts'
import { chainOf, paymentAssetOf } from './rules.ts'
import { type FollowDeps, isChainUnavailable, startSettling } from './settle.ts'
import * as store from './store.ts'
import { findTopup, listWaitingSubmissions, type SubmissionRow, type TopupRow } from './store.ts'
import { hasUnexplainedCoins } from './unexplained.ts'

const SUBMISSIONS_PER_PASS = 50

/**
 * Reads and stores the state of a transaction that was submitted for a top-up, and settles its payments
 * that are deep enough.
 *
 * @returns false when the transaction pays another top-up; then nothing is stored
 * @throws AppError upstream `dependency_unavailable`
 */
export async function followTransaction(
  deps: FollowDeps,
  topup: TopupRow,
  { txHash, submittedAt }: Pick<SubmissionRow, 'txHash' | 'submittedAt'>,
  signal?: AbortSignal,
): Promise<boolean> {
  const { db, clock } = deps
  const facts = await readFacts(deps, topup, txHash, signal)
  const checkedAt = clock.now()
  const save = (state: SubmissionRow['state'], reason: string | null = null) =>
    store.saveSubmission(db, {
      handle: topup.handle,
      wallet: topup.wallet,
      txHash,
      state,
      reason,
      submittedAt,
      checkedAt,
    })
  if (facts.status === 'mined') {
    const { payments } = facts
    if (payments.some((payment) => names(topup, payment))) {
      await transact(db, (tx) => recordPayments(deps, tx, payments, checkedAt))
      await settleOpen(deps, await listPaymentsInTransaction(db, txHash), signal)
    } else if (await nameOurs(db, payments)) {
      await store.deleteSubmission(db, { handle: topup.handle, txHash })
      return false
    } else {
      // Its coins may still have arrived: the comparison of balances records them.
      const arrived = payments.length === 0 && (await hasArrived(deps, topup, facts.block, signal))
      const elsewhere = payments.length === 0 ? 'wrong_recipient' : 'unknown_reference'
      await save('rejected', arrived ? 'unsupported_transfer' : elsewhere)
    }
  } else if (facts.status === 'reverted') {
    await save('failed', facts.reason ?? 'reverted')
  } else if ((await listPaymentsInTransaction(db, txHash)).length === 0) {
    // If payments are stored, an endpoint that is ahead of this one has seen the transaction.
    const isOver = isGivenUp(facts.status, submittedAt, checkedAt)
    const isSeen = facts.status === 'pending' || (await wasSeen(db, topup, txHash))
    if (isOver) await save('dropped', TX_NOT_FOUND)
    else await save('submitted', isSeen ? null : TX_NOT_FOUND)
  }
  return true
}

/** Whether a contract sent coins for a top-up in FLR in the block of a transaction that was submitted for it. */
async function hasArrived(
  deps: FollowDeps,
  { asset, payTo }: TopupRow,
  block: BlockRef,
  signal?: AbortSignal,
): Promise<boolean> {
  if (paymentAssetOf(asset).way !== 'native') return false
  return await hasUnexplainedCoins(deps, storedAddress(payTo), block.number, signal)
}

/**
 * Whether an endpoint has known the transaction before: then it is pending, and the payer should not pay
 * again.
 */
async function wasSeen(db: Db, { handle }: TopupRow, txHash: string): Promise<boolean> {
  const submission = await store.findSubmission(db, { handle, txHash })
  return submission?.state === 'submitted' && submission.reason === null
}

/** Whether the search for a transaction that is in no block has ended. */
function isGivenUp(status: 'unknown' | 'pending', submittedAt: Date, now: Date): boolean {
  const seconds = status === 'unknown' ? UNKNOWN_TRANSACTION_SECONDS : PENDING_TRANSACTION_SECONDS
  return now.getTime() - submittedAt.getTime() > seconds * 1000
}

function names(topup: TopupRow, { handle, tag }: Payment): boolean {
  if (handle !== null) return handle === topup.handle
  return tag !== null && tag === topup.destinationTag
}

/** Whether any of the payments names a known top-up. */
async function nameOurs(db: Db, payments: readonly Payment[]): Promise<boolean> {
  const named = await Promise.all(payments.map((payment) => findTopupOfPayment(db, payment)))
  return named.some((topup) => topup !== undefined)
}

/**
 * Settles payments that are deep enough; the block of each is checked again before. If a block was
 * replaced, the service looks for its payments again. A failed payment does not stop the others.
 *
 * @throws AppError upstream when a chain does not answer, after all other payments were settled
 */
async function settleOpen(deps: FollowDeps, rows: readonly PaymentRow[], signal?: AbortSignal) {
  const settling = startSettling(deps)
  await settling.settle(rows, signal)
  settling.end()
}

/**
 * Looks for transactions that were submitted for a top-up and are in no block yet. Takes one transaction of
 * each wallet before the second of any wallet; a chain that does not respond is asked once.
 *
 * @throws AppError upstream `dependency_unavailable` when a chain does not respond, after all other
 * transactions were looked for
 */
export async function followSubmittedTransactions(
  deps: FollowDeps,
  signal: AbortSignal,
): Promise<void> {
  const down = new Map<CursorRow['chain'], unknown>()
  const { quarantine } = deps
  const idOf = ({ handle, txHash }: SubmissionRow) => `${handle} ${txHash}`
  const waiting = await listWaitingSubmissions(deps.db, SUBMISSIONS_PER_PASS)
  await isolateEach(waiting, { quarantine, kind: 'submission', idOf }, async (submission) => {
    if (signal.aborted) return
    const topup = await findTopup(deps.db, submission.handle)
    if (topup === undefined) throw new Error(`a submission without a top-up: ${submission.handle}`)
    const chain = chainOf(topup.asset)
    if (down.has(chain)) return
    await followTransaction(deps, topup, submission, signal).catch((error: unknown) => {
      if (!isChainUnavailable(error)) throw error
      down.set(chain, error)
    })
  })
  for (const error of down.values()) throw error
}
