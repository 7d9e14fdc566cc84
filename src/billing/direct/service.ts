/** Payments that calls of metered resources carry: credited once, then the call is charged. */
import { randomBytes } from 'node:crypto'
import { transact } from '#src/db/connection.ts'
import { AppError } from '#src/kernel/errors.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import { pause } from '#src/kernel/pause.ts'
import type { Address } from '#src/kernel/units.ts'
import { storedAddress } from '#src/kernel/units.ts'
import { debit, requireTerms } from '../account/service.ts'
import { findEntry, lockAccount } from '../account/store.ts'
import type { Charge } from '../metering/model.ts'
import { refundReference } from '../metering/rules.ts'
import {
  DIRECT_ASSET,
  RESOURCE_PRICES_CREDITS,
  type ResourceId,
  USD_PER_1000_CREDITS_MICROS,
} from '../price-list.ts'
import * as authorizations from '../topups/authorization-store.ts'
import {
  type AuthorizationOutcome,
  lookForPayment,
  TAKEN_OVER_AFTER_MS,
} from '../topups/authorizations.ts'
import { ONE_DOLLAR } from '../topups/rules.ts'
import { type FollowDeps, isChainUnavailable } from '../topups/settle.ts'
import * as store from '../topups/store.ts'
import {
  CLOCK_SKEW_SECONDS,
  type DirectOffer,
  PAYMENT_SECONDS,
  type PaymentReason,
  type Settler,
  type SignedPayment,
} from './model.ts'
import {
  directOffers,
  directUsageReference,
  isDirect,
  isInTime,
  payloadOf,
  readPayment,
} from './rules.ts'
import { checkSigner } from './signer.ts'

/** A payment that was credited. */
export interface DirectPayment {
  readonly wallet: Address
  /** Handle of its top-up. */
  readonly handle: string
  readonly txHash: string
  readonly amountUnits: bigint
  /** Credits that it was worth. */
  readonly credits: number
}

/** A payment that is refused. Nothing was sent for it. */
export interface RefusedPayment {
  readonly reason: PaymentReason
}

/** Takes payments that calls carry. */
export interface DirectPayments {
  /** Ways to pay for a call of a resource. */
  offers(resource: ResourceId): readonly DirectOffer[]
  /**
   * Reads the header of a payment, without the chain.
   * @returns undefined if it is of another scheme; the reason if it fits none of the offers of the resource
   */
  read(header: string, resource: ResourceId): SignedPayment | RefusedPayment | undefined
  /**
   * Has a payment sent, waits until it is credited, and returns it. A payment that is credited already is returned again.
   *
   * @throws AppError upstream `payment_pending` when the chain has not confirmed it in time, `settlement_unavailable`
   * when it cannot be sent now, `dependency_unavailable`; forbidden `terms_not_accepted`; rate_limited `rate_limited`
   */
  settle(payment: SignedPayment, signal?: AbortSignal): Promise<DirectPayment | RefusedPayment>
  /**
   * Charges the call that a payment pays for, once. If that call was refunded, a repeated one is charged.
   * @returns undefined if the payment has paid for its call
   */
  charge(
    payment: DirectPayment,
    resource: ResourceId,
  ): Promise<{ readonly charge: Charge; readonly balanceCredits: number } | undefined>
}

interface Deps extends FollowDeps {
  readonly settler: Settler
  readonly payTo: Address
  readonly chainId: number
  /** Longest wait for the confirmations of a payment; 25 s by default. */
  readonly waitMs?: number
}

const WAIT_MS = 25_000
/** Time between two looks at the chain, whose blocks are a second or two apart. */
const LOOK_MS = 400
const RETRY_AFTER_SECONDS = 5
/** Number of calls that a payment is tried for, if each was refunded. */
const ATTEMPTS_MAX = 5
const HANDLE_BYTES = 32
/** Maximum number of payments of one payer that are neither credited nor over. */
const OPEN_PER_PAYER_MAX = 8
/**
 * Blocks in which a payment that somebody else sent is looked for: those of the longest time for which it is valid, where
 * blocks are a second apart.
 */
const LOOK_BACK_BLOCKS = PAYMENT_SECONDS + CLOCK_SKEW_SECONDS

