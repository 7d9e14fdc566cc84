import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findBan } from '#src/auth/bans.ts'
import { hashOfToken } from '#src/auth/service.ts'
import { networkOf } from '#src/billing/direct/rules.ts'
import type { ChargeOutcome, Payer, PayerFunds } from '#src/billing/metering/model.ts'
import {
  type PaymentError,
  paymentRequiredV1,
  paymentRequiredV2,
  resourceEntry,
} from '#src/billing/metering/offers.ts'
import { nextUtcDay } from '#src/billing/metering/rules.ts'
import { getPayerFunds } from '#src/billing/metering/service.ts'
import { FREE_TIER_DAILY_CALLS, type ResourceId } from '#src/billing/price-list.ts'
import { AppError } from '#src/kernel/errors.ts'
import { negotiateLocale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { authenticate, bearerToken, refuseTokenInQuery } from './authenticate.ts'

/** Metering of a server's routes. */
export interface Meter {
  /**
   * `preHandler` of a metered route: takes a free call or the price, or refuses.
   *
   * The hook throws AppError payment_required `payment_required`, `payment_invalid` or `payment_used`, unauthenticated
   * `invalid_token`, forbidden `terms_not_accepted` or `wallet_banned`, rate_limited `rate_limited`, upstream
   * `dependency_unavailable`, `settlement_unavailable` or `payment_pending`.
   */
  meter(resource: ResourceId): (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** Refunds a call that failed after its header was sent. Idempotent. */
  refund(request: object): Promise<void>
}

/** Payment headers of x402 clients: version 1 and version 2. Only version 2 has payments that this service takes. */
const PAYMENT_HEADERS = ['x-payment', 'payment-signature'] as const

type Charged = ChargeOutcome & { readonly ok: true }

/** Codes of a 402. */
type RefusalCode = 'payment_required' | 'payment_invalid' | 'payment_used'

/**
 * Creates a meter for routes of this server and of plugins inside it.
 *
 * Every call is charged before its handler runs. An answer of 5xx, and any refusal by this service, refunds
 * the call before it is sent, and its headers say so.
 */
export function createMeter(server: FastifyInstance, app: App): Meter {
  const open = new WeakMap<object, Charged>()

  const refund = async (request: object) => {
    const charged = open.get(request)
    open.delete(request)
    return charged && { charged, now: await app.metering.refund(charged.charge) }
  }

  /** Calls refused by this service after they were charged: the upstream was never called. */
  const refused = new WeakSet<object>()
  server.addHook('onError', async (request) => {
    refused.add(request)
  })
  // Callback form: avoids a promise for each answer that stays charged.
  server.addHook('onSend', (request, reply, _payload, done) => {
    if (reply.statusCode < 500 && !refused.has(request)) return done()
    const refunding = refund(request).then((returned) => {
      if (returned?.now.ok) writeChargeHeaders(reply, 0, { ...returned.charged, ...returned.now })
    })
    refunding.then(() => done(), done)
  })

  return {
    meter: (resource) => async (request, reply) => {
      if (!app.billing.enabled) return
      refuseTokenInQuery(request.query as Readonly<Record<string, unknown>>)
      const isPaying = PAYMENT_HEADERS.some((name) => request.headers[name] !== undefined)
      // A client that sends a payment wants to pay with it, so no other credits may be taken.
      const outcome = isPaying
        ? await chargeDirectly(app, request, reply, resource)
        : await app.metering.charge({ resource, payer: payerOf(request) })
      if (outcome.ok) {
        const { charge } = outcome
        open.set(request, outcome)
        writeChargeHeaders(reply, charge.kind === 'paid' ? charge.priceCredits : 0, outcome)
      } else if (outcome.reason === 'invalid_token') {
        throw new AppError('unauthenticated', 'invalid_token')
      } else {
        const { reason: error } = outcome
        throw await refusal(app, request, reply, { resource, error, funds: outcome })
      }
    },
    refund: async (request) => {
      await refund(request)
    },
  }
}

function payerOf({ headers, clientNetwork }: FastifyRequest): Payer {
  const { authorization } = headers
  return authorization === undefined
    ? { kind: 'network', network: clientNetwork }
    : { kind: 'token', hash: hashOfToken(bearerToken(authorization)) }
}

/**
 * Takes the payment that a call carries, and charges the call to its payer.
 *
 * @throws AppError as `Meter.meter`
 */
async function chargeDirectly(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  resource: ResourceId,
): Promise<Charged> {
  const funds = await payerFundsOf(app, request)
  const refuse = (error: PaymentError, code: RefusalCode) =>
    refusal(app, request, reply, { resource, error, code, funds })
  const { directPayments } = app
  const header = request.headers['payment-signature']
  const payment = typeof header === 'string' ? directPayments?.read(header, resource) : undefined
  if (directPayments === undefined || payment === undefined) {
    throw await refuse('unsupported_scheme', 'payment_required')
  }
  if ('reason' in payment) throw await refuse(payment.reason, 'payment_invalid')
  const payer = payment.authorization.from
  await app.limits.admit('write', `payment ${request.clientNetwork}`)
  if ((await findBan(app.db, payer)) !== undefined) throw new AppError('forbidden', 'wallet_banned')
  const settled = await directPayments.settle(payment)
  const say = (result: object) => {
    const network = networkOf(app.chainId)
    const response = { payer, network, ...result }
    reply.header('payment-response', Buffer.from(JSON.stringify(response)).toString('base64'))
  }
  if ('reason' in settled) {
    say({ success: false, errorReason: settled.reason, transaction: '' })
    throw await refuse(settled.reason, 'payment_invalid')
  }
  const { handle, txHash: transaction, amountUnits, credits } = settled
  const paid = { transaction, amount: String(amountUnits), extra: { topup: handle, credits } }
  const charged = await directPayments.charge(settled, resource)
  if (charged === undefined) {
    say({ success: false, errorReason: 'invalid_transaction_state', ...paid })
    throw await refuse('invalid_transaction_state', 'payment_used')
  }
  say({ success: true, ...paid })
  const { freeLeft } = await getPayerFunds(app, { wallet: settled.wallet })
  return { ok: true, ...charged, freeLeft }
}

async function payerFundsOf(app: App, request: FastifyRequest): Promise<PayerFunds> {
  const caller = await authenticate(app, request.headers.authorization)
  return getPayerFunds(app, caller ?? { network: request.clientNetwork })
}

/** Sets the headers with a call's charge and the payer's funds after it. */
function writeChargeHeaders(reply: FastifyReply, chargedCredits: number, funds: PayerFunds): void {
  reply.header('x-credits-charged', String(chargedCredits))
  reply.header('x-credits-balance', String(funds.balanceCredits))
  reply.header('x-free-tier-remaining', String(funds.freeLeft))
}

/**
 * Builds a 402 in both versions of x402: version 1 in the body, together with the problem and in its
 * language; version 2 in a header, always in English, because other scripts would exceed the header limits
 * of proxies.
 */
async function refusal(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  refused: {
    readonly resource: ResourceId
    readonly error: PaymentError
    readonly code?: RefusalCode
    readonly funds: PayerFunds
  },
): Promise<AppError> {
  const { resource, error, code = 'payment_required', funds } = refused
  const { publicUrl, chainId, billing } = app
  const place = { publicUrl, chainId, ...billing }
  const assets = await app.paymentOptions.list()
  const direct = app.directPayments?.offers(resource) ?? []
  const inEnglish = resourceEntry(resource, place, assets, 'en')
  reply.header('payment-required', paymentRequiredV2(error, inEnglish, direct, place))
  const locale = negotiateLocale(request.headers['accept-language'])
  const inTheirLanguage = resourceEntry(resource, place, assets, locale)
  const { priceCredits } = inTheirLanguage
  return new AppError('payment_required', code, {
    values: { count: priceCredits },
    members: {
      ...paymentRequiredV1(error, inTheirLanguage),
      balanceCredits: funds.balanceCredits,
      freeTier: {
        limit: FREE_TIER_DAILY_CALLS,
        used: FREE_TIER_DAILY_CALLS - funds.freeLeft,
        resetsAt: nextUtcDay(app.clock.now()).toISOString(),
      },
    },
  })
}
