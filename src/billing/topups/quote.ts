/** Quotes: priced, stored with the purchase that follows, and replaced when they have expired. */
import { randomBytes, randomInt } from 'node:crypto'
import { z } from 'zod'
import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError, type FieldError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { type Address, Hash, storedAddress } from '#src/kernel/units.ts'
import { choiceProblem } from '#src/kernel/validation.ts'
import { requireBilling, requireTerms, type Terms } from '../account/service.ts'
import { type AssetKey, MIN_TOPUP_CREDITS, PAYMENT_ASSETS } from '../price-list.ts'
import { type NewPurchase, NewTopup, type Purchase, QUOTE_SECONDS, type Topup } from './model.ts'
import type { AssetState, PaymentDestination } from './payment-options.ts'
import {
  capUnits,
  chainOf,
  creditsWithBonusOf,
  fitsHoldingsCap,
  type OpenQuotes,
  paymentAssetOf,
  quotedUnitsFor,
  symbolOf,
  usdRateOf,
} from './rules.ts'
import { beginPaymentScan } from './scan.ts'
import type { FollowDeps } from './settle.ts'
import type { TopupRow } from './store.ts'
import * as store from './store.ts'
import { topupOutcomeOf } from './topup-outcome.ts'
import { findLinkedTopup } from './topup-record.ts'
import { type TopupContext, toPurchase, toTopup } from './view.ts'

/** Dependencies of top-ups. */
export interface TopupDeps extends FollowDeps, TopupContext {
  readonly billing: FollowDeps['billing'] &
    TopupContext['billing'] & { readonly enabled: boolean; readonly terms: Terms }
}

const TAG_MAX = 2 ** 32 - 1
/** Maximum number of attempts to find a free destination tag. A random tag of 2^32 is rarely taken. */
const TAG_ATTEMPTS = 5

/** Maximum number of renewals of one quote by holders of its link. */
const RENEWALS_MAX = 3

/**
 * Creates a quote for credits, whose price is locked for ten minutes. Without `asset` the quote is in the service's
 * token, or in FLR if that token is not available.
 *
 * @throws AppError invalid `validation_failed` for an unknown asset, forbidden `terms_not_accepted`,
 * conflict `billing_disabled`, `asset_unavailable`, `asset_paused` or `cap_exceeded`, upstream
 * `dependency_unavailable`
 */
export async function createTopup(
  deps: TopupDeps,
  caller: Pick<Caller, 'wallet'>,
  request: {
    readonly input: NewTopup
    readonly locale: Locale
    /** Handle of the quote that the new quote replaces. */
    readonly renews?: Hash
    /** Result of `readAssetOfNewTopup`, required inside a transaction, where the chain must not be called. */
    readonly assetState?: AssetState
  },
): Promise<Topup> {
  const { input, locale, renews = null } = request
  const state = request.assetState ?? (await readAssetOfNewTopup(deps, caller, input))
  const credits = input.credits ?? MIN_TOPUP_CREDITS
  const createdAt = deps.clock.now()
  const { key } = state.asset
  const open = await readOpenQuotes(deps, state, { wallet: caller.wallet, now: createdAt })
  const { place, price, amountUnits } = quote(deps, { ...state, open }, credits)
  const rate = usdRateOf(key, price)
  const { topup, purchase } = await create(deps, input.then, {
    wallet: caller.wallet,
    asset: key,
    token: place.token ?? null,
    payTo: place.payTo,
    contractPayTo: state.contractPayTo ?? null,
    ...creditsWithBonusOf(credits, key),
    amountUnits,
    priceValue: price.value,
    priceDecimals: price.decimals,
    usdPer1000CreditsMicros: rate.usdPer1000CreditsMicros,
    renews,
    authorizationNonce: null,
    authorizationBlock: null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + QUOTE_SECONDS * 1000),
  })
  const outcome = topupOutcomeOf([], topup, createdAt)
  return toTopup(deps, topup, { outcome, purchase }, locale)
}

/** Stores a quote with its purchase: the given one, or the purchase of the replaced quote. */
async function create(
  deps: TopupDeps,
  purchase: NewPurchase | undefined,
  topup: Omit<TopupRow, 'handle' | 'destinationTag'>,
): Promise<{ readonly topup: TopupRow; readonly purchase: Purchase | null }> {
  return await transact(deps.db, async (tx) => {
    const row = await insert({ ...deps, db: tx }, topup)
    const { handle, createdAt, renews } = row
    const of = { handle, wallet: storedAddress(row.wallet), createdAt }
    if (purchase !== undefined) {
      return { topup: row, purchase: await planPurchase(tx, of, purchase) }
    }
    const moved = renews === null ? null : await movePurchase(tx, renews, handle)
    return { topup: row, purchase: moved }
  })
}

