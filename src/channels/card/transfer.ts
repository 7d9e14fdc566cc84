/** Transfers of a watched wallet: what the first line of their messages says, and which help fits them. Pure. */

import { z } from 'zod'
import { formatAmounts } from '#src/i18n/amounts.ts'
import { formatAmount } from '#src/i18n/format.ts'
import { type TextValue, type Translate, translator, typed } from '#src/i18n/translate.ts'
import { assetSymbol, titleOnChain } from '#src/kernel/chains.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { AssetDecimals, type JsonObject } from '#src/kernel/units.ts'
import type { Cause, Envelope, EnvelopeMessage, MovedAmount } from '../envelope.ts'
import { LABEL_MAX } from './wording.ts'

const MOVED = 'wallet-balance.moved'
/** Maximum number of transfers whose titles are written together. */
const TITLED_MAX = 20
const Digits = z.string().regex(/^\d{1,78}$/)

const Move = z.object({
  asset: z.string(),
  symbol: z.string(),
  decimals: AssetDecimals,
  changeAmount: z.string().regex(/^-?\d{1,78}$/),
})

const Transfer = Move.extend({
  previousAmount: Digits,
  currentAmount: Digits,
  isTopUp: z.literal(true).optional(),
  counterpartyRole: z.string().optional(),
})

type Amount = Parameters<typeof formatAmounts>[0][number]
type Part = Pick<Envelope, 'data' | 'message'>

/** Movements of one asset: how much left the wallet and how much arrived, added up. */
export function movement(parts: readonly Part[]): Cause | undefined {
  const moves = parts.map(moveOf)
  const [first] = moves
  if (first === undefined || moves.length < 2) return undefined
  const { symbol, decimals } = first
  const sums = { sent: 0n, received: 0n }
  for (const move of moves) {
    if (move?.symbol !== symbol || move.decimals !== decimals) return undefined
    if (move.units < 0n) sums.sent -= move.units
    else sums.received += move.units
  }
  const amount = (units: bigint) => ({ units: units.toString(), decimals, symbol })
  const single = moves.flatMap((move) => move ?? []).slice(0, TITLED_MAX)
  const all = [...single.map(({ units }) => units), sums.sent, sums.received]
  const rounded = decimalsFor(
    all.flatMap((units) => (units === 0n ? [] : [{ units: absolute(units), decimals, symbol }])),
  )
  return {
    kind: 'moved',
    ...(sums.sent > 0n && { sent: amount(sums.sent) }),
    ...(sums.received > 0n && { received: amount(sums.received) }),
    ...(rounded !== undefined && { rounded }),
  }
}

/** Heading of several transfers: how much the wallet sent and received in all. */
export function movedHeading(t: Translate, cause: Cause, watch: TextValue): string {
  const { sent, received } = cause
  const [first = '', second] = formatMoves(sumsOf(cause), t.locale, cause.rounded)
  if (sent !== undefined && received !== undefined) {
    return t('messages:group.moved', { watch, amount: first, received: second ?? '' })
  }
  return t(`messages:group.${sent ? 'sent' : 'received'}`, { watch, amount: first })
}

/** How much less or more the wallet has after transfers in both directions; empty if that is nothing, or one-sided. */
export function movedDifference(t: Translate, { sent, received }: Cause): string {
  if (sent === undefined || received === undefined) return ''
  const units = BigInt(received.units) - BigInt(sent.units)
  if (units === 0n) return ''
  const [difference = ''] = formatAmounts([amountOf(sent, absolute(units))], t.locale)
  return t(`messages:group.${units < 0n ? 'netLess' : 'netMore'}`, { difference })
}

/** Titles of transfers of one asset in one message: amounts that differ never read alike, in them and in the heading. */
export function movedTitles(
  parts: readonly Pick<Envelope, 'data' | 'message'>[],
  cause: Cause,
  locale: Locale,
): readonly string[] {
  const t = translator(locale)
  const moves = parts.slice(0, TITLED_MAX).flatMap((part) => moveOf(part) ?? [])
  const own = moves.map(({ units, ...of }) => ({ ...of, units: absolute(units) }))
  const texts = formatMoves(own, locale, cause.rounded)
  return parts.map(({ data, message }, index) => {
    const amount = texts[index]
    if (moves.length <= index || amount === undefined) return message.title
    const form = titleFormOf(data)
    return titleOnChain(
      form === undefined
        ? t('messages:wallet-balance.moved.title', { amount })
        : t(`messages:wallet-balance.moved.${form}.title`, { amount }),
    )
  })
}

/**
 * Whether a message of an envelope is about a transfer that pays the owner's own top-up. Groups are told that it is the
 * owner's payment, and not that it paid for credits.
 */
export function isOwnPayment({ data, message }: Part, item: EnvelopeMessage = message): boolean {
  const { event, source } = item
  const form = source === undefined ? helpFormOf(event, data) : source.form
  return event === MOVED && (form === 'topUp' || form === 'ownPayment')
}

function titleFormOf(data: JsonObject): 'topUp' | 'received' | 'sentOwn' | undefined {
  if (data['isTopUp'] === true) return 'topUp'
  if (String(data['changeAmount']).startsWith('-')) {
    return data['counterpartyRole'] === 'own-wallet' ? 'sentOwn' : undefined
  }
  return 'received'
}

