/** Settling: a payment that is deep enough is credited, or kept as unmatched, once. */
import { type Chain, OTHER_LOG_INDEX, type PaymentTransactionStatus } from '#src/chain/chain.ts'
import type { Xrpl } from '#src/chain/xrpl/xrpl.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { credit, readBalance, type Terms } from '../account/service.ts'
import { type AssetKey, MIN_TOPUP_CREDITS } from '../price-list.ts'
import { createSubscription } from '../subscriptions/service.ts'
import * as authorizations from './authorization-store.ts'
import type { PaymentRefusal, PaymentSetup } from './model.ts'
import type { PaymentOptions } from './payment-options.ts'
import * as payments from './payment-store.ts'
import {
  deleteOpenPayments,
  notifyOpenFlarePayments,
  type PaymentRow,
  saveTip,
} from './payment-store.ts'
import { readFacts, recordPayments, storedHash } from './payments.ts'
import {
  type CreditRate,
  type CreditsWithBonus,
  exceedsPriceLock,
  judgePayment,
  type PaymentVerdict,
  requiredConfirmations,
  usdRateOf,
  XRPL_CONFIRMATIONS,
} from './rules.ts'
import type { SubmissionRow, TopupRow } from './store.ts'
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

/** Result of a purchase that follows a top-up. */
export interface PurchaseOutcome {
  readonly slots: number
  /** Code of the refusal; null if the slots were bought. */
  readonly reason: string | null
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

/** What is needed to follow the transactions of top-ups and to settle their payments. */
export interface FollowDeps extends SettleDeps {
  readonly quarantine: Quarantine
  readonly xrpl: Xrpl | undefined
  readonly confirmations: number
  readonly billing: SettleDeps['billing'] & { readonly payments: PaymentSetup }
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
  if (row.way === 'authorization') return await lookAgain(deps, row)
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

/** Blocks before that of a lost payment from which its authorization is looked for again. */
const LOOK_BACK_BLOCKS = 100

/** Looks again for the use of an authorization whose block was replaced: it may be in an earlier or a later block. */
async function lookAgain({ db, log }: FollowDeps, row: PaymentRow): Promise<void> {
  log.warn(
    { txHash: row.txHash, handle: row.handle },
    'block of an authorized payment was replaced; the service looks for the payment again',
  )
  await transact(db, async (tx) => {
    await deleteOpenPayments(tx, row.txHash)
    if (row.handle === null) return
    await authorizations.followAuthorization(
      tx,
      row.handle,
      Math.max(0, row.blockNumber - LOOK_BACK_BLOCKS),
    )
  })
}

function stateOf(facts: PaymentTransactionStatus): Pick<SubmissionRow, 'state' | 'reason'> {
  if (facts.status === 'reverted') return { state: 'failed', reason: facts.reason ?? 'reverted' }
  if (facts.status === 'mined') return { state: 'rejected', reason: 'wrong_recipient' }
  return { state: 'submitted', reason: null }
}

/**
 * Credits a payment, or stores it as unmatched, once even with concurrent calls. The caller must have
 * checked that the payment's block is deep enough and still part of the chain.
 *
 * A late payment, or the part beyond the locked amount, is credited at the current price; while there is no
 * price the payment stays open.
 */
async function settlePayment(
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
    // A program that pays call by call would otherwise write to its people at every call.
    if (payment.way === 'authorization' && credited.credits < MIN_TOPUP_CREDITS) return true
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

interface Deps {
  readonly clock: Clock
  readonly billing: { readonly enabled: boolean; readonly terms: Terms }
}

/**
 * Makes the planned purchase of a top-up, once, in the transaction that credits the top-up. A purchase that
 * is refused, because credits are missing or the slot limit is reached, records the reason and waits for
 * the next payment of the same top-up. A late payment of a quote that was replaced also makes the purchase,
 * which has moved to the new quote.
 *
 * @returns the result; null if no purchase was planned
 */
async function carryOutPurchase(
  deps: Deps,
  tx: Db,
  handle: string,
): Promise<PurchaseOutcome | null> {
  const plan = await lockPendingPurchaseOf(tx, handle)
  if (plan === undefined) return null
  const { slots: quantity, periods, autoRenew } = plan
  const caller = { wallet: storedAddress(plan.wallet), scopes: ['spend'], via: 'http' } as const
  try {
    // `createSubscription` refuses before it writes, so that the transaction stays usable.
    const order = { quantity, periods, autoRenew }
    const { id } = await createSubscription({ ...deps, db: tx }, caller, order)
    await store.markPurchaseDone(tx, plan.handle, {
      handle,
      subscriptionId: id,
      doneAt: deps.clock.now(),
    })
    return { slots: quantity, reason: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    await store.markPurchaseRefused(tx, plan.handle, error.code)
    return { slots: quantity, reason: error.code }
  }
}

/** The pending purchase of a quote, else of the quote that replaced it, and so on; locked (`FOR UPDATE`). */
async function lockPendingPurchaseOf(
  tx: Db,
  handle: string,
): Promise<store.PurchaseRow | undefined> {
  const plan = await store.lockPendingPurchase(tx, handle)
  if (plan !== undefined) return plan
  const next = await store.findRenewal(tx, handle)
  return next && (await lockPendingPurchaseOf(tx, next.handle))
}