/** Stores the purchase to make when a top-up is credited, in the transaction that creates the top-up. */
async function planPurchase(
  tx: Db,
  of: { readonly handle: string; readonly wallet: Address; readonly createdAt: Date },
  { slots, periods, autoRenew = false }: NewPurchase,
): Promise<Purchase | null> {
  return toPurchase(await store.insertPurchase(tx, { ...of, slots, periods, autoRenew }))
}

/** Moves the purchase of a quote that was replaced to the new quote; null if there is none. */
async function movePurchase(tx: Db, from: string, to: string): Promise<Purchase | null> {
  return toPurchase(await store.movePendingPurchase(tx, from, to))
}

/**
 * Reads the state of the asset of a new top-up, and starts looking for payments in that asset. Never call
 * it inside a transaction.
 *
 * @throws the errors of `createTopup`
 */
export async function readAssetOfNewTopup(
  deps: TopupDeps,
  caller: Pick<Caller, 'wallet'>,
  input: NewTopup,
): Promise<AssetState> {
  requireBilling(deps.billing)
  const named = input.asset === undefined ? undefined : readAsset(deps, input.asset)
  await requireTerms(deps, caller.wallet)
  const state = await chooseAsset(deps, named)
  if (state.available) await beginPaymentScan(deps, chainOf(state.asset.key))
  return state
}

const Named = z.looseObject({ asset: NewTopup.shape.asset })

/** Returns errors of the asset in a body that the schema cannot detect, because the service's token is configured. */
export function checkAsset(deps: Pick<TopupDeps, 'billing'>, body: unknown): readonly FieldError[] {
  const named = Named.safeParse(body).data?.asset
  const names = assetNames(deps)
  if (named === undefined || names.has(named)) return []
  return [{ pointer: '/asset', ...choiceProblem([...names.keys()], named) }]
}

/**
 * Parses an asset's symbol.
 * @throws AppError invalid `validation_failed` at `/asset`
 */
function readAsset(deps: TopupDeps, text: string): AssetKey {
  const key = assetNames(deps).get(text)
  if (key !== undefined) return key
  throw new AppError('invalid', 'validation_failed', {
    errors: checkAsset(deps, { asset: text }),
  })
}

function assetNames({ billing }: Pick<TopupDeps, 'billing'>): ReadonlyMap<string, AssetKey> {
  return new Map(PAYMENT_ASSETS.map(({ key }) => [symbolOf(key, billing.serviceTokenSymbol), key]))
}

async function chooseAsset(
  { paymentOptions }: TopupDeps,
  named: AssetKey | undefined,
): Promise<AssetState> {
  if (named !== undefined) return paymentOptions.read(named)
  const serviceToken = await paymentOptions.read('service')
  return serviceToken.available && !serviceToken.paused ? serviceToken : paymentOptions.read('FLR')
}

interface Quote {
  readonly place: PaymentDestination
  readonly price: NonNullable<AssetState['price']>
  readonly amountUnits: bigint
}

/** Reads the open quotes of an asset with a cap. */
async function readOpenQuotes(
  { db }: TopupDeps,
  { asset }: AssetState,
  by: { readonly wallet: Address; readonly now: Date },
): Promise<OpenQuotes | undefined> {
  if (asset.holdingsCap === null) return undefined
  return await store.sumOpenQuotes(db, { asset: asset.key, ...by })
}

/** Prices credits in an asset. @throws AppError conflict if the asset is unavailable, paused or capped */
function quote(
  { billing }: TopupDeps,
  state: AssetState & { readonly open: OpenQuotes | undefined },
  credits: number,
): Quote {
  const { asset, place, price, available, paused, holdingsUnits, open } = state
  const values = { asset: symbolOf(asset.key, billing.serviceTokenSymbol) }
  const amountUnits = price && quotedUnitsFor(credits, usdRateOf(asset.key, price))
  if (!available || place === undefined || price === undefined || amountUnits === undefined) {
    throw new AppError('conflict', 'asset_unavailable', { values })
  }
  if (paused) throw new AppError('conflict', 'asset_paused', { values })
  const cap = capUnits(asset, 'capPerTopup')
  const holdingsCap = capUnits(asset, 'holdingsCap')
  const isOverCap = cap !== undefined && amountUnits > cap
  const isOverRoom =
    holdingsCap !== undefined &&
    open !== undefined &&
    !fitsHoldingsCap(amountUnits, { capUnits: holdingsCap, heldUnits: holdingsUnits ?? 0n }, open)
  if (isOverCap || isOverRoom) {
    throw new AppError('conflict', 'cap_exceeded', {
      values: { ...values, maximum: asset.capPerTopup ?? 0, holdings: asset.holdingsCap ?? 0 },
    })
  }
  return { place, price, amountUnits }
}