/** Creates the direct payments of this process. */
export function createDirectPayments(deps: Deps): DirectPayments {
  const { chainId, payTo, billing, clock } = deps
  const offers = (resource: ResourceId) =>
    directOffers(resource, { chainId, payTo, terms: billing.terms })
  /** Payments in progress, so that a repeated one waits for the first. */
  const running = new Map<string, Promise<DirectPayment | RefusedPayment>>()
  const own = createOwnPayments(clock)
  return {
    offers,
    read(header, resource) {
      const payload = payloadOf(header)
      if (!isDirect(payload)) return undefined
      const read = readPayment(payload, offers(resource), clock.now())
      return typeof read === 'string' ? { reason: read } : read
    },
    settle(payment, signal) {
      const { from, nonce, value, validBefore } = payment.authorization
      // Without the signature, which can be written in many ways: each would send the transfer again.
      const key = `${from} ${nonce} ${value} ${validBefore}`
      const same = running.get(key)
      if (same !== undefined) return same
      const settling = settleOnce({ ...deps, own }, payment, signal).finally(() =>
        running.delete(key),
      )
      running.set(key, settling)
      return settling
    },
    charge: (payment, resource) => chargeCall(deps, payment, resource),
  }
}

/** Payments that this process was the first to see, for as long as a request may wait for them. */
interface OwnPayments {
  add(handle: string): void
  has(handle: string): boolean
}

function createOwnPayments(clock: Deps['clock']): OwnPayments {
  const since = new Map<string, number>()
  return {
    add: (handle) => {
      const now = clock.now().getTime()
      for (const [old, at] of since) {
        if (at > now - TAKEN_OVER_AFTER_MS) break
        since.delete(old)
      }
      since.set(handle, now)
    },
    has: (handle) => since.has(handle),
  }
}

/**
 * Refuses a payment whose first request may still wait in another process. Until that request was charged, who reads the
 * payment on the chain could be faster than its payer.
 *
 * @throws AppError upstream `payment_pending`
 */
async function requireOwn(
  { db, clock, own }: OwnDeps,
  { handle, createdAt }: Pick<store.TopupRow, 'handle' | 'createdAt'>,
): Promise<void> {
  const isOld = createdAt.getTime() + TAKEN_OVER_AFTER_MS <= clock.now().getTime()
  if (isOld || own.has(handle)) return
  if ((await findEntry(db, directUsageReference(handle, 1))) === undefined) throw pending()
}

interface OwnDeps extends Deps {
  readonly own: OwnPayments
}

async function settleOnce(
  deps: OwnDeps,
  payment: SignedPayment,
  signal: AbortSignal | undefined,
): Promise<DirectPayment | RefusedPayment> {
  const { token, from: wallet, nonce } = payment.authorization
  const known = await authorizations.findAuthorization(deps.db, { wallet, token, nonce })
  if (known !== undefined && !isSame(known, payment)) return { reason: 'invalid_payload' }
  if (known !== undefined) await requireOwn(deps, known)
  const found = known && (await lookForPayment(deps, known.handle, signal))
  if (known !== undefined && found?.state === 'credited') return credited(deps, known.handle, found)
  if (known === undefined && payment.offer.extra.needsTerms) await requireTerms(deps, wallet)
  const isPaid = found?.state === 'confirming'
  const reason = isPaid ? undefined : await checkNow(deps, payment, signal)
  if (reason !== undefined && found?.state !== 'open') {
    if (known !== undefined || !(await isUsed(deps, payment, reason, signal))) return { reason }
  }
  const isSent = isPaid || reason !== undefined
  const lookBack = isSent ? LOOK_BACK_BLOCKS : 0
  const handle = known?.handle ?? (await storePayment(deps, payment, lookBack, signal))
  if (!isSent) await deps.settler.settle(payment, signal)
  return await waitForCredits(deps, handle, payment, signal)
}

/**
 * Whether a stored payment has the signed fields of another one. Otherwise anybody could write a later end of its validity
 * than was signed, and use a payment that is on the chain for all time.
 */
function isSame(
  { amountUnits, expiresAt }: Pick<store.TopupRow, 'amountUnits' | 'expiresAt'>,
  { authorization: { value, validBefore } }: SignedPayment,
): boolean {
  return amountUnits === value && expiresAt.getTime() === Number(validBefore) * 1000
}

/**
 * Whether a payment that cannot be sent was sent by somebody else: a signature is all that it takes. One that was sent a
 * moment ago by this service is stored, and is waited for.
 */
async function isUsed(
  { chain }: Deps,
  { authorization }: SignedPayment,
  reason: PaymentReason,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (reason !== 'invalid_transaction_state') return false
  return await chain.isAuthorizationUsed(authorization, signal)
}

async function checkNow(
  { settler, chain, clock }: Deps,
  payment: SignedPayment,
  signal: AbortSignal | undefined,
): Promise<PaymentReason | undefined> {
  if (!isInTime(payment, clock.now())) {
    return 'invalid_exact_evm_payload_authorization_valid_before'
  }
  return (await checkSigner(chain, payment, signal)) ?? (await settler.check(payment, signal))
}

/**
 * Stores a payment before it is sent, with the block from which its use is looked for: so it is found and credited even if
 * this process ends right after sending it.
 *
 * @param lookBack blocks before the newest in which it may have been used already
 * @returns the handle of its top-up
 * @throws AppError upstream `payment_pending` when another process was faster; rate_limited `rate_limited`
 */
