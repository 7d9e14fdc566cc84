/** Finds out whether money that left a watched account paid a top-up of the watch's owner, even before the payment is recorded. */
import type { Db } from '#src/db/connection.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
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

/** For each move, whether it pays a top-up of its wallet. */
export async function areOwnPayments(
  db: Db,
  moves: readonly OutgoingMove[],
): Promise<readonly boolean[]> {
  if (moves.length === 0) return []
  const wallets = [...new Set(moves.map(({ wallet }) => wallet))]
  const first = Math.min(...moves.map(({ at }) => at.getTime()))
  const quotes = await listQuotesWithPayments(db, wallets, new Date(first - DAY_MS))
  const byWallet = Map.groupBy(quotes, ({ wallet }) => wallet)
  return moves.map((move) => {
    return (byWallet.get(move.wallet) ?? []).some((quote) => paysFor(move, quote))
  })
}

/**
 * Whether a move pays for a quote: it is the recorded payment, or the quote was open and the move fits. Coins go to
 * the quote's address; tokens go through the router to the treasury, in the amount of the quote.
 */
export function paysFor(move: OutgoingMove, quote: QuoteWithPayment): boolean {
  if (quote.payment !== null && isPayment(move, quote, quote.payment)) return true
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
  quote: QuoteWithPayment,
  { way, txHash, asset, amountUnits }: NonNullable<QuoteWithPayment['payment']>,
): boolean {
  if (move.transactionHash !== txHash || move.asset !== asset) return false
  if (asset !== 'FLR') return move.units === amountUnits
  return way === 'native' || isToAddress(move, quote)
}

function isToAddress(
  { counterparty }: OutgoingMove,
  { payTo, contractPayTo }: QuoteWithPayment,
): boolean {
  return counterparty !== null && [payTo, contractPayTo].includes(counterparty)
}
