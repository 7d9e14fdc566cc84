import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import qrcode from 'qrcode'
import { erc20Abi } from 'viem'
import { flare } from 'viem/chains'
import { encodeFunctionData, formatUnits, numberToHex } from 'viem/utils'
import type { Topup } from '#src/billing/topups/model.ts'
import { symbolOf } from '#src/billing/topups/rules.ts'
import { findLinkedTopup } from '#src/billing/topups/service.ts'
import { formatAmount, formatTime, shortAddress } from '#src/i18n/format.ts'
import { builtKey, hasText, id, type Translate, translator } from '#src/i18n/translate.ts'
import { Hash, Instant } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { localeOf, sendPage } from './layout.ts'

interface Route {
  Params: { handle: string }
}

/** States in which nothing is on its way that would pay it. */
const PAYABLE = ['draft', 'failed', 'rejected'] as const

/**
 * `/pay/<handle>`: how to pay a top-up and where it stands, for whoever holds the link. Nothing can be
 * changed here: a payment is found by itself.
 */
export function payPage(server: FastifyInstance, app: App): void {
  server.get<Route>('/pay/:handle', async (request, reply) => {
    const topup = await find(app, request)
    return topup === undefined
      ? sendGone(app, request, reply)
      : sendTopup(app, request, reply, topup)
  })
  server.get<Route>('/pay/:handle/status', async (request, reply) => {
    const topup = await find(app, request)
    reply.header('cache-control', 'no-store')
    if (topup === undefined) return reply.code(404).send({ status: null })
    return reply.send(publicFacts(translator(localeOf(request)), topup))
  })
}

async function find(app: App, request: FastifyRequest<Route>): Promise<Topup | undefined> {
  const handle = Hash.safeParse(request.params.handle)
  if (!handle.success) return undefined
  return findLinkedTopup(app, { handle: handle.data, locale: localeOf(request) })
}

function sendGone(app: App, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendPage(app, request, reply, {
    view: 'notice',
    status: 404,
    secret: true,
    data: (t) => ({ title: t('pages:pay.gone.title'), text: t('pages:pay.gone.text') }),
  })
}

/** What the chain shows anyway, and the sentence for it; nothing else of the wallet. */
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

async function sendTopup(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  topup: Topup,
): Promise<FastifyReply> {
  const isPaused = await isPausedNow(app, topup)
  const isOpen = PAYABLE.some((one) => one === topup.status) && app.clock.now() < topup.expiresAt
  const qr = await qrImage(topup.pageQr)
  return sendPage(app, request, reply, {
    view: 'pay',
    secret: true,
    data: (t) => ({
      title: t('pages:pay.title', { amount: shown(t, topup, topup.amount) }),
      about: aboutLine(t, topup),
      price: priceLine(t, topup),
      status: topup.status,
      statusLine: statusLine(t, topup),
      paused: isOpen && isPaused ? t('pages:pay.paused', { asset: id(topup.asset) }) : undefined,
      instructions: topup.instructions,
      isOpen: isOpen && !isPaused,
      wallet: topup.transaction === null ? undefined : walletData(topup),
      chain: flare.name,
      amount: exact(topup, topup.amount),
      details: details(t, topup),
      qr,
      xrpLink: topup.destinationTag === null ? undefined : topup.pageQr,
      txHash: topup.txHash,
      statusPath: `/pay/${topup.handle}/status`,
      script: '/scripts/pay.js',
    }),
  })
}

/** The asset cannot be paid for now; what the chain does not say is not held against it. */
async function isPausedNow({ market, billing }: App, { asset }: Topup): Promise<boolean> {
  const states = await market.list()
  const state = states.find((one) => symbolOf(one.asset.key, billing.serviceTokenSymbol) === asset)
  return state?.paused === true
}

function aboutLine(t: Translate, { credits, bonusCredits, wallet }: Topup): string {
  const values = {
    credits: t('units:credits', { count: credits }),
    wallet: id(shortAddress(wallet)),
  }
  if (bonusCredits === 0) return t('pages:pay.about', values)
  const bonus = t('units:credits', { count: bonusCredits })
  return t('pages:pay.about.bonus', { ...values, bonus })
}

