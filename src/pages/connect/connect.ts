import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isTimeZone, shortAddress } from '#src/i18n/format.ts'
import { id, type Translate, typed } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'
import {
  claimConnectCode,
  createConnectChallenge,
  draftLinkedPurchase,
  peekConnectCode,
  refuseConnectCode,
} from '#src/operations/pages/links.ts'
import type { ConnectOffer } from '#src/recipients/connect.ts'
import { botUrl } from '../bot-url.ts'
import { chainParams } from '../chain-params.ts'
import { formOf } from '../form.ts'
import { localeOf, sendPage } from '../layout.ts'
import { type AskByLink, askerByLink, type LinkRoute } from '../link.ts'
import { qrImage } from '../qr.ts'
import { answerScript, isScript, type RefusalView, refusalOf } from '../refusal-page.ts'
import { walletApps } from '../wallet-apps.ts'
import { askedOrder, readAskedPurchase } from './purchase-view.ts'

/** Form values of a reader who signs in another program. */
interface Elsewhere {
  readonly wallet: string
  readonly spend: boolean
  /** The text to sign, once the wallet is known. */
  readonly message?: string | undefined
  readonly refusal?: RefusalView
  /** Whether the chat may already spend credits of the wallet. */
  readonly maySpend?: boolean
}

/**
 * `/connect/<code>`: signs a wallet in and links the code's chat to it. The rights of the chat are shown
 * first. With a wallet in the browser a script does this; otherwise the reader signs the text in another
 * program and pastes the signature.
 */
export function connectPage(server: FastifyInstance, app: App): void {
  const ask = askerByLink(app, 'connect')
  server.get<LinkRoute>('/connect/:code', async (request, reply) => {
    const offer = await peek(ask, request)
    if (offer === undefined) return sendOver(app, request, reply)
    return sendOffer(app, request, reply, offer)
  })
  server.post<LinkRoute>('/connect/:code', async (request, reply) => {
    const form = formOf(request)
    if (form.answer === 'refuse') return await refuse(ask, request, reply)
    const work =
      form.answer === 'claim' ? () => claim(ask, request) : () => makeMessage(ask, request)
    if (isScript(request)) return await answerScript(request, reply, work)
    return await answerForm(app, ask, request, reply, work)
  })
}

async function peek(
  ask: AskByLink,
  request: FastifyRequest<LinkRoute>,
): Promise<ConnectOffer | undefined> {
  try {
    return await ask(request, peekConnectCode)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'not_found') return undefined
    throw error
  }
}

/** Creates the challenge for the given wallet, with the chosen rights. */
async function makeMessage(ask: AskByLink, request: FastifyRequest<LinkRoute>) {
  const { wallet, spend } = formOf(request)
  const body = { wallet, spend: spend === 'on' }
  const challenge = await ask(request, createConnectChallenge, { body })
  const { message, maySpend } = challenge
  return { message, wallet: challenge.wallet, maySpend }
}

async function claim(ask: AskByLink, request: FastifyRequest<LinkRoute>) {
  const { message, signature, timezone } = formOf(request)
  const body = {
    // Browsers send line ends as CR LF, whatever the text contains.
    message: typeof message === 'string' ? message.replaceAll('\r\n', '\n') : message,
    signature: typeof signature === 'string' ? signature.trim() : signature,
    // An unknown time zone is ignored, not refused.
    ...(isTimeZone(textOf(timezone)) && { timezone }),
  }
  const claimed = await ask(request, claimConnectCode, { body })
  // The purchase that the chat requested continues at once.
  const handle = await ask(request, draftLinkedPurchase)
  return { ...claimed, ...(handle !== undefined && { next: `/pay/${handle}` }) }
}

async function refuse(
  ask: AskByLink,
  request: FastifyRequest<LinkRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const isKnown = (await peek(ask, request)) !== undefined
  if (isKnown) await ask(request, refuseConnectCode)
  return reply.redirect(request.url, 303)
}

