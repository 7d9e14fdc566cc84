import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hashOfToken } from '#src/auth/service.ts'
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
   * The hook throws AppError payment_required `payment_required`, unauthenticated `invalid_token`,
   * rate_limited `rate_limited`, upstream `dependency_unavailable`.
   */
  meter(resource: ResourceId): (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** Refunds a call that failed after its header was sent. Idempotent. */
  refund(request: object): Promise<void>
}

/** Payment headers of x402 clients: version 1 and version 2. This service's calls are prepaid. */
const PAYMENT_HEADERS = ['x-payment', 'payment-signature'] as const

type Charged = ChargeOutcome & { readonly ok: true }

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
      if (PAYMENT_HEADERS.some((name) => request.headers[name] !== undefined)) {
        // A client that sends a payment wants to pay with it, so no credits may be taken.
        const funds = await payerFundsOf(app, request)
        throw await refusal(app, request, reply, {
          resource,
          error: 'unsupported_scheme',
          funds,
        })
      }
      const outcome = await app.metering.charge({ resource, payer: payerOf(request) })
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
    readonly funds: PayerFunds
  },
): Promise<AppError> {
  const { resource, error, funds } = refused
  const { publicUrl, chainId, billing } = app
  const place = { publicUrl, chainId, ...billing }
  const assets = await app.paymentOptions.list()
  const inEnglish = resourceEntry(resource, place, assets, 'en')
  reply.header('payment-required', paymentRequiredV2(error, inEnglish, place))
  const locale = negotiateLocale(request.headers['accept-language'])
  const inTheirLanguage = resourceEntry(resource, place, assets, locale)
  const { priceCredits } = inTheirLanguage
  return new AppError('payment_required', 'payment_required', {
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