/** Sums of what left and of what arrived, as far as there are any. */
function sumsOf({ sent, received }: Cause): readonly Amount[] {
  return [sent, received].flatMap((amount) => (amount ? [amountOf(amount)] : []))
}

/** Texts of amounts of one asset, with so many decimals; undefined: as people read each of them. */
function formatMoves(
  amounts: readonly Amount[],
  locale: Locale,
  rounded = decimalsFor(amounts),
): readonly string[] {
  if (rounded === undefined) return formatAmounts(amounts, locale)
  return amounts.map((amount) => formatAmount({ ...amount, rounded }, locale))
}

/**
 * Number of decimals with which amounts of one asset do not read alike if they differ; undefined if that takes no more
 * than people read. Where only a fee is missing, it is that of the fee.
 */
function decimalsFor(amounts: readonly Amount[]): number | undefined {
  const small = differences(amounts)
  if (small.length === 0) return undefined
  const most = Math.max(...amounts.map(({ decimals }) => decimals))
  const count = new Set(amounts.map(({ units }) => units)).size
  let rounded = Math.max(...[...small, ...amounts].map(decimalsOf))
  while (rounded < most && new Set(formatMoves(amounts, 'en', rounded)).size < count) rounded += 1
  return rounded
}

function absolute(units: bigint): bigint {
  return units < 0n ? -units : units
}

/** The differences of amounts that read alike. */
function differences(amounts: readonly Amount[]): readonly Amount[] {
  const read = amounts.map((amount) => ({ ...amount, text: textOf(amount) }))
  return [...Map.groupBy(read, ({ text }) => text).values()].flatMap((alike) => {
    const sorted = alike.toSorted((a, b) => (a.units < b.units ? -1 : 1))
    return sorted.flatMap(({ text: _, ...amount }, index) => {
      const units = amount.units - (sorted[index - 1]?.units ?? amount.units)
      return units === 0n ? [] : [{ ...amount, units }]
    })
  })
}

function textOf(amount: Amount): string {
  const [text = ''] = formatAmounts([amount], 'en')
  return text
}

/** Number of decimals with which people read an amount. */
function decimalsOf(amount: Amount): number {
  return /\.(\d+)/.exec(textOf(amount))?.[1]?.length ?? 0
}

/**
 * First line of one transfer, with the name of its watch; undefined for other alerts.
 *
 * @param labelMax maximum length of the name in UTF-16 units
 */
export function transferHeading(
  { data, message, locale }: Pick<Envelope, 'data' | 'message' | 'locale'>,
  labelMax = LABEL_MAX,
): string | undefined {
  const { event, watchLabel } = message
  const read = event === MOVED && watchLabel !== null ? Transfer.safeParse(data) : undefined
  if (read?.success !== true || watchLabel === null) return undefined
  const { asset, decimals, changeAmount, previousAmount, currentAmount, ...of } = read.data
  const units = BigInt(changeAmount)
  const symbol = assetSymbol(asset, of.symbol)
  // The text below has the balances, from which the amount must differ where they differ.
  const [amount = ''] = formatAmounts(
    [units < 0n ? -units : units, BigInt(previousAmount), BigInt(currentAmount)].map((each) => ({
      units: each,
      decimals,
      symbol,
    })),
    locale,
  )
  const values = { watch: typed(cutText(watchLabel, labelMax)), amount }
  const isOwn = of.counterpartyRole === 'own-wallet'
  const form = of.isTopUp ? 'paid' : units > 0n ? 'received' : isOwn ? 'sentOwn' : 'sent'
  return titleOnChain(translator(locale)(`messages:group.${form}`, values))
}

/** Forms of the help of a transfer; each has texts of its own. */
export const HELP_FORMS = ['sent', 'received', 'topUp', 'ownPayment'] as const

/** Which texts of a signal's help fit an alert better than those for all of its alerts. */
export function helpFormOf(
  event: string,
  data: JsonObject,
): (typeof HELP_FORMS)[number] | undefined {
  if (event !== MOVED) return undefined
  const { isTopUp, isOwnPayment: isPayment, direction } = data
  if (isTopUp === true) return 'topUp'
  if (isPayment === true) return 'ownPayment'
  if (direction === 'outgoing') return 'sent'
  return direction === 'incoming' ? 'received' : undefined
}

/** An alert's signal, with the form of its help. */
export function helpRef({
  type,
  signal,
  data,
  message,
}: Pick<Envelope, 'type' | 'signal' | 'data' | 'message'>) {
  return { type, signal, form: helpFormOf(message.event, data) }
}

function moveOf({ data, message }: Part) {
  const read = message.event === MOVED ? Move.safeParse(data) : undefined
  if (read?.success !== true) return undefined
  const { asset, symbol, decimals, changeAmount } = read.data
  return { units: BigInt(changeAmount), decimals, symbol: assetSymbol(asset, symbol) }
}

function amountOf({ decimals, symbol, ...of }: MovedAmount, units = BigInt(of.units)): Amount {
  return { units, decimals, symbol }
}
