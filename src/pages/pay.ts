import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Topup } from '#src/billing/topups/model.ts'
import { hasOpenPayment, listReceipts } from '#src/billing/topups/receipt.ts'
import { restOf } from '#src/billing/topups/remainder.ts'
import { isRenewable, renewTopup } from '#src/billing/topups/renewal.ts'
import { symbolOf } from '#src/billing/topups/rules.ts'
import { findLinkedTopup } from '#src/billing/topups/service.ts'
import { type Translate, translator } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { Hash, Instant } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { confirmTopup } from '#src/operations/topups.ts'
import { formOf } from './form.ts'
import { localeOf, sendPage } from './layout.ts'
import type { PageLimits } from './limits.ts'
import { type PayPage, payView, statusLine } from './pay-view.ts'
import { qrImage } from './qr.ts'
import { answerScript, type RefusalView, refusalOf } from './refusal-page.ts'

interface Route {
  Params: { handle: string }
}

/**
 * `/pay/<handle>`: payment instructions and state of a top-up, for holders of the link. Payments are found
 * automatically; naming the transaction only speeds that up. An expired quote can be renewed.
 */
export function payPage(server: FastifyInstance, app: App, limits: PageLimits): void {
  server.get<Route>('/pay/:handle', async (request, reply) => {
    const topup = await find(app, request)
    if (topup === undefined) return sendGone(app, request, reply)
    return await sendTopup(app, request, reply, topup)
  })
  server.post<Route>('/pay/:handle', async (request, reply) => {
    const topup = await find(app, request)
    if (topup === undefined) return sendGone(app, request, reply)
    return await renew(app, limits, request, reply, topup)
  })
  server.get<Route>('/pay/:handle/status', (request, reply) =>
    answerScript(request, reply, async () => {
      await limits.admit('status', request)
      const topup = await get(app, request)
      const { silent } = await paymentStatus(app, topup)
      return { ...publicFacts(translator(localeOf(request)), topup), chainAnswers: !silent }
    }),
  )
  server.post<Route>('/pay/:handle/confirm', (request, reply) =>
    answerScript(request, reply, async () => {
      const { handle, wallet } = await get(app, request)
      await limits.admit('payment', request)
      // A holder of the handle may name a transaction that pays it: payments are public on the chain.
      const owner = { wallet, scopes: ['read', 'write'], via: 'page' } as const
      const { output } = await invoke(app, confirmTopup, owner, {
        params: { handle },
        body: { txHash: formOf(request).txHash },
        locale: localeOf(request),
      })
      return publicFacts(translator(localeOf(request)), output)
    }),
  )
}

async function find(app: App, request: FastifyRequest<Route>): Promise<Topup | undefined> {
  const handle = Hash.safeParse(request.params.handle)
  if (!handle.success) return undefined
  return await findLinkedTopup(app, { handle: handle.data, locale: localeOf(request) })
}

async function get(app: App, request: FastifyRequest<Route>): Promise<Topup> {
  const topup = await find(app, request)
  if (topup === undefined) throw new AppError('not_found', 'not_found')
  return topup
}

function sendGone(app: App, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendPage(app, request, reply, {
    view: 'notice',
    status: 404,
    secret: true,
    data: (t) => ({ title: t('pages:pay.gone.title'), text: t('pages:pay.gone.text') }),
  })
}

/** State of the payment as the chain shows it, with its sentence; no other data of the wallet. */
function publicFacts(t: Translate, topup: Topup) {
  return {
    status: topup.status,
    text: statusLine(t, topup),
    asset: topup.asset,
    amount: topup.amount.toString(),
    decimals: topup.decimals,
    credits: topup.credits,
    bonusCredits: topup.bonusCredits,
    expiresAt: Instant.encode(topup.expiresAt),
    txHash: topup.txHash,
    confirmations: topup.confirmations,
    requiredConfirmations: topup.requiredConfirmations,
    paidAmount: topup.paidAmount?.toString() ?? null,
    creditedCredits: topup.creditedCredits,
    reason: topup.reason,
  }
}

/** Renews an expired quote and redirects to the new page. */
async function renew(
  app: App,
  limits: PageLimits,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  { handle, ...topup }: Topup,
): Promise<FastifyReply> {
  const locale = localeOf(request)
  try {
    await limits.admit('quote', request)
    const { asset } = formOf(request)
    const other = typeof asset === 'string' ? asset : undefined
    const renewed = await renewTopup(app, { handle, locale, asset: other })
    const query = request.url.split('?')[1]
    const search = query === undefined ? '' : `?${query}`
    return reply.redirect(`/pay/${renewed?.handle ?? handle}${search}`, 303)
  } catch (error) {
    const refusal = refusalOf(error, locale)
    return await sendTopup(app, request, reply, { handle, ...topup }, refusal)
  }
}

async function sendTopup(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  topup: Topup,
  refusal?: RefusalView,
): Promise<FastifyReply> {
  const now = app.clock.now()
  // While another payment is on its way the remainder is not requested.
  const isPaying = await hasOpenPayment(app, topup.handle)
  const rest = isPaying ? undefined : restOf(topup, now)
  const [{ paused, silent, others }, receipts, canRenew, qr] = await Promise.all([
    paymentStatus(app, topup),
    listReceipts(app, topup.handle),
    isRenewable(app, topup),
    qrImage((rest ?? topup).pageQr),
  ])
  const paymentOptions = { isPaused: paused, isSilent: silent, others }
  const page: PayPage = { topup, rest, now, ...paymentOptions, receipts, canRenew, qr, refusal }
  return sendPage(app, request, reply, {
    view: 'pay',
    status: refusal === undefined ? 200 : 409,
    secret: true,
    data: (t) => payView(app, t, page),
  })
}

/**
 * Availability of the top-up's asset; while the chain does not answer it counts as available. If it is not,
 * the other available assets.
 */
async function paymentStatus({ paymentOptions, billing }: App, { asset }: Topup) {
  const states = (await paymentOptions.list()).map(
    ({ asset: { key }, available, paused, silent }) => ({
      symbol: symbolOf(key, billing.serviceTokenSymbol),
      isOpen: available && !paused,
      paused,
      silent,
    }),
  )
  const state = states.find(({ symbol }) => symbol === asset)
  return {
    paused: state?.paused === true,
    silent: state?.silent === true,
    others: state?.isOpen ? [] : states.flatMap(({ isOpen, symbol }) => (isOpen ? [symbol] : [])),
  }
}
