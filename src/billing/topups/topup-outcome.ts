import type { TopupStatus } from './model.ts'

/** What is known about a transaction that paid a top-up or was submitted for it. */
export interface TopupAttempt {
  readonly txHash: string
  readonly state: 'credited' | 'confirming' | 'submitted' | 'rejected' | 'failed' | 'unknown'
  /** Amount received; null while no payment of the transaction is known. */
  readonly amountUnits: bigint | null
  /** Credits of the payment, including the bonus. */
  readonly credits: number
  readonly confirmations: number
  readonly reason: string | null
}

/** State of a top-up, with amounts and credits. */
export interface TopupOutcome {
  readonly status: TopupStatus
  readonly txHash: string | null
  readonly confirmations: number
  readonly paidUnits: bigint | null
  readonly creditedCredits: number
  readonly reason: string | null
}

/** States in which money has arrived or is on its way. */
const PAYING = new Set<TopupStatus>(['credited', 'confirming', 'submitted'])

/** States of attempts, the best first. */
const RANKING = ['credited', 'confirming', 'submitted', 'rejected', 'failed', 'unknown'] as const

/**
 * The state that follows from the attempts: the best of their states, or `draft` or `expired` by the clock
 * if there are none or all are unknown.
 *
 * Amounts and credits are those of all attempts in the best state. Hash, confirmations and reason are those of the first
 * of them; if all are unknown, those of the last, which corrects the earlier ones.
 *
 * @param attempts oldest first
 */
export function topupOutcomeOf(
  attempts: readonly TopupAttempt[],
  { expiresAt }: { readonly expiresAt: Date },
  now: Date,
): TopupOutcome {
  const best = RANKING.find((state) => attempts.some((attempt) => attempt.state === state))
  const inBestState = attempts.filter(({ state }) => state === best)
  const amounts = inBestState.flatMap(({ amountUnits }) => amountUnits ?? [])
  const hasNoKnownAttempt = best === undefined || best === 'unknown'
  const shown = hasNoKnownAttempt ? inBestState.at(-1) : inBestState[0]
  return {
    status: hasNoKnownAttempt ? (now < expiresAt ? 'draft' : 'expired') : best,
    txHash: shown?.txHash ?? null,
    confirmations: shown?.confirmations ?? 0,
    paidUnits: amounts.length === 0 ? null : amounts.reduce((sum, amount) => sum + amount, 0n),
    creditedCredits: inBestState.reduce((sum, { credits }) => sum + credits, 0),
    reason: shown?.reason ?? null,
  }
}

/**
 * Outcome of one submitted transaction. If it was not found and other transactions pay the top-up, the result
 * is the state of the top-up, with the reason of the submitted transaction.
 *
 * @param attempts all of the top-up, oldest first
 */
export function transactionOutcomeOf(
  attempts: readonly TopupAttempt[],
  { txHash, expiresAt }: { readonly txHash: string; readonly expiresAt: Date },
  now: Date,
): TopupOutcome {
  const attemptsOfTransaction = attempts.filter((attempt) => attempt.txHash === txHash)
  const outcome = topupOutcomeOf(attemptsOfTransaction, { expiresAt }, now)
  if (attemptsOfTransaction.some(({ state }) => state !== 'unknown')) return outcome
  const whole = topupOutcomeOf(attempts, { expiresAt }, now)
  return PAYING.has(whole.status) ? { ...whole, reason: outcome.reason } : outcome
}