async function storePayment(
  { db, chain, clock, payTo, own }: OwnDeps,
  { authorization, offer }: SignedPayment,
  lookBack: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { token, from: wallet, nonce, value, validBefore } = authorization
  const tip = await chain.confirmedBlock(1, signal)
  const handle = `0x${randomBytes(HANDLE_BYTES).toString('hex')}`
  const isNew = await insertPayment(db, {
    ...{ handle, wallet, token, payTo, contractPayTo: null, destinationTag: null, renews: null },
    asset: DIRECT_ASSET.key,
    credits: offer.extra.credits,
    bonusCredits: 0,
    amountUnits: value,
    priceValue: ONE_DOLLAR.value,
    priceDecimals: ONE_DOLLAR.decimals,
    usdPer1000CreditsMicros: USD_PER_1000_CREDITS_MICROS,
    authorizationNonce: nonce,
    authorizationBlock: Math.max(0, tip.number - lookBack),
    createdAt: clock.now(),
    expiresAt: new Date(Number(validBefore) * 1000),
  })
  // Another process has just stored it, and sends it.
  if (!isNew) throw pending()
  own.add(handle)
  return handle
}

/**
 * Stores a payment, unless too many of its payer are open. Each is possible by itself, but the payer may be able to pay one
 * of them only, and the service pays the gas of all.
 *
 * @throws AppError rate_limited `rate_limited`
 */
function insertPayment(db: Deps['db'], payment: store.TopupRow): Promise<boolean> {
  return transact(db, async (tx) => {
    const open = await authorizations.countOpenAuthorizations(tx, payment.wallet)
    if (open < OPEN_PER_PAYER_MAX) return await store.insertTopup(tx, payment)
    throw new AppError('rate_limited', 'rate_limited', { retryAfterSeconds: RETRY_AFTER_SECONDS })
  })
}

/** Looks at the chain until the payment is credited. @throws AppError upstream `payment_pending` */
async function waitForCredits(
  deps: Deps,
  handle: string,
  payment: SignedPayment,
  signal: AbortSignal | undefined,
): Promise<DirectPayment | RefusedPayment> {
  const until = performance.now() + (deps.waitMs ?? WAIT_MS)
  const { from: payer, nonce } = payment.authorization
  while (performance.now() < until) {
    try {
      const outcome = await lookForPayment(deps, handle, signal)
      if (outcome.state === 'credited') return await credited(deps, handle, outcome)
      if (outcome.state === 'over' || outcome.state === 'refused') {
        return { reason: 'invalid_transaction_state' }
      }
    } catch (error) {
      if (!isChainUnavailable(error)) throw error
      const problem = loggableError(error)
      deps.log.warn(
        { payer, nonce, problem },
        'chain cannot be asked for a payment; it is asked again',
      )
    }
    await pause(LOOK_MS, signal ?? new AbortController().signal)
    signal?.throwIfAborted()
  }
  throw pending()
}

function pending(): AppError {
  return new AppError('upstream', 'payment_pending', { retryAfterSeconds: RETRY_AFTER_SECONDS })
}

async function credited(
  { db }: Deps,
  handle: string,
  { txHash }: AuthorizationOutcome,
): Promise<DirectPayment> {
  const record = await store.findRecord(db, handle)
  const payment = record?.payments.find(({ payment: { credits } }) => credits !== null)?.payment
  if (record === undefined || payment === undefined || txHash === null) {
    throw new Error('a credited payment is missing')
  }
  const { amountUnits, credits } = payment
  const wallet = storedAddress(record.topup.wallet)
  return { wallet, handle, txHash, amountUnits, credits: credits ?? 0 }
}

async function chargeCall(
  { db, clock }: Deps,
  { wallet, handle }: DirectPayment,
  resource: ResourceId,
): Promise<{ readonly charge: Charge; readonly balanceCredits: number } | undefined> {
  const priceCredits = RESOURCE_PRICES_CREDITS[resource]
  return await transact(db, async (tx) => {
    // A second call with the same payment waits here, and then finds the entry of the first.
    await lockAccount(tx, wallet)
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const reference = directUsageReference(handle, attempt)
      if ((await findEntry(tx, reference)) !== undefined) {
        if ((await findEntry(tx, refundReference(reference))) === undefined) return undefined
        continue
      }
      const entry = { wallet, type: 'usage', amountCredits: priceCredits, reference } as const
      const result = await debit(tx, { ...entry, note: resource, at: clock.now() })
      if (!result.ok) return undefined
      const charge = { kind: 'paid', wallet, reference, priceCredits } as const
      return { charge, balanceCredits: result.balanceCredits }
    }
    return undefined
  })
}
