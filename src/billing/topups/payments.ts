import { type Chain, OTHER_LOG_INDEX, type Payment } from '#src/chain/chain.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { credit, readBalance, type Terms } from '../account/service.ts'
import type { AssetKey } from '../price-list.ts'
import type { PaymentRefusal } from './model.ts'
import type { PaymentOptions } from './payment-options.ts'
import type { PaymentRow } from './payment-store.ts'
import * as payments from './payment-store.ts'
import { carryOutPurchase, type PurchaseOutcome } from './purchases.ts'
import {
  type CreditRate,
  type CreditsWithBonus,
  exceedsPriceLock,
  judgePayment,
  type PaymentVerdict,
  usdRateOf,
} from './rules.ts'
import type { TopupRow } from './store.ts'
import * as store from './store.ts'

/** A payment that was credited. */
export interface CreditedPayment {
  readonly wallet: Address
  readonly handle: string
  readonly txHash: string
  readonly logIndex: number
  readonly asset: AssetKey
  readonly amountUnits: bigint
  readonly credits: number
  readonly bonusCredits: number
  /** Balance of the wallet, after the bonus and the purchase. */
  readonly balanceCredits: number
  /** The purchase that followed; null if there was none. */
  readonly purchase: PurchaseOutcome | null
  readonly at: Date
}

/** Listener that notifies the wallet's owner, in the transaction that credits the payment. */
interface PaymentListener {
  credited(tx: Db, payment: CreditedPayment): Promise<void>
}

/** Dependencies of settling a payment. */
export interface SettleDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  readonly chain: Chain
  readonly paymentOptions: PaymentOptions
  readonly notices: PaymentListener
  readonly billing: { readonly enabled: boolean; readonly terms: Terms }
}

/**
 * Stores payments with their current blocks, each once. Known payments of the same transaction that were in
 * another block move to the current block.
 *
 * A settled payment stays settled, even if its block is replaced afterwards.
 */
