import type { BlockRef, Payment, PaymentTransactionStatus } from '#src/chain/chain.ts'
import type { Xrpl } from '#src/chain/xrpl.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import { storedAddress } from '#src/kernel/units.ts'
import { internalTransfersAt, recordSubmittedTransfers } from './balance-comparison.ts'
import {
  type PaymentSetup,
  PENDING_TRANSACTION_SECONDS,
  TX_NOT_FOUND,
  UNKNOWN_TRANSACTION_SECONDS,
} from './model.ts'
import {
  deleteOpenPayments,
  listPaymentsInTransaction,
  notifyOpenFlarePayments,
  type PaymentRow,
  saveTip,
} from './payment-store.ts'
import { findTopupOfPayment, recordPayments, type SettleDeps, settlePayment } from './payments.ts'
import { paymentAssetOf, requiredConfirmations, XRPL_CONFIRMATIONS } from './rules.ts'
import type { SubmissionRow, TopupRow } from './store.ts'
import * as store from './store.ts'

/** What is needed to follow the transactions of top-ups and to settle their payments. */
export interface FollowDeps extends SettleDeps {
  readonly quarantine: Quarantine
  readonly xrpl: Xrpl | undefined
  readonly confirmations: number
  readonly billing: SettleDeps['billing'] & { readonly payments: PaymentSetup }
}

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
      const internal =
        payments.length === 0 ? await readInternal(deps, topup, facts.block, signal) : []
      const reached = internal.filter(
        (payment) => payment.txHash === txHash || payment.txHash === payment.block.hash,
      )
      // Payments that arrived are logged when they are deep enough, as all unmatched payments are.
      if (reached.length > 0) {
        const payTo = storedAddress(topup.payTo)
        await transact(db, (tx) => recordSubmittedTransfers(deps, tx, payTo, reached))
        await save('rejected', 'unsupported_transfer')
      } else {
        await save('rejected', payments.length === 0 ? 'wrong_recipient' : 'unknown_reference')
      }
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

/** Coins that a contract sent in the block of a transaction that was submitted for a top-up in FLR. */
async function readInternal(
  deps: FollowDeps,
  { asset, payTo }: TopupRow,
  block: BlockRef,
  signal?: AbortSignal,
): Promise<readonly Payment[]> {
  if (paymentAssetOf(asset).way !== 'native') return []
  return await internalTransfersAt(deps, storedAddress(payTo), block.number, signal)
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

async function readFacts(
  { chain, xrpl, billing }: FollowDeps,
  topup: Pick<TopupRow, 'asset' | 'token' | 'payTo' | 'contractPayTo'>,
  txHash: string,
  signal?: AbortSignal,
): Promise<PaymentTransactionStatus> {
  const { way } = paymentAssetOf(topup.asset)
  if (way === 'xrpl') return readLedger(xrpl, txHash, signal)
  const { router, nativePayTo } = billing.payments
  // The destination of the quote, because the configuration may have changed since.
  const to = storedAddress(topup.payTo)
  const through = topup.contractPayTo === null ? router : storedAddress(topup.contractPayTo)
  const destinations =
    way === 'router' ? { router: to, payTo: nativePayTo } : { router: through, payTo: to }
  return chain.transactionPayments(storedHash(txHash), destinations, signal)
}

function readLedger(
  xrpl: Xrpl | undefined,
  txHash: string,
  signal?: AbortSignal,
): Promise<PaymentTransactionStatus> {
  if (xrpl === undefined) throw new AppError('upstream', 'dependency_unavailable')
  return xrpl.transaction(txHash, signal)
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
 * Settles payments page by page. A payment that fails is put into quarantine; while Flare does not answer,
 * only deposits on the XRP Ledger are settled.
 *
 * `end` throws the first failure of a chain.
 */
export function startSettling(deps: FollowDeps): {
  settle(rows: readonly PaymentRow[], signal?: AbortSignal): Promise<void>
  end(): void
} {
  const idOf = ({ txHash, logIndex }: PaymentRow) => `${txHash} ${logIndex}`
  const options = { quarantine: deps.quarantine, kind: 'payment', idOf }
  let tip: number | undefined
  let down: { readonly error: unknown } | undefined
  return {
    settle: async (rows, signal) => {
      const open = rows.filter(({ settledAt }) => settledAt === null)
      await isolateEach(open, options, async (row) => {
        signal?.throwIfAborted()
        if (down !== undefined && row.way !== 'xrpl') return
        try {
          if (row.way === 'xrpl') await settlePayment(deps, row, XRPL_CONFIRMATIONS, signal)
          else {
            tip ??= await readTip(deps, signal)
            await settleOnFlare(deps, row, tip, signal)
          }
        } catch (error) {
          if (!isChainUnavailable(error)) throw error
          down ??= { error }
        }
      })
    },
    end: () => {
      if (down !== undefined) throw down.error
    },
  }
}

/** Whether the error is an unreachable chain. */
export function isChainUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'upstream'
}

async function readTip({ db, chain }: FollowDeps, signal?: AbortSignal): Promise<number> {
  const { number } = await chain.confirmedBlock(1, signal)
  if (await saveTip(db, 'flare', number)) await notifyOpenFlarePayments(db)
  return number
}

async function settleOnFlare(
  deps: FollowDeps,
  row: PaymentRow,
  tip: number,
  signal?: AbortSignal,
): Promise<void> {
  const block = await deps.chain.blockAt(row.blockNumber, signal)
  if (block === undefined) return
  if (block.hash !== row.blockHash) return relocate(deps, row, signal)
  const confirmations = tip - row.blockNumber + 1
  if (confirmations < requiredConfirmations(row.way, deps.confirmations)) return
  await settlePayment(deps, row, confirmations, signal)
}

/**
 * Looks again for a transaction whose block was replaced. Its payments move to its new block; if it has none now, it is
 * followed as a submitted transaction.
 */
async function relocate(deps: FollowDeps, row: PaymentRow, signal?: AbortSignal): Promise<void> {
  const { db, clock, log, billing } = deps
  const topup = row.handle === null ? undefined : await store.findTopup(db, row.handle)
  const { router, nativePayTo: payTo } = billing.payments
  const facts =
    topup === undefined
      ? await deps.chain.transactionPayments(storedHash(row.txHash), { router, payTo }, signal)
      : await readFacts(deps, topup, row.txHash, signal)
  const now = clock.now()
  log.warn(
    { txHash: row.txHash, status: facts.status },
    'block of a payment was replaced; the service looks for the payment again',
  )
  await transact(db, async (tx) => {
    if (facts.status === 'mined' && facts.payments.length > 0) {
      return recordPayments(deps, tx, facts.payments, now)
    }
    const lost = await deleteOpenPayments(tx, row.txHash)
    for (const handle of new Set(lost.flatMap(({ handle }) => handle ?? []))) {
      const wallet = (await store.findTopup(tx, handle))?.wallet
      if (wallet === undefined) continue
      const named = { handle, wallet, txHash: row.txHash, submittedAt: now, checkedAt: now }
      await store.saveSubmission(tx, { ...named, ...stateOf(facts) })
    }
  })
}

function stateOf(facts: PaymentTransactionStatus): Pick<SubmissionRow, 'state' | 'reason'> {
  if (facts.status === 'reverted') return { state: 'failed', reason: facts.reason ?? 'reverted' }
  if (facts.status === 'mined') return { state: 'rejected', reason: 'wrong_recipient' }
  return { state: 'submitted', reason: null }
}

/** A hash from our own tables: it was validated before it was written. */
function storedHash(text: string): `0x${string}` {
  return `0x${text.slice(2)}`
}
