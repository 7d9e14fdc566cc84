/** Payments as the chains show them: what a transaction paid, and the rows that are stored of it. */
import type { Chain, Payment, PaymentTransactionStatus } from '#src/chain/chain.ts'
import type { Xrpl } from '#src/chain/xrpl/xrpl.ts'
import type { Db } from '#src/db/connection.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { storedAddress } from '#src/kernel/units.ts'
import * as authorizations from './authorization-store.ts'
import type { PaymentSetup } from './model.ts'
import * as payments from './payment-store.ts'
import { paymentAssetOf } from './rules.ts'
import type { TopupRow } from './store.ts'
import * as store from './store.ts'

/**
 * Stores payments with their current blocks, each once. Known payments of the same transaction, or of the same
 * authorization in another transaction, that were in another block move to the current block.
 *
 * A settled payment stays settled, even if its block is replaced afterwards.
 */
export async function recordPayments(
  { log }: { readonly log: Logger },
  tx: Db,
  newPayments: readonly Payment[],
  seenAt: Date,
): Promise<void> {
  const matched = new Set<payments.PaymentRow>()
  for (const payment of newPayments) {
    const topup = await findTopupOfPayment(tx, payment)
    const authorized = payment.way === 'authorization' ? topup?.handle : undefined
    // Two processes may see its transfer in two transactions, of two branches of the chain.
    if (authorized !== undefined) await store.lockTopup(tx, authorized)
    const origin = { txHash: payment.txHash, authorized }
    const gone = await payments.deleteMovedPayments(tx, origin, payment.block.hash)
    const known = await payments.listPaymentsFrom(tx, origin)
    const settled = known.filter(({ settledAt }) => settledAt !== null)
    const moved = settled.find((row) => {
      return !isListed(matched, row) && row.blockHash !== payment.block.hash && isSame(row, payment)
    })
    if (moved !== undefined) {
      matched.add(moved)
      const { txHash, logIndex } = payment
      log.error(
        { txHash, logIndex },
        'block of a settled payment was replaced; the payment stays settled',
      )
      continue
    }
    await payments.savePayment(tx, toRow(payment, topup, seenAt))
    const isKnown = known.some(({ logIndex }) => logIndex === payment.logIndex)
    await payments.notifyTopups(tx, isKnown ? gone : [...gone, { handle: topup?.handle ?? null }])
    if (topup !== undefined) {
      await store.deleteSubmission(tx, { handle: topup.handle, txHash: payment.txHash })
    }
  }
}

function isListed(rows: ReadonlySet<payments.PaymentRow>, row: payments.PaymentRow): boolean {
  return [...rows].some(
    ({ txHash, logIndex }) => txHash === row.txHash && logIndex === row.logIndex,
  )
}

/**
 * Whether a stored payment of a transaction and another payment are the same; their index in the block may
 * differ.
 */
function isSame(row: payments.PaymentRow, { handle, tag, asset, amountUnits }: Payment): boolean {
  const reference = handle ?? (tag === null ? null : String(tag))
  return row.reference === reference && row.asset === asset && row.amountUnits === amountUnits
}

/** The top-up that a payment names; undefined if there is none. */
export async function findTopupOfPayment(
  db: Db,
  { way, handle, tag, payer, asset }: Pick<Payment, 'way' | 'handle' | 'tag' | 'payer' | 'asset'>,
): Promise<TopupRow | undefined> {
  if (way === 'authorization') {
    return authorizations.findAuthorization(db, {
      wallet: payer,
      token: asset,
      nonce: handle ?? '',
    })
  }
  if (handle !== null) return store.findTopup(db, handle)
  return tag === null ? undefined : store.findTopupByTag(db, tag)
}

function toRow(
  { txHash, logIndex, way, handle, tag, payer, asset, amountUnits, block }: Payment,
  topup: TopupRow | undefined,
  seenAt: Date,
): payments.NewPayment {
  return {
    txHash,
    logIndex,
    way,
    handle: topup?.handle ?? null,
    reference: handle ?? (tag === null ? null : String(tag)),
    payer,
    asset,
    amountUnits,
    blockNumber: block.number,
    blockHash: block.hash,
    blockAt: block.at,
    seenAt,
  }
}

/** Where the transactions of payments are read. */
interface PaymentSources {
  readonly chain: Chain
  readonly xrpl: Xrpl | undefined
  readonly billing: { readonly payments: PaymentSetup }
}

/**
 * What the chain of a top-up's asset says about a transaction.
 * @throws AppError upstream `dependency_unavailable`
 */
export async function readFacts(
  { chain, xrpl, billing }: PaymentSources,
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

/** A hash from our own tables: it was validated before it was written. */
export function storedHash(text: string): `0x${string}` {
  return `0x${text.slice(2)}`
}
