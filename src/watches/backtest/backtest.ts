import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { listEntriesAfter, readCreditsAt } from '#src/billing/account/service.ts'
import type { Db } from '#src/db/connection.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { createKeyedLimiter } from '#src/kernel/keyed-limiter.ts'
import type { Address } from '#src/kernel/units.ts'
import type { WatchType } from '../define.ts'
import type { AlertCandidate } from '../evaluate/evaluate.ts'
import type { WatchTypeFacts } from '../facts.ts'
import {
  HISTORY_GAPS,
  type HistoryGap,
  type HistorySources,
  type PastLedgerEntry,
} from '../history.ts'
import type { EvaluatedWatch, NewWatch } from '../model.ts'
import type { Observed } from '../signal.ts'
import { getWatchType } from '../types/index.ts'
import { type AlertCounts, type Replay, startReplay } from './replay.ts'

/** Maximum number of alerts in a result. */
export const ALERTS_MAX = 100
/** Maximum number of observations of one backtest. */
const OBSERVATIONS_MAX = 100_000
/**
 * Number of observations that are folded before control returns to the event loop: a few milliseconds of
 * work.
 */
const FOLDS_PER_TURN = 50
/** Maximum time for which a backtest waits for the chain. */
const CHAIN_MS = 10_000
/** Number of ledger entries that one query reads. */
const ENTRIES_PER_READ = 500
/** A history that begins at most this long after the requested time counts as complete. */
const START_SLACK_MS = 15 * MINUTE_MS
/** Maximum number of waiting backtests of one wallet. A chat requests one for each value of a setting. */
const WAITING_MAX = 9
/**
 * Limits of concurrent backtests in this process: one for each wallet, and few in all; further backtests
 * wait.
 */
const TURNS = {
  each: {
    runningMax: 1,
    waitingMax: WAITING_MAX,
    waitMs: 10_000,
    refusal: () =>
      new AppError('rate_limited', 'too_many_backtests', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        values: { count: WAITING_MAX + 1 },
      }),
  },
  all: { runningMax: 2, waitingMax: 20, waitMs: 10_000 },
} as const
const RETRY_AFTER_SECONDS = 5

/** The alerts that a watch would have sent. */
export interface BacktestOutcome {
  /** The time that was covered; null if there are no observations. */
  readonly covered: { readonly from: Date; readonly to: Date } | null
  /** Number of observations that were judged. */
  readonly observations: number
  readonly counts: AlertCounts
  /** Number of alerts in each 24 hours of the requested time, oldest first. */
  readonly perDay: readonly DayCounts[]
  /** Number of incidents by their highest severity. */
  readonly incidentCounts: SeverityCounts
  /** Newest first, at most `ALERTS_MAX`. */
  readonly incidents: readonly PastIncident[]
  /** Newest first, at most `ALERTS_MAX`. */
  readonly alerts: readonly AlertCandidate[]
  /** Reasons why the history is incomplete; empty if it is complete. */
  readonly gaps: readonly HistoryGap[]
}

/** Number of incidents by their highest severity. */
type SeverityCounts = Readonly<Record<Severity, number>>

/** An incident that a watch would have reported. */
export interface PastIncident {
  /** The highest so far. */
  readonly severity: Severity
  /** Time of its first alert. */
  readonly startedAt: Date
  /** Time of its last recovery; null while an alert is open, and if nothing ends it. */
  readonly endedAt: Date | null
  /** Its first alerts and recoveries, in order. */
  readonly parts: readonly AlertCandidate[]
  /** Number of all of them. */
  readonly count: number
}

/** Puts the alerts of a replay together to incidents. The room of alerts decides what belongs together. */
export interface PastIncidents {
  /** Takes the next alert or recovery, also one that nobody is told of. */
  add(candidate: AlertCandidate): void
  /** In the order in which they began. */
  all(): readonly PastIncident[]
}

/** Alerts of 24 hours. */
interface DayCounts {
  readonly from: Date
  readonly counts: AlertCounts
  /** Number of incidents that began in these hours. */
  readonly incidents: SeverityCounts
  /** Whether anything is known about the target in these hours. */
  readonly known: boolean
}

