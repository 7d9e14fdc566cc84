import { z } from 'zod'
import {
  listEntriesAfter,
  listWalletsWithNewEntries,
  readBalance,
} from '#src/billing/account/service.ts'
import { FREE_WATCHES_MAX } from '#src/billing/price-list.ts'
import { findNextRenewal } from '#src/billing/subscriptions/renewal.ts'
import type { Db } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import { FenceError } from '#src/db/leases.ts'
import type { HeldSlices } from '#src/db/slices.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import { CreditsObservation, type LedgerWatchType } from '../define.ts'
import { ledgerTargetKey, walletOfTargetKey } from '../manage/rules.ts'
import type { EvaluatedWatch } from '../model.ts'
import { readTargetPages, sliceOf } from '../slice-pages.ts'
import { listEvaluatedWatches, saveStates } from '../state-store.ts'
import * as store from '../target-store.ts'
import { LEDGER_WATCH_TYPES } from '../types/index.ts'
import { cooldownEnd } from './cooldown.ts'
import { type AlertCandidate, evaluateWatch } from './evaluate.ts'

/** Number of targets that one query reads. */
const TARGETS_PER_READ = 500
/** Number of ledger entries that one query reads. */
const ENTRIES_PER_READ = 500

export interface JudgeLedgersDeps {
  readonly db: Db
  readonly clock: Clock
  /** The slices of this process. */
  readonly slices: HeldSlices
  /** Quarantine for wallets whose watches cannot be judged. */
  readonly quarantine: Quarantine
  /**
   * Records firings in the given transaction: `alerts.recordAlerts`, which belongs to a room above this
   * one.
   */
  readonly recordAlerts: (tx: Db, candidates: readonly AlertCandidate[]) => Promise<void>
}

/**
 * Judges every ledger entry since the last run, one after another, with the watches of its wallet. Only
 * wallets in the slices of this process are judged.
 *
 * Each wallet's states, alerts and position in its ledger are one transaction, so a stop at any point loses
 * and repeats nothing.
 *
 * @param wallets wallets that may have new entries; undefined for all
 */
export async function judgeLedgers(
  deps: JudgeLedgersDeps,
  wallets: ReadonlySet<string> | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (const type of LEDGER_WATCH_TYPES) {
    const held = deps.slices.held()
    const pages = wallets
      ? named(deps.db, type, held, wallets)
      : readTargetPages(deps.db, type.name, held, TARGETS_PER_READ)
    for await (const targets of pages) {
      const { quarantine } = deps
      const idOf = ({ id }: { readonly id: number }) => id
      const dueTargets = await selectDueTargets(deps, targets)
      await isolateEach(dueTargets, { quarantine, kind: 'ledger-target', idOf }, async (target) => {
        if (!signal.aborted) await judgeInSlice(deps, type, target)
      })
      if (signal.aborted) return
    }
  }
}

async function* named(
  db: Db,
  type: LedgerWatchType,
  held: readonly number[],
  wallets: ReadonlySet<string>,
): AsyncGenerator<readonly store.TargetRow[]> {
  const isHeld = new Set(held)
  const keys = [...wallets].map(ledgerTargetKey).filter((key) => isHeld.has(sliceOf(key)))
  for (let start = 0; start < keys.length; start += TARGETS_PER_READ) {
    const batch = keys.slice(start, start + TARGETS_PER_READ)
    const targets = await store.listTargetsOf(db, type.name, held, batch)
    if (targets.length > 0) yield targets
  }
}

/**
 * Selects targets with a new entry, with a watch that joined or changed since the last run, or with a
 * deferred alert whose cooldown is over.
 */
async function selectDueTargets(
  { db, clock }: Pick<JudgeLedgersDeps, 'db' | 'clock'>,
  targets: readonly store.TargetRow[],
): Promise<readonly LedgerTarget[]> {
  const known = targets.map(({ id, slice, key, mustJudge, observation }) => {
    // A target whose observation cannot be parsed is selected; judging it fails for its own wallet only.
    const last = observation === null ? undefined : CreditsObservation.safeParse(observation)
    const isUnreadable = last?.success === false
    return {
      id,
      slice,
      wallet: walletOfTargetKey(key),
      mustJudge: mustJudge || isUnreadable,
      position: last?.data?.entry ?? 0,
    }
  })
  const moved = new Set(await listWalletsWithNewEntries(db, known))
  const ids = known.map(({ id }) => id)
  const cooled = new Set(await store.listTargetsWithEndedCooldown(db, ids, clock.now()))
  return known.filter(
    ({ id, mustJudge, wallet }) => mustJudge || moved.has(wallet) || cooled.has(id),
  )
}

interface LedgerTarget {
  readonly id: number
  readonly slice: number
  readonly wallet: Address
}

