import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Topup } from '#src/billing/topups/model.ts'
import type { PaymentPage } from '#src/billing/topups/service.ts'
import { type Translate, translator } from '#src/i18n/translate.ts'
import { Instant } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import {
  confirmLinkedTopup,
  getLinkedTopup,
  getPaymentPage,
  renewLinkedTopup,
} from '#src/operations/pages/links.ts'
import { formOf } from '../form.ts'
import { choicesOf, localeOf, sendPage, zoneOf } from '../layout.ts'
import { askerByLink, type LinkRoute } from '../link.ts'
import { qrImage } from '../qr.ts'
import { answerScript, type RefusalView, refusalOf } from '../refusal-page.ts'
import { confirmText } from './steps.ts'
import { payView, statusLine } from './view.ts'

/**
 * `/pay/<handle>`: payment instructions and state of a top-up, for holders of the link. Payments are found
 * automatically; submitting the transaction only makes that faster. An expired quote can be renewed.
 */
export function payPage(server: FastifyInstance, app: App): void {
  const ask = askerByLink(app, 'pay')
  server.get<LinkRoute>('/pay/:code', async (request, reply) => {
    const page = await ask(request, getPaymentPage)
    if (page === undefined) return sendGone(app, request, reply)
    return await sendPayment(app, request, reply, page)
  })
  server.post<LinkRoute>('/pay/:code', async (request, reply) => {
    const page = await ask(request, getPaymentPage)
    if (page === undefined) return sendGone(app, request, reply)
    try {
      const { asset } = formOf(request)
      const body = typeof asset === 'string' ? { asset } : {}
      const renewed = await ask(request, renewLinkedTopup, { body })
      const query = request.url.split('?')[1]
      const search = query === undefined ? '' : `?${query}`
      // A new quote has another page.
      return reply.redirect(`/pay/${(renewed ?? page.topup).handle}${search}`, 303)
    } catch (error) {
      const refusal = refusalOf(error, localeOf(request))
      return await sendPayment(app, request, reply, page, refusal)
    }
  })
  server.get<LinkRoute>('/pay/:code/status', (request, reply) =>
    answerScript(request, reply, async () => {
      const { topup, isSilent } = await ask(request, getLinkedTopup)
      return { ...publicFacts(translator(localeOf(request)), topup), chainAnswers: !isSilent }
    }),
  )
  server.post<LinkRoute>('/pay/:code/confirm', (request, reply) =>
    answerScript(request, reply, async () => {
      const { txHash } = formOf(request)
      const topup = await ask(request, confirmLinkedTopup, { body: { txHash } })
      return publicFacts(translator(localeOf(request)), topup)
    }),
  )
}

function sendGone(app: App, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendPage(app, request, reply, {
    view: 'notice',
    status: 404,
    isUncached: true,
    data: (t) => ({ title: t('pages:pay.gone.title'), text: t('pages:pay.gone.text') }),
  })
}

/**
 * State of the payment, which is public on the chain, with a sentence about it; no other data of the
 * wallet.
 */
function publicFacts(t: Translate, topup: Topup) {
  return {
    status: topup.status,
    text: statusLine(t, topup),
    step: confirmText(t, topup),
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

async function sendPayment(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  page: PaymentPage,
  refusal?: RefusalView,
): Promise<FastifyReply> {
  const due = page.rest ?? page.topup
  const address = `${page.topup.page}${choicesOf(request)}`
  // The QR code for XRP contains a payment; any other QR code opens this page.
  const qr = await qrImage(due.destinationTag === null ? address : due.pageQr)
  const now = app.clock.now()
  return sendPage(app, request, reply, {
    view: 'pay',
    status: refusal === undefined ? 200 : 409,
    isUncached: true,
    data: (t) => payView(app, t, { ...page, now, timezone: zoneOf(request), address, qr, refusal }),
  })
}