export async function recordPayments(
  { log }: Pick<SettleDeps, 'log'>,
  tx: Db,
  newPayments: readonly Payment[],
  seenAt: Date,
): Promise<void> {
  const matched = new Set<payments.PaymentRow>()
  for (const payment of newPayments) {
    const gone = await payments.deleteMovedPayments(tx, payment.txHash, payment.block.hash)
    const known = await payments.listPaymentsInTransaction(tx, payment.txHash)
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
    const topup = await findTopupOfPayment(tx, payment)
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
  { handle, tag }: Pick<Payment, 'handle' | 'tag'>,
): Promise<TopupRow | undefined> {
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

/**
 * Credits a payment, or stores it as unmatched, once even with concurrent calls. The caller must have
 * checked that the payment's block is deep enough and still part of the chain.
 *
 * A late payment, or the part beyond the locked amount, is credited at the current price; while there is no
 * price the payment stays open.
 */
export async function settlePayment(
  deps: SettleDeps,
  payment: PaymentRow,
  confirmations: number,
  signal?: AbortSignal,
): Promise<void> {
  const { db, clock, log } = deps
  const topup = payment.handle === null ? undefined : await store.findTopup(db, payment.handle)
  const pricing =
    topup !== undefined && !isUnsupported(payment)
      ? await pricingOf(deps, topup, payment, signal)
      : undefined
  const { txHash, logIndex, asset, payer, reference } = payment
  const fields = { txHash, logIndex, handle: payment.handle, reference, asset, payer }
  if (topup !== undefined && pricing === undefined && !isUnsupported(payment)) {
    log.warn(fields, 'payment waits for a price')
    return
  }
  const at = clock.now()
  const verdict = await transact(db, async (tx) => {
    const judged = await judge(tx, { payment, topup, pricing })
    const isDone = await write(deps, tx, { payment, topup, verdict: judged, confirmations, at })
    return isDone ? judged : undefined
  })
  if (verdict === undefined) return
  const amount = payment.amountUnits.toString()
  if (verdict.ok) log.info({ ...fields, amount, ...verdict.worth }, 'payment credited')
  else
    log.error(
      { ...fields, amount, reason: verdict.reason },
      'payment was not credited; an operator must look at it',
    )
}

interface Settlement {
  readonly payment: PaymentRow
  readonly topup: TopupRow | undefined
  readonly verdict: PaymentVerdict
  readonly confirmations: number
  readonly at: Date
}

/** Writes, in one transaction, the payment with its ledger entries and notice, or the unmatched payment. */
async function write(
  deps: SettleDeps,
  tx: Db,
  { payment, topup, verdict, confirmations, at }: Settlement,
): Promise<boolean> {
  const worth = verdict.ok ? verdict.worth : { credits: null, bonusCredits: null }
  const isFirst = await payments.markPaymentSettled(tx, payment, {
    settledAt: at,
    confirmations,
    ...worth,
  })
  if (!isFirst) return false
  if (!verdict.ok) await keepUnmatched(tx, payment, verdict.reason, at)
  else if (topup !== undefined) {
    const settled = { payment, topup, worth: verdict.worth, at }
    const credited = await addCredits(tx, settled)
    const purchase = await carryOutPurchase(deps, tx, topup.handle)
    const { balanceCredits } = await readBalance(tx, credited.wallet)
    await deps.notices.credited(tx, { ...credited, balanceCredits, purchase })
  }
  return true
}

async function keepUnmatched(
  tx: Db,
  { txHash, logIndex }: PaymentRow,
  reason: PaymentRefusal,
  foundAt: Date,
): Promise<void> {
  await store.insertUnmatched(tx, { txHash, logIndex, reason, foundAt })
}

/** Credits the paid amount, and the bonus as a separate ledger entry. */
async function addCredits(
  tx: Db,
  settled: {
    readonly payment: PaymentRow
    readonly topup: TopupRow
    readonly worth: CreditsWithBonus
    readonly at: Date
  },
): Promise<Omit<CreditedPayment, 'balanceCredits' | 'purchase'>> {
  const { payment, topup, worth, at } = settled
  const { handle, asset } = topup
  const { txHash, logIndex, amountUnits } = payment
  const wallet = storedAddress(topup.wallet)
  const name = `${handle}:${txHash}:${logIndex}`
  const paid = { type: 'topup', amountCredits: worth.credits } as const
  const bonus = { type: 'bonus', amountCredits: worth.bonusCredits } as const
  await credit(tx, { wallet, at, ...paid, reference: `topup:${name}` })
  if (worth.bonusCredits > 0) {
    await credit(tx, { wallet, at, ...bonus, reference: `bonus:${name}` })
  }
  return { wallet, handle, txHash, logIndex, asset, amountUnits, ...worth, at }
}

/** Whether the payment arrived without the event or transfer that identifies a payment. */
function isUnsupported({ logIndex }: Pick<PaymentRow, 'logIndex'>): boolean {
  return logIndex === OTHER_LOG_INDEX
}

/** Rates at which a payment is credited. */
interface Pricing {
  readonly rate: CreditRate
  /** Rate of the part beyond the locked amount; undefined where `rate` applies to the whole payment. */
  readonly beyond: CreditRate | undefined
}

/**
 * Judges a payment. If a part of it is beyond the amount of the quote, its top-up's row is locked (`FOR UPDATE`) before
 * the other payments are summed, so that concurrent payments do not use the same amount at the locked price.
 */
async function judge(
  tx: Db,
  {
    payment,
    topup,
    pricing,
  }: {
    readonly payment: PaymentRow
    readonly topup: TopupRow | undefined
    readonly pricing: Pricing | undefined
  },
): Promise<PaymentVerdict> {
  const { asset, amountUnits } = payment
  if (isUnsupported(payment)) {
    return judgePayment({ asset, amountUnits, topup, rate: undefined, isUnsupported: true })
  }
  const beyond = pricing?.beyond
  if (topup === undefined || beyond === undefined) {
    return judgePayment({ asset, amountUnits, topup, rate: pricing?.rate })
  }
  await store.lockTopup(tx, topup.handle)
  const usedUnits = await payments.sumPaid(tx, payment, topup.expiresAt, 'credited')
  const lock = { quoteUnits: topup.amountUnits, usedUnits, beyond }
  return judgePayment({ asset, amountUnits, topup, rate: pricing?.rate, lock })
}

/**
 * The locked rate of a payment whose block was in time, or else the current rate. Undefined while a current
 * rate is needed and unavailable.
 */
async function pricingOf(
  { db, paymentOptions }: SettleDeps,
  topup: TopupRow,
  payment: PaymentRow,
  signal?: AbortSignal,
): Promise<Pricing | undefined> {
  const isLate = payment.blockAt > topup.expiresAt
  const others = isLate ? 0n : await payments.sumPaid(db, payment, topup.expiresAt, 'all')
  const isBeyond = exceedsPriceLock(topup.amountUnits, others + payment.amountUnits)
  if (!isLate && !isBeyond) return { rate: lockedRate(topup), beyond: undefined }
  const price = await paymentOptions.price(topup.asset, signal)
  const now = price && usdRateOf(topup.asset, price)
  if (now === undefined) return undefined
  return isLate ? { rate: now, beyond: undefined } : { rate: lockedRate(topup), beyond: now }
}

function lockedRate({
  asset,
  priceValue,
  priceDecimals,
  usdPer1000CreditsMicros,
}: TopupRow): CreditRate {
  const rate = usdRateOf(asset, { value: priceValue, decimals: priceDecimals })
  return { ...rate, usdPer1000CreditsMicros }
}