/** Judges one wallet, unless another process has taken its slice meanwhile; then that process judges it. */
async function judgeInSlice(
  deps: JudgeLedgersDeps,
  type: LedgerWatchType,
  target: LedgerTarget,
): Promise<void> {
  if (!deps.slices.isHeld(target.slice)) return
  try {
    await judge(deps, type, target)
  } catch (error) {
    if (!(error instanceof FenceError)) throw error
  }
}

/** Judges the new entries of one wallet. */
async function judge(
  deps: JudgeLedgersDeps,
  type: LedgerWatchType,
  { id, slice, wallet }: LedgerTarget,
): Promise<void> {
  await deps.slices.fenceOf([slice]).transact(deps.db, async (tx) => {
    const target = await store.lockTarget(tx, id)
    if (target === undefined) return
    const nextRenewal = (await findNextRenewal(tx, wallet)) ?? null
    const watches = await listEvaluatedWatches(tx, id, 0, FREE_WATCHES_MAX)
    const before =
      target.observation === null ? undefined : CreditsObservation.parse(target.observation)
    const fold = startFold(type, watches, nextRenewal, before)
    // A watch without states is new or was reset, so earlier entries do not concern it.
    const isNew = new Set(watches.flatMap(({ id, states }) => (states.length === 0 ? [id] : [])))
    for (let last = before; last !== undefined; last = fold.last()) {
      const entries = await listEntriesAfter(tx, wallet, last.entry, ENTRIES_PER_READ)
      for (const { position: entry, balanceAfterCredits: balanceCredits, createdAt } of entries) {
        fold.repeatUntil(createdAt)
        fold.add({ entry, balanceCredits }, createdAt, ({ id }) => !isNew.has(id))
      }
      await deps.recordAlerts(tx, fold.takeCandidates())
      if (entries.length < ENTRIES_PER_READ) break
    }
    const now = deps.clock.now()
    fold.repeatUntil(new Date(now.getTime() + 1))
    const place = fold.last() ?? (await readBalance(tx, wallet))
    if (target.mustJudge || before === undefined) fold.add(place, now)
    await saveStates(tx, fold.states())
    await deps.recordAlerts(tx, fold.takeCandidates())
    const last = fold.last()
    if (last === undefined) return
    await store.saveObservation(tx, id, {
      observation: z.encode(CreditsObservation, last),
      observedAt: last.at,
    })
  })
}

/**
 * The end of the cooldown that defers an alert of a watch, in milliseconds; undefined if no alert is
 * deferred.
 */
function repeatMsOf({ states, cooldownSeconds }: EvaluatedWatch): number | undefined {
  const ends = states.flatMap((state) =>
    state.phase === 'pending' && state.lastFiredAt !== null
      ? [cooldownEnd(state, cooldownSeconds)]
      : [],
  )
  return ends.length === 0 ? undefined : Math.min(...ends)
}

/** Fold of one wallet's watches over several observations, which follow `before`. */
function startFold(
  type: LedgerWatchType,
  watches: readonly EvaluatedWatch[],
  nextRenewal: CreditsObservation['nextRenewal'],
  before: CreditsObservation | undefined,
) {
  let last = before
  let folded = watches
  let candidates: readonly AlertCandidate[] = []
  const add = (
    { entry, balanceCredits }: Pick<CreditsObservation, 'entry' | 'balanceCredits'>,
    at: Date,
    isMeant: (watch: EvaluatedWatch) => boolean = () => true,
  ): void => {
    const position = (last?.position ?? 0) + 1
    const balance = { position, at, entry, balanceCredits, nextRenewal }
    last = balance
    folded = folded.map((watch) => {
      if (!isMeant(watch)) return watch
      const outcome = evaluateWatch(type, {}, watch, balance)
      candidates = [...candidates, ...outcome.candidates]
      return { ...watch, states: outcome.states }
    })
  }
  return {
    /** Folds an observation. @param isMeant selects the watches that judge it; all by default */
    add,
    /**
     * Repeats the alerts whose cooldown ends before a time, with the last balance and the time at which the
     * cooldown ends. An alert therefore has the same time as in a backtest, however late the ledger is
     * read.
     */
    repeatUntil: (until: Date): void => {
      while (last !== undefined) {
        const dueMs = Math.min(...folded.flatMap((watch) => repeatMsOf(watch) ?? []))
        if (dueMs >= until.getTime()) return
        // A cooldown that was shortened meanwhile may have ended before the last balance.
        const at = new Date(Math.max(dueMs, last.at.getTime()))
        add(last, at, (watch) => (repeatMsOf(watch) ?? Number.POSITIVE_INFINITY) <= dueMs)
      }
    },
    /** The last balance; undefined before the first observation. */
    last: () => last,
    /** Returns the alerts since the last call, in order. */
    takeCandidates: () => {
      const taken = candidates
      candidates = []
      return taken
    },
    states: () =>
      folded.flatMap(({ id, states }) => states.map((state) => ({ watchId: id, state }))),
  }
}