async function answerForm(
  app: App,
  ask: AskByLink,
  request: FastifyRequest<LinkRoute>,
  reply: FastifyReply,
  work: () => Promise<{
    readonly message?: string
    readonly wallet: string
    readonly maySpend?: boolean
    readonly next?: string
  }>,
): Promise<FastifyReply> {
  const offer = await peek(ask, request)
  if (offer?.state !== 'open') return reply.redirect(request.url, 303)
  const { wallet, message, spend, answer } = formOf(request)
  const filled = { wallet: textOf(wallet), spend: spend === 'on' }
  try {
    const made = await work()
    if (answer === 'claim') return reply.redirect(made.next ?? request.url, 303)
    return await sendOffer(app, request, reply, offer, { ...filled, ...made })
  } catch (error) {
    const refusal = refusalOf(error, localeOf(request, offer.locale))
    // A refused challenge is used up; a challenge that could not be checked is not.
    const isKept = ['dependency_unavailable', 'validation_failed'].includes(refusal.code)
    const kept = isKept ? textOf(message).replaceAll('\r\n', '\n') : undefined
    return await sendOffer(app, request, reply, offer, { ...filled, message: kept, refusal })
  }
}

function textOf(field: unknown): string {
  return typeof field === 'string' ? field : ''
}

function sendOver(app: App, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendPage(app, request, reply, {
    view: 'notice',
    status: 404,
    isUncached: true,
    data: (t) => ({
      title: t('pages:connect.over.title'),
      text: t('pages:connect.over.text'),
      button: bot(app, 'connect', t('pages:connect.over.again')),
    }),
  })
}

/** A button that opens the bot, if there is one. */
function bot(app: App, start: string | undefined, label: string) {
  const href = botUrl(app, start)
  return href === undefined ? undefined : { href, label }
}

async function sendOffer(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  offer: ConnectOffer,
  elsewhere?: Elsewhere,
): Promise<FastifyReply> {
  const { state, locale } = offer
  if (state !== 'open') {
    return sendPage(app, request, reply, {
      view: 'notice',
      isUncached: true,
      locale,
      data: (t) => ({
        title: t(`pages:connect.${state}.title`),
        text: t(`pages:connect.${state}.text`, {
          wallet: id(offer.wallet === undefined ? '' : shortAddress(offer.wallet)),
          chat: typed(offer.title),
        }),
        button: bot(app, undefined, t('pages:connect.back')),
      }),
    })
  }
  const address = app.publicUrl + request.url.split('?')[0]
  const [qr, asked] = await Promise.all([qrImage(address), readAskedPurchase(app, offer)])
  return sendPage(app, request, reply, {
    view: 'connect',
    status: elsewhere?.refusal === undefined ? 200 : 422,
    isUncached: true,
    locale,
    data: (t) => ({
      title: t(offer.spendOf === undefined ? 'pages:connect.title' : 'pages:connect.allow.title'),
      facts: facts(t, offer),
      spendOf: offer.spendOf,
      order: asked && askedOrder(t, asked, offer),
      match: offer.match,
      // Ticked only by the reader: the chat may belong to another person.
      spend: elsewhere?.spend ?? false,
      isBilled: app.billing.enabled,
      isSpendAsked: offer.spend,
      elsewhere,
      removesSpend: elsewhere?.maySpend === true && !elsewhere.spend,
      apps: walletApps(address),
      address,
      qr,
      chain: JSON.stringify(chainParams()),
      script: '/scripts/connect.js',
    }),
  })
}

function facts(t: Translate, { title, username, spendOf }: ConnectOffer) {
  const name = username === undefined ? title : `${title} (@${username})`
  return [
    ...(spendOf === undefined
      ? []
      : [{ label: t('pages:connect.allow.wallet'), value: shortAddress(spendOf) }]),
    {
      label: t(spendOf === undefined ? 'pages:connect.chat' : 'pages:connect.allow.chat'),
      value: t('pages:connect.privateChat', { name: typed(name) }),
    },
    { label: t('pages:connect.may'), value: t('pages:connect.may.write') },
    ...(spendOf === undefined
      ? []
      : [{ label: t('pages:connect.allow.also'), value: t('pages:connect.allow.slots') }]),
    { label: t('pages:connect.never'), value: t('pages:connect.never.funds') },
    ...(spendOf === undefined
      ? []
      : [{ label: t('pages:connect.allow.end'), value: t('pages:connect.allow.again') }]),
  ]
}
