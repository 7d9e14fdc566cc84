/** Payments that were not credited, and how an operator matches one with a wallet. */
import type { Db } from '#src/db/connection.ts'
import { AppError } from '#src/kernel/errors.ts'
import { OperatorError } from '#src/kernel/operator-error.ts'
import type { Address } from '#src/kernel/units.ts'
import { credit, readBalance } from '../account/service.ts'
import { findEntry } from '../account/store.ts'
import type { AssetKey } from '../price-list.ts'
import type { PaymentSetup } from './model.ts'
import type { PaymentOptions } from './payment-options.ts'
import * as payments from './payment-store.ts'
import { bonusFor, creditsForUnits, usdRateOf } from './rules.ts'
import type { CreditedPayment } from './settle.ts'
import * as store from './store.ts'

/** Key of a payment: its transaction and the index of its event. */
export type PaymentKey = Pick<payments.PaymentRow, 'txHash' | 'logIndex'>

/** Payments that wait for an operator, oldest first. */
export function listUnmatched(db: Db, limit: number): Promise<readonly store.UnmatchedPayment[]> {
  return store.listUnmatched(db, limit)
}

/** Their number, for the operator. */
export function countUnmatched(db: Db): Promise<number> {
  return store.countUnmatched(db)
}

/** The asset of a payment; undefined for a token that is not sold for. */
function assetOf(
  { asset }: Pick<payments.PaymentRow, 'asset'>,
  { tokens }: Pick<PaymentSetup, 'tokens'>,
): AssetKey | undefined {
  if (asset === 'FLR' || asset === 'XRP') return asset
  const known = (Object.entries(tokens) as [AssetKey, Address | undefined][]).find(
    ([, address]) => address?.toLowerCase() === asset.toLowerCase(),
  )
  return known?.[0]
}

/**
 * Credits that a payment is worth at the price of now, with its bonus; undefined where there is no price.
 * @throws OperatorError when no such payment was seen
 */
export async function worthNow(
  deps: {
    readonly db: Db
    readonly paymentOptions: PaymentOptions
    readonly billing: { readonly payments: Pick<PaymentSetup, 'tokens'> }
  },
  key: PaymentKey,
): Promise<number | undefined> {
  const payment = await payments.findPayment(deps.db, key)
  if (payment === undefined)
    throw new OperatorError(`no payment ${key.txHash} ${key.logIndex} was seen`)
  const asset = assetOf(payment, deps.billing.payments)
  // An operator can go on without a price, and says the credits then.
  const price = asset && (await deps.paymentOptions.price(asset).catch(withoutAnswer))
  if (asset === undefined || price === undefined) return undefined
  const credits = creditsForUnits(payment.amountUnits, usdRateOf(asset, price))
  return Number(credits + bonusFor(credits, asset))
}

/** @throws other errors than those of a chain that does not answer */
function withoutAnswer(error: unknown): undefined {
  if (error instanceof AppError && error.kind === 'upstream') return undefined
  throw error
}

/** What a match did. */
export interface MatchedPayment {
  readonly payment: payments.PaymentRow
  readonly balanceCredits: number
  /** False when the payment was credited to the wallet before. */
  readonly isNew: boolean
  /** Whether the wallet's owner is told. Nobody is told of a token that is not sold for. */
  readonly isAnnounced: boolean
}

/**
 * Credits an unmatched payment to a wallet, once, whatever runs at the same time.
 *
 * @throws OperatorError when the payment is unknown, not unmatched, or credited to another wallet
 */
export async function matchPayment(
  deps: {
    readonly notices: { credited(tx: Db, payment: CreditedPayment): Promise<void> }
    readonly billing: { readonly payments: Pick<PaymentSetup, 'tokens'> }
  },
  tx: Db,
  match: PaymentKey & {
    readonly wallet: Address
    readonly credits: number
    readonly note: string
    readonly at: Date
  },
): Promise<MatchedPayment> {
  const { wallet, credits, note, at, txHash, logIndex } = match
  const payment = await payments.findPayment(tx, match)
  if (payment === undefined) throw new OperatorError(`no payment ${txHash} ${logIndex} was seen`)
  const reference = `payment:${txHash}:${logIndex}`
  // Of two calls at once the second waits here and finds the row gone.
  const isOpen = await store.deleteUnmatched(tx, match)
  if (!isOpen) {
    const entry = await findEntry(tx, reference)
    if (entry?.wallet === wallet && entry.deltaCredits === credits) {
      const { balanceCredits } = await readBalance(tx, wallet)
      return { payment, balanceCredits, isNew: false, isAnnounced: false }
    }
    throw new OperatorError(
      entry === undefined
        ? `payment ${txHash} ${logIndex} is not among the unmatched ones`
        : `the payment was credited before: ${entry.deltaCredits} credits to ${entry.wallet}`,
    )
  }
  const posted = await credit(tx, {
    ...{ wallet, type: 'topup', amountCredits: credits, reference, note, at },
  })
  await payments.saveMatch(tx, match, credits)
  const asset = assetOf(payment, deps.billing.payments)
  if (asset !== undefined) {
    await deps.notices.credited(tx, {
      ...{
        wallet,
        handle: payment.handle ?? '',
        txHash,
        logIndex,
        asset,
        credits,
        bonusCredits: 0,
      },
      ...{ amountUnits: payment.amountUnits, purchase: null, at },
      balanceCredits: posted.balanceCredits,
    })
  }
  return {
    payment,
    balanceCredits: posted.balanceCredits,
    isNew: true,
    isAnnounced: asset !== undefined,
  }
}