async function insert(
  { db }: TopupDeps,
  topup: Omit<TopupRow, 'handle' | 'destinationTag'>,
): Promise<TopupRow> {
  const needsTag = paymentAssetOf(topup.asset).way === 'xrpl'
  for (let attempt = 0; attempt < TAG_ATTEMPTS; attempt += 1) {
    const handle = `0x${randomBytes(32).toString('hex')}`
    const destinationTag = needsTag ? randomInt(1, TAG_MAX) : null
    const row = { ...topup, handle, destinationTag }
    if (await store.insertTopup(db, row)) return row
  }
  throw new Error('no free destination tag')
}

/**
 * Replaces an expired unpaid quote by a new quote for the same wallet and credits, for a holder of the
 * handle. Idempotent: a second call returns the same new quote.
 *
 * @param request `asset`: symbol of another asset, if the first is no longer available
 * @returns undefined when there is no such top-up
 * @throws AppError conflict `topup_state` when the quote has not expired, or was renewed too often; the
 * errors of `createTopup`
 */
export async function renewTopup(
  deps: TopupDeps,
  request: { readonly handle: Hash; readonly locale: Locale; readonly asset?: string | undefined },
): Promise<Topup | undefined> {
  const { handle, locale } = request
  const topup = await store.findTopup(deps.db, handle)
  if (topup === undefined) return undefined
  const replacement = await findReplacement(deps, topup, locale)
  if (replacement !== undefined) return replacement
  // A quote is immutable, so it is read before its row is locked.
  const asset = request.asset ?? symbolOf(topup.asset, deps.billing.serviceTokenSymbol)
  const input = { asset, credits: topup.credits }
  const caller = { wallet: storedAddress(topup.wallet) }
  const assetState = await readAssetOfNewTopup(deps, caller, input)
  return await transact(deps.db, async (tx) => {
    const txDeps = { ...deps, db: tx }
    const row = await store.lockTopup(tx, handle)
    if (row === undefined) return undefined
    const replacement = await findReplacement(txDeps, row, locale)
    if (replacement !== undefined) return replacement
    return await createTopup(txDeps, caller, { input, locale, renews: handle, assetState })
  })
}

/**
 * The quote that replaced the given quote; undefined if there is none and the given quote can be replaced
 * now.
 *
 * @throws AppError conflict `topup_state` when the quote has no replacement and cannot be renewed
 */
async function findReplacement(
  deps: TopupDeps,
  row: store.TopupRow,
  locale: Locale,
): Promise<Topup | undefined> {
  const handle = z.decode(Hash, row.handle)
  const replacement = await store.findRenewal(deps.db, handle)
  if (replacement !== undefined) {
    return await findLinkedTopup(deps, { handle: z.decode(Hash, replacement.handle), locale })
  }
  const topup = await findLinkedTopup(deps, { handle, locale })
  const isExpiredUncredited =
    topup && hasNoCountedPayment(topup) && topup.expiresAt <= deps.clock.now()
  if (!isExpiredUncredited || (await countRenewals(deps.db, row)) >= RENEWALS_MAX) {
    const members = { topupStatus: topup?.status, reason: topup?.reason }
    throw new AppError('conflict', 'topup_state', { members })
  }
  return undefined
}

/** Whether a quote has expired and can be renewed by its link. */
export async function isRenewable(
  { db, clock }: Pick<TopupDeps, 'db' | 'clock'>,
  topup: Pick<Topup, 'handle' | 'status' | 'expiresAt'>,
): Promise<boolean> {
  if (!hasNoCountedPayment(topup) || topup.expiresAt > clock.now()) return false
  const row = await store.findTopup(db, topup.handle)
  return row !== undefined && (await countRenewals(db, row)) < RENEWALS_MAX
}

/**
 * Whether the quote has expired, or its payments failed or were refused, so that nothing was credited and nothing is on
 * its way. False before the first payment of a quote that has not expired.
 */
function hasNoCountedPayment({ status }: Pick<Topup, 'status'>): boolean {
  return status === 'expired' || status === 'failed' || status === 'rejected'
}

/** Number of earlier quotes that a quote replaced, counted up to `RENEWALS_MAX`. */
async function countRenewals(db: Db, topup: store.TopupRow): Promise<number> {
  let count = 0
  let current: store.TopupRow | undefined = topup
  while (current !== undefined && current.renews !== null && count < RENEWALS_MAX) {
    count += 1
    current = await store.findTopup(db, current.renews)
  }
  return count
}