/** Runs backtests. */
export interface Backtests {
  /**
   * Replays a checked watch over the last days.
   *
   * @param input.canonicalTarget the target in canonical form
   * @throws AppError rate_limited `too_many_backtests` when too many backtests of the wallet are waiting;
   * upstream `dependency_unavailable` when too many wallets are waiting; errors of the database
   */
  run(
    caller: Caller,
    input: { readonly watch: NewWatch; readonly canonicalTarget: unknown; readonly days: number },
  ): Promise<BacktestOutcome>
}

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly chain: FspChain
  readonly facts: WatchTypeFacts
  readonly confirmations: number
  readonly startIncidents: () => PastIncidents
}

export function createBacktests(deps: Deps): Backtests {
  const turns = createKeyedLimiter(TURNS)
  return {
    run: (caller, { watch, canonicalTarget, days }) =>
      turns.take(caller.wallet, async () => {
        const type = getWatchType(watch.type)
        const to = deps.clock.now()
        const span = { from: new Date(to.getTime() - days * DAY_MS), to }
        const judged = asEvaluated(type, watch, caller.wallet)
        const perDay = countDays(span.from, days)
        const incidents = deps.startIncidents()
        const replay = startReplay(type, canonicalTarget, judged, ALERTS_MAX, (candidate) => {
          incidents.add(candidate)
          if (candidate.isNotified) perDay.add(candidate)
        })
        const sources = sourcesOf(deps, caller.wallet)
        const query = { target: canonicalTarget, settings: watch.settings, ...span }
        const outcome = await replayHistory(type, sources, replay, {
          ...query,
          markKnown: perDay.markKnown,
        })
        const all = incidents.all()
        for (const incident of all) perDay.addIncident(incident)
        return {
          ...outcome,
          perDay: perDay.all(),
          incidentCounts: countSeverities(all),
          incidents: all.slice(-ALERTS_MAX).toReversed(),
        }
      }),
  }
}

interface ReplayQuery {
  readonly target: unknown
  readonly settings: unknown
  readonly from: Date
  readonly to: Date
  /** Called with each span of time of which data is known. */
  readonly markKnown: (from: Date, to: Date) => void
}

/** Replays the stored history of a target, and returns the result with the covered time. */
async function replayHistory(
  type: WatchType,
  sources: HistorySources,
  replay: Replay,
  query: ReplayQuery,
): Promise<Omit<BacktestOutcome, 'perDay' | 'incidentCounts' | 'incidents'>> {
  const { from, to, markKnown } = query
  const { history } = type
  const gaps = new Set<HistoryGap>()
  let first: Date | undefined
  let last: Date | undefined
  let observations = 0
  const take = async (page: readonly Observed[]) => {
    for (let start = 0; start < page.length; start += FOLDS_PER_TURN) {
      const part = page.slice(start, start + FOLDS_PER_TURN)
      for (const { at } of part) {
        const isAfterGap = last !== undefined && isGap(history.gapMs, last, at)
        if (isAfterGap) gaps.add('has_holes')
        if (!history.hasSeenTimes) markKnown(isAfterGap ? at : (last ?? at), at)
        first ??= at
        last = at
      }
      replay.add(part)
      observations += part.length
      await nextTurn()
    }
  }
  const signal = AbortSignal.timeout(CHAIN_MS)
  try {
    for await (const page of history.read(sources, { ...query, signal })) {
      for (const gap of page.gaps ?? []) gaps.add(gap)
      for (const at of page.seenAt ?? []) markKnown(at, at)
      await take(page.observations.slice(0, OBSERVATIONS_MAX - observations))
      if (observations < OBSERVATIONS_MAX) continue
      gaps.add('too_much')
      break
    }
  } catch (error) {
    const isUnavailable = error instanceof AppError && error.kind === 'upstream'
    if (!isUnavailable && !signal.aborted) throw error
    gaps.add('chain_unavailable')
  }
  const isCut = gaps.has('too_much') || gaps.has('chain_unavailable')
  const end = history.keeps === 'changes' && !isCut ? to : last
  if (end !== undefined) replay.end(end)
  if (end !== undefined && last !== undefined && !history.hasSeenTimes) markKnown(last, end)
  if (last !== undefined && !isCut && isGap(history.gapMs, last, to)) gaps.add('has_holes')
  if (startsLater(from, first)) gaps.add('starts_later')
  if (first === undefined && gaps.size === 0) gaps.add('no_data')
  return {
    covered: first === undefined || end === undefined ? null : { from: first, to: end },
    observations,
    counts: replay.counts(),
    alerts: replay.newest(),
    gaps: HISTORY_GAPS.filter((gap) => gaps.has(gap)),
  }
}

