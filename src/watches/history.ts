import type { BlockRef } from '#src/chain/chain.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Facts } from './facts.ts'

/**
 * Reasons why a backtest does not cover everything that was asked. Public codes.
 *
 * - `starts_later`: the stored history begins after the asked time
 * - `has_holes`: nothing was stored for a while inside the covered time
 * - `coarse_prices`: prices older than a day are kept every five minutes
 * - `unwatched_parts`: rounds in which nobody watched the provider have its votes only
 * - `sampled_balances`: the balance was read at a few blocks; moves between them are summed up
 * - `no_archive`: the endpoint keeps no balances of earlier blocks
 * - `chain_unavailable`: the chain did not answer in time
 * - `vote_end_unknown`: the end of a concluded vote is not known; that vote was not judged
 * - `too_much`: the history is longer than one backtest reads
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
export interface LedgerEntry {
  /** Position; 0 before the first entry. */
  readonly entry: number
  readonly at: Date
  readonly balanceCredits: number
}

/** Sources of past observations. */
export interface HistorySources {
  readonly chain: FspChain
  readonly facts: Facts
  /** The newest final block. */
  tip(signal?: AbortSignal): Promise<BlockRef>
  /** The caller's ledger: the balance at `from`, then the entries up to `to`, in pages. */
  ledger(from: Date, to: Date): AsyncIterable<readonly LedgerEntry[]>
}

/** Question for the history of a target. */
export interface HistoryQuery<Target, Settings> {
  readonly target: Target
  readonly settings: Settings
  readonly from: Date
  readonly to: Date
  /** Aborts requests to the chain. */
  readonly signal: AbortSignal
}

/** A part of a history: some observations in order, and what is missing around them. */
export interface HistoryPage<Observation> {
  readonly observations: readonly Observation[]
  readonly gaps?: readonly HistoryGap[]
}

/** How the past observations of a watch type are read. */
export interface History<Target, Settings, Observation> {
  /**
   * `each`: every observation is stored. `changes`: between two of them the earlier one stays true, so an
   * alert that the cooldown defers repeats when the cooldown is over; positions are numbered by the replay.
   */
  readonly keeps: 'each' | 'changes'
  /** Longest time between two observations that is no hole, in milliseconds; undefined for changes. */
  readonly holeMs?: number
  /** Reads observations in order, oldest first, in pages; the first one is the baseline. */
  read(
    sources: HistorySources,
    query: HistoryQuery<Target, Settings>,
  ): AsyncIterable<HistoryPage<Observation>>
}