function priceLine(t: Translate, { credits, expiresAt }: Topup): string {
  const usd = { units: BigInt(credits), decimals: 3, symbol: 'USD' }
  return t('pages:pay.price', {
    price: formatAmount(usd, t.locale),
    time: formatTime(expiresAt, t.locale, 'UTC', { offset: true }),
  })
}

/** Where the payment stands, in one sentence or two. */
function statusLine(t: Translate, topup: Topup): string {
  const { status, wallet, creditedCredits, confirmations, requiredConfirmations } = topup
  return t(`pages:pay.status.${status}`, {
    paid: topup.paidAmount === null ? '' : shown(t, topup, topup.paidAmount),
    credits: t('units:credits', { count: creditedCredits }),
    wallet: id(shortAddress(wallet)),
    count: Math.min(confirmations, requiredConfirmations),
    total: requiredConfirmations,
    reason: reasonText(t, topup.reason),
    reference: id(shortAddress(topup.handle)),
  })
}

/** Our own reasons in words; what a contract said as it said it. */
function reasonText(t: Translate, reason: string | null) {
  if (reason === null) return ''
  const key = `pages:pay.reason.${reason}`
  return hasText(key) ? t(builtKey(key)) : id(reason)
}

/** An amount to read, rounded. */
function shown(t: Translate, { asset, decimals }: Topup, units: bigint): string {
  return formatAmount({ units, decimals, symbol: asset }, t.locale)
}

/** An amount to pay, to the last digit. */
function exact({ asset, decimals }: Topup, units: bigint): string {
  return `${formatUnits(units, decimals)}\u00a0${asset}`
}

interface Detail {
  readonly label: string
  readonly value: string
  /** What is copied, where it is not the value. */
  readonly copy?: string
  readonly isBig?: boolean
}

/** Everything to pay by hand with. */
function details(t: Translate, topup: Topup): readonly Detail[] {
  const { amount, decimals, payTo, approval, transaction, destinationTag, handle, txHash } = topup
  const isToken = approval !== null
  return [
    {
      label: t('pages:pay.details.amount'),
      value: exact(topup, amount),
      copy: formatUnits(amount, decimals),
    },
    ...(isToken
      ? [
          { label: t('pages:pay.details.token'), value: approval.token },
          { label: t('pages:pay.details.contract'), value: payTo },
          { label: t('pages:pay.details.units'), value: String(amount) },
        ]
      : [{ label: t('pages:pay.details.address'), value: payTo }]),
    ...(destinationTag === null
      ? []
      : [{ label: t('pages:pay.details.tag'), value: String(destinationTag), isBig: true }]),
    ...(transaction === null
      ? []
      : [{ label: t('pages:pay.details.data'), value: transaction.data }]),
    ...(isToken ? [{ label: t('pages:pay.details.reference'), value: handle }] : []),
    ...(txHash === null ? [] : [{ label: t('pages:pay.details.transaction'), value: txHash }]),
  ]
}

/** What the page's script hands to a wallet. */
function walletData({ transaction, approval, chainId, amount }: Topup) {
  const chain = {
    chainId: numberToHex(chainId),
    chainName: flare.name,
    nativeCurrency: flare.nativeCurrency,
    rpcUrls: flare.rpcUrls.default.http,
    blockExplorerUrls: [flare.blockExplorers.default.url],
  }
  return JSON.stringify({
    chain: chainId === flare.id ? chain : { chainId: numberToHex(chainId) },
    amount: numberToHex(amount),
    payment: transaction && { ...transaction, value: numberToHex(transaction.value) },
    approval: approval && {
      token: approval.token,
      spender: approval.spender,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'approve',
        args: [approval.spender, approval.amount],
      }),
    },
  })
}

async function qrImage(text: string): Promise<string> {
  const options = { type: 'svg', errorCorrectionLevel: 'M', margin: 4 } as const
  const svg = await qrcode.toString(text, options)
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
