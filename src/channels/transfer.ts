/** Transfers of a watched wallet: what the first line of their messages says, and which help fits them. Pure. */
import { z } from 'zod'
import { formatAmounts } from '#src/i18n/amounts.ts'
import { type TextValue, type Translate, translator, typed } from '#src/i18n/translate.ts'
import { assetSymbol, titleOnChain } from '#src/kernel/chains.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import type { Cause, Envelope, MovedAmount } from './envelope.ts'
import { shownLabel } from './wording.ts'

const MOVED = 'wallet-balance.moved'
const Digits = z.string().regex(/^\d+$/)

const Move = z.object({
  asset: z.string(),
  symbol: z.string(),
  decimals: z.int().nonnegative(),
  changeAmount: z.string().regex(/^-?\d+$/),
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
  return {
    kind: 'moved',
    ...(sums.sent > 0n && { sent: amount(sums.sent) }),
    ...(sums.received > 0n && { received: amount(sums.received) }),
  }
}

/** Heading of several transfers: how much the wallet sent and received in all. */
export function movedHeading(t: Translate, { sent, received }: Cause, watch: TextValue): string {
  const amounts = [sent, received].flatMap((amount) => (amount ? [amountOf(amount)] : []))
  const [out, back] = amounts
  if (out !== undefined && back !== undefined && readAlike(out, back, t)) {
    const isLess = back.units < out.units
    const units = isLess ? out.units - back.units : back.units - out.units
    return t(`messages:group.${isLess ? 'movedLess' : 'movedMore'}`, {
      watch,
      amount: textOf(out, t),
      difference: textOf({ ...out, units }, t),
    })
  }
  const [first = '', second] = formatAmounts(amounts, t.locale)
  if (second !== undefined) {
    return t('messages:group.moved', { watch, amount: first, received: second })
  }
  return t(`messages:group.${sent ? 'sent' : 'received'}`, { watch, amount: first })
}

/** Whether two amounts differ, but not in the digits that people read, as where only a fee is missing. */
function readAlike(one: Amount, other: Amount, t: Translate): boolean {
  return one.units !== other.units && textOf(one, t) === textOf(other, t)
}

function textOf(amount: Amount, t: Translate): string {
  const [text = ''] = formatAmounts([amount], t.locale)
  return text
}

/** First line of one transfer, with the name of its watch; undefined for other alerts. */
export function transferHeading({
  data,
  message,
  locale,
}: Pick<Envelope, 'data' | 'message' | 'locale'>): string | undefined {
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
  const values = { watch: typed(shownLabel(watchLabel)), amount }
  const isOwn = of.counterpartyRole === 'own-wallet'
  const form = of.isTopUp ? 'paid' : units > 0n ? 'received' : isOwn ? 'sentOwn' : 'sent'
  return titleOnChain(translator(locale)(`messages:group.${form}`, values))
}

/** Forms of the help of a transfer; each has texts of its own. */
export const HELP_FORMS = ['sent', 'received', 'topUp'] as const

/** Which texts of a signal's help fit an alert better than those for all of its alerts. */
export function helpFormOf(
  event: string,
  data: JsonObject,
): (typeof HELP_FORMS)[number] | undefined {
  if (event !== MOVED) return undefined
  const { isTopUp, direction } = data
  if (isTopUp === true) return 'topUp'
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

function amountOf({ units, decimals, symbol }: MovedAmount): Amount {
  return { units: BigInt(units), decimals, symbol }
}