/** Whether the first observation is later than the period begins. */
function startsLater(from: Date, first: Date | undefined): boolean {
  return first !== undefined && first.getTime() - from.getTime() > START_SLACK_MS
}

function countSeverities(all: readonly PastIncident[]): SeverityCounts {
  const counts = { critical: 0, warning: 0, info: 0 }
  for (const { severity } of all) counts[severity] += 1
  return counts
}

/** Counts alerts by the 24 hours in which they fall, and notes the ones of which something is known. */
function countDays(from: Date, days: number) {
  const all = Array.from({ length: days }, (_, day) => ({
    from: new Date(from.getTime() + day * DAY_MS),
    counts: { critical: 0, warning: 0, info: 0, recovery: 0 },
    incidents: { critical: 0, warning: 0, info: 0 },
    known: false,
  }))
  // The first observation can be a little earlier than the start, and the last one exactly at the end.
  const dayOf = (at: Date) =>
    Math.min(Math.max(Math.floor((at.getTime() - from.getTime()) / DAY_MS), 0), days - 1)
  return {
    add: ({ firedAt, isRecovery, severity }: AlertCandidate) => {
      const counted = all[dayOf(firedAt)]
      if (counted !== undefined) counted.counts[isRecovery ? 'recovery' : severity] += 1
    },
    addIncident: ({ startedAt, severity }: PastIncident) => {
      const counted = all[dayOf(startedAt)]
      if (counted !== undefined) counted.incidents[severity] += 1
    },
    markKnown: (start: Date, end: Date) => {
      for (const day of all.slice(dayOf(start), dayOf(end) + 1)) day.known = true
    },
    all: (): readonly DayCounts[] => all,
  }
}

function isGap(gapMs: number | undefined, before: Date, after: Date): boolean {
  return gapMs !== undefined && after.getTime() - before.getTime() > gapMs
}

/** Converts a watch that is not stored to the form that evaluators need. */
function asEvaluated(type: WatchType, watch: NewWatch, wallet: Address): EvaluatedWatch {
  return {
    id: 0,
    wallet,
    label: watch.label ?? '',
    settings: z.encode(type.settings, watch.settings),
    signals: watch.signals ?? [],
    recipientIds: null,
    minSeverity: watch.minSeverity,
    cooldownSeconds: watch.cooldownSeconds,
    mutedUntil: null,
    states: [],
  }
}

function sourcesOf({ db, chain, facts, confirmations }: Deps, wallet: Address): HistorySources {
  return {
    chain,
    facts,
    tip: (signal) => chain.confirmedBlock(confirmations, signal),
    ledger: (from, to) => ledgerPages(db, wallet, from, to),
  }
}

/** The balance at the time `from`, then the ledger entries up to `to`, in pages. */
async function* ledgerPages(
  db: Db,
  wallet: Address,
  from: Date,
  to: Date,
): AsyncGenerator<readonly PastLedgerEntry[]> {
  let { entry, balanceCredits } = await readCreditsAt(db, wallet, from)
  yield [{ entry, balanceCredits, at: from }]
  for (;;) {
    const rows = await listEntriesAfter(db, wallet, entry, ENTRIES_PER_READ)
    const page = rows
      .filter(({ createdAt }) => createdAt <= to)
      .map((row) => ({
        entry: row.position,
        at: row.createdAt,
        balanceCredits: row.balanceAfterCredits,
      }))
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < ENTRIES_PER_READ) return
    ;({ entry, balanceCredits } = last)
  }
}
