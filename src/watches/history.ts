import type { BlockRef } from '#src/chain/chain.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { WatchTypeFacts } from './facts.ts'

/**
 * Reasons why a backtest does not cover the requested time completely. The codes are part of the API.
 *
 * - `starts_later`: the stored history begins after the requested start
 * - `has_holes`: for a while inside the covered time nothing was stored
 * - `coarse_prices`: prices older than a day are kept every five minutes
 * - `unwatched_parts`: for rounds in which nobody watched the provider, only its votes are stored
 * - `sampled_balances`: the balance was read at a few blocks only; changes between two of these blocks
 * count as one
 * - `no_archive`: the endpoint keeps no balances of earlier blocks
 * - `chain_unavailable`: the chain did not answer in time
 * - `vote_end_unknown`: the end of a concluded vote is not known; that vote was not judged
 * - `too_much`: the history is longer than the maximum of one backtest
 * - `no_data`: nothing is stored about the target
 */
export const HISTORY_GAPS = [
  'starts_later',
  'has_holes',
  'coarse_prices',
  'unwatched_parts',
  'sampled_balances',
  'no_archive',
  'chain_unavailable',
  'vote_end_unknown',
  'too_much',
  'no_data',
] as const
export type HistoryGap = (typeof HISTORY_GAPS)[number]

/** An entry of the caller's ledger. */
export interface PastLedgerEntry {
  /** Position of the entry; 0 before the first entry. */
  readonly entry: number
  readonly at: Date
  readonly balanceCredits: number
}

/** Sources of past observations. */
export interface HistorySources {
  readonly chain: FspChain
  readonly facts: WatchTypeFacts
  /** The newest final block. */
  tip(signal?: AbortSignal): Promise<BlockRef>
  /** The caller's ledger: the balance at `from`, then the entries up to `to`, in pages. */
  ledger(from: Date, to: Date): AsyncIterable<readonly PastLedgerEntry[]>
}

/** Query of the history of a target. */
export interface HistoryQuery<Target, Settings> {
  readonly target: Target
  readonly settings: Settings
  readonly from: Date
  readonly to: Date
  /** Aborts requests to the chain. */
  readonly signal: AbortSignal
}

/** A part of a history: consecutive observations, and the reasons why some are missing. */
export interface HistoryPage<Observation> {
  readonly observations: readonly Observation[]
  readonly gaps?: readonly HistoryGap[]
  /** With `hasSeenTimes`: times at which something about the target was stored. */
  readonly seenAt?: readonly Date[]
}

/** Reader of the past observations of a watch type. */
export interface History<Target, Settings, Observation> {
  /**
   * `each`: every observation is stored. `changes`: only changes are stored, so the earlier of two
   * observations holds until the later one. An alert that the cooldown defers then repeats when the
   * cooldown is over. The replay numbers the positions.
   */
  readonly keeps: 'each' | 'changes'
  /**
   * Two observations that are further apart than this many milliseconds have a gap between them; undefined
   * for `changes`.
   */
  readonly gapMs?: number
  /** Whether pages state when something was stored, because a state alone does not show that. */
  readonly hasSeenTimes?: boolean
  /** Reads observations in order, oldest first, in pages; the first observation is the baseline. */
  read(
    sources: HistorySources,
    query: HistoryQuery<Target, Settings>,
  ): AsyncIterable<HistoryPage<Observation>>
}
