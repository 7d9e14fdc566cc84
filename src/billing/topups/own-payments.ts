/** Finds the top-up of the watch's owner that money from a watched account paid for, even before the payment is recorded. */
import type { Db } from '#src/db/connection.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import { type Address, Hash } from '#src/kernel/units.ts'
import { listQuotesWithPayments, type QuoteWithPayment } from './store.ts'

/** Money that left a watched account. */
export interface OutgoingMove {
  /** Owner of the watch; only top-ups of this wallet are compared. */
  readonly wallet: Address
  /** A token contract, or FLR. */
  readonly asset: string
  readonly units: bigint
  readonly transactionHash: string | null
  readonly counterparty: string | null
  readonly at: Date
}

/** Time after the end of a quote in which a payment for the quote is still expected. */
const LATE_MS = HOUR_MS
/** Largest difference between the clocks of host and chain that is tolerated. */
const CLOCK_SKEW_MAX_MS = 5 * MINUTE_MS

/** A top-up that was paid for. */
export interface PaidTopup {
  /** Undefined if the payment could be for several top-ups. */
  readonly handle: Hash | undefined
}

/** For each move, the top-up of its wallet that it pays for; undefined if it pays for none. */
export async function findPaidTopups(
  db: Db,
  moves: readonly OutgoingMove[],
): Promise<readonly (PaidTopup | undefined)[]> {
  if (moves.length === 0) return []
  const wallets = [...new Set(moves.map(({ wallet }) => wallet))]
  const first = Math.min(...moves.map(({ at }) => at.getTime()))
  const quotes = await listQuotesWithPayments(db, wallets, new Date(first - DAY_MS))
  const byWallet = Map.groupBy(quotes, ({ wallet }) => wallet)
  return moves.map((move) => paidTopup(move, byWallet.get(move.wallet) ?? []))
}

/**
 * The quote that a move pays for: that of which it is the recorded payment, or else one that was open and that the move
 * fits. Coins go to the quote's address; tokens go through the router to the treasury, in the amount of the quote.
 */
export function paidTopup(
  move: OutgoingMove,
  quotes: readonly QuoteWithPayment[],
): PaidTopup | undefined {
  const recorded = quotes.filter(({ payment, ...quote }) => {
    return payment !== null && isPayment(move, quote, payment)
  })
  const fitting = recorded.length > 0 ? recorded : quotes.filter((quote) => fits(move, quote))
  if (fitting.length === 0) return undefined
  const whole = fitting.filter(({ amountUnits }) => isWithFee(move.units, amountUnits))
  const handles = new Set((whole.length === 0 ? fitting : whole).map(({ handle }) => handle))
  const [handle] = handles
  return { handle: handles.size === 1 ? Hash.parse(handle) : undefined }
}

/** Whether coins of this amount left a wallet that paid a quote in full: the fee is far below a hundredth. */
function isWithFee(units: bigint, amountUnits: bigint): boolean {
  return amountUnits <= units && units - amountUnits <= amountUnits / 100n
}

function fits(move: OutgoingMove, quote: QuoteWithPayment): boolean {
  const at = move.at.getTime()
  const wasOpen =
    quote.createdAt.getTime() <= at + CLOCK_SKEW_MAX_MS && at <= quote.expiresAt.getTime() + LATE_MS
  if (!wasOpen || move.asset !== (quote.token ?? 'FLR')) return false
  return quote.token === null ? isToAddress(move, quote) : move.units === quote.amountUnits
}

/**
 * Whether a move is a recorded payment. Its transaction alone proves nothing: anybody may pay a quote, and take
 * something else from the wallet in the same transaction.
 */
function isPayment(
  move: OutgoingMove,
  quote: QuoteAddresses,
  { way, txHash, asset, amountUnits }: NonNullable<QuoteWithPayment['payment']>,
): boolean {
  if (move.transactionHash !== txHash || move.asset !== asset) return false
  if (asset !== 'FLR') return move.units === amountUnits
  return way === 'native' || isToAddress(move, quote)
}

type QuoteAddresses = Pick<QuoteWithPayment, 'payTo' | 'contractPayTo'>

function isToAddress(
  { counterparty }: OutgoingMove,
  { payTo, contractPayTo }: QuoteAddresses,
): boolean {
  return counterparty !== null && [payTo, contractPayTo].includes(counterparty)
}
