import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { isolateEach, isSharedFailure } from '#src/db/isolate.ts'
import type { Fence } from '#src/db/leases.ts'
import { type Clock, earliest } from '#src/kernel/clock.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { ChainWatchType, ObservationRequest } from '../define.ts'
import type { EvaluatedWatch } from '../model.ts'
import type { Observed } from '../signal.ts'
import { listEvaluatedWatches, saveStates } from '../state-store.ts'
import { OUTAGE_STATE_KEY } from '../store.ts'
import * as store from '../target-store.ts'
import * as unjudged from '../unjudged-store.ts'
import { type AlertCandidate, startFolding, type WatchOutcome } from './evaluate.ts'

/**
 * Maximum number of watches that are judged between two writes; bounds memory for targets with many
 * watches.
 */
const WATCHES_PER_WRITE = 1000
/** Number of observations that are folded before control returns to the event loop. */
const FOLDS_PER_TURN = 500
/** Time after which a watch that could not be judged is judged again even without a change. */
const RETRY_MS = 60_000

export interface JudgeDeps {
  readonly db: Db
  readonly clock: Clock
  /** Quarantine for targets and watches that cannot be judged. */
  readonly quarantine: Quarantine
  /** Fence of the target's slice. */
  readonly fence?: Fence | undefined
  /**
   * Records firings in the given transaction: `alerts.recordAlerts`, which belongs to a room above this
   * one.
   */
  readonly recordAlerts: (tx: Db, candidates: readonly AlertCandidate[]) => Promise<void>
}

/** Writes in a transaction, under the fence if there is one. */
export function transactUnderFence<T>(
  { db, fence }: JudgeDeps,
  work: (tx: Db) => Promise<T>,
): Promise<T> {
  return fence === undefined ? db.transaction(work) : fence.transact(db, work)
}

/**
 * Judges a target, so that a failure affects no other target. If judging the target as a whole fails, its
 * watches are judged one by one, and watches that fail are put into quarantine. Since when a watch could not be judged is
 * recorded, so that its owner is notified.
 */
export async function judgeTarget(
  deps: JudgeDeps,
  type: ChainWatchType,
  targetId: number,
  request: ObservationRequest,
  observations: readonly Observed[],
): Promise<void> {
  try {
    await judgeWatches(deps, type, targetId, request, observations, saveInBatches)
  } catch (error) {
    if (isSharedFailure(error)) throw error
    deps.quarantine.add('target', targetId, error)
    const options = { quarantine: deps.quarantine, kind: 'target', idOf: (id: number) => id }
    const judged = await isolateEach([targetId], options, (id) =>
      judgeWatches(deps, type, id, request, observations, saveWatchByWatch),
    )
    if (judged.length > 0) return
    const since = deps.clock.now()
    await isolateEach([targetId], options, (id) =>
      transactUnderFence(deps, (tx) => unjudged.markWatchesOf(tx, id, since)),
    )
  }
}

/**
 * Returns the observations that must be judged, without quiet observations and those that were judged
 * before.
 */
export function newObservations(
  type: ChainWatchType,
  row: store.TargetRow,
  observations: readonly Observed[],
  before: Observed | null,
): readonly Observed[] {
  const newest = observations.at(-1)
  if (newest === undefined) return []
  if (type.evidence === 'history') {
    return observations.filter(({ position }) => before === null || position > before.position)
  }
  if (before !== null && newest.position < before.position) return []
  const isDue = row.recheckAt !== null && row.recheckAt <= newest.at
  if (row.mustJudge || isDue || row.noDataSince !== null || before === null) return [newest]
  return isQuiet(type, row, before, newest) ? [] : [newest]
}

/**
 * The last observation; null before the first. Also null if it cannot be parsed; the next observation then
 * replaces it.
 */
export function lastObservationOf(
  { quarantine }: Pick<JudgeDeps, 'quarantine'>,
  type: ChainWatchType,
  { id, observation }: store.TargetRow,
): Observed | null {
  if (observation === null) return null
  const last = z.safeDecode(type.observation, observation)
  if (last.success) return last.data
  quarantine.add('observation', id, last.error)
  return null
}

function isQuiet(
  type: ChainWatchType,
  row: store.TargetRow,
  before: Observed,
  observation: Observed,
): boolean {
  const { prefilter } = type
  if (prefilter === undefined) return type.isSame?.(before, observation) ?? false
  const summary = row.summary === null ? undefined : z.safeDecode(prefilter.schema, row.summary)
  return summary?.success === true && prefilter.isQuiet(summary.data, observation)
}

/** Result of evaluating one watch, with the watch. */
interface Judged extends WatchOutcome {
  readonly watchId: number
}

/**
 * Judges every watch on one target and writes the last observation, all in one transaction. New
 * observations are selected under the row's lock, because another process may have judged since the target
 * was listed.
 */
async function judgeWatches(
  deps: JudgeDeps,
  type: ChainWatchType,
  targetId: number,
  { target }: ObservationRequest,
  observations: readonly Observed[],
  forEachBatch: ForEachBatch,
): Promise<void> {
  await transactUnderFence(deps, async (tx) => {
    const row = await store.lockTarget(tx, targetId)
    const observed =
      row === undefined
        ? []
        : newObservations(type, row, observations, lastObservationOf(deps, type, row))
    const newest = observed.at(-1)
    if (newest === undefined) return
    const fold = startFolding(type, target, observed)
    const sum = createPrefilterSummary(type, newest)
    const turns = createEventLoopYield()
    let recheckAt: Date | null = null
    const failed = new Set<number>()
    const judgedAgain: number[] = []
    const quarantineWatch = (watchId: number, error: unknown) => {
      failed.add(watchId)
      deps.quarantine.add('watch', watchId, error)
    }
    const judgeBatch: JudgeBatch = async (watches) => {
      const judged: Judged[] = []
      for (const watch of watches) {
        const outcome = judgeWatch(fold, watch, sum, quarantineWatch)
        if (outcome !== undefined) {
          judged.push(outcome)
          recheckAt = earliest(recheckAt, outcome.recheckAt)
          if (isUnjudged(watch)) judgedAgain.push(watch.id)
        }
        await turns.passed(observed.length)
      }
      return judged
    }
    await forEachBatch({ ...deps, quarantineWatch }, tx, targetId, judgeBatch)
    await unjudged.mark(tx, [...failed], deps.clock.now())
    await unjudged.unmark(
      tx,
      judgedAgain.filter((id) => !failed.has(id)),
    )
    if (failed.size > 0) recheckAt = earliest(recheckAt, new Date(newest.at.getTime() + RETRY_MS))
    await store.saveObservation(tx, targetId, {
      observation: z.encode(type.observation, newest),
      observedAt: newest.at,
      summary: sum.encoded(),
      recheckAt,
    })
  })
}

type JudgeBatch = (watches: readonly EvaluatedWatch[]) => Promise<readonly Judged[]>

interface BatchDeps extends JudgeDeps {
  /** Called with each watch that cannot be read, judged or saved. */
  readonly quarantineWatch: (watchId: number, error: unknown) => void
}

/** Reads the watches of a target in batches, judges each batch and saves the results. */
type ForEachBatch = (
  deps: BatchDeps,
  tx: Db,
  targetId: number,
  judgeBatch: JudgeBatch,
) => Promise<void>

/**
 * Saves each batch in one go. The database always has a statement to run: it writes the states of a batch while
 * the messages of the batch before are put together, and reads the next watches while these are judged.
 */
const saveInBatches: ForEachBatch = async (deps, tx, targetId, judgeBatch) => {
  let failure: { readonly error: unknown } | undefined
  /** After a failed statement the others of the transaction fail as well. The first error is the cause. */
  const started = <T>(work: Promise<T>): Promise<T> => {
    work.catch((error) => {
      failure ??= { error }
    })
    return work
  }
  let next = started(listBatch(deps, tx, targetId, 0))
  let [states, recording] = [Promise.resolve(), Promise.resolve()]
  try {
    for (let batch = await next; batch !== undefined; batch = await next) {
      const judged = await judgeBatch(batch.watches)
      states = started(saveStates(tx, judged.flatMap(statesOf)))
      next = started(listBatch(deps, tx, targetId, batch.lastId))
      await recording
      const candidates = judged.flatMap((outcome) => outcome.candidates)
      recording = started(deps.recordAlerts(tx, candidates))
    }
    await Promise.all([states, recording])
  } catch (error) {
    await Promise.allSettled([next, states, recording])
    throw failure?.error ?? error
  }
}

/** Saves results with a savepoint for each watch. */
const saveWatchByWatch: ForEachBatch = async (deps, tx, targetId, judgeBatch) => {
  let batch = await listBatch(deps, tx, targetId, 0)
  while (batch !== undefined) {
    for (const outcome of await judgeBatch(batch.watches)) {
      try {
        await tx.transaction(async (inner) => {
          await saveStates(inner, statesOf(outcome))
          await deps.recordAlerts(inner, outcome.candidates)
        })
      } catch (error) {
        if (isSharedFailure(error)) throw error
        deps.quarantineWatch(outcome.watchId, error)
      }
    }
    batch = await listBatch(deps, tx, targetId, batch.lastId)
  }
}

/** The next watches of a target, at most `WATCHES_PER_WRITE`; undefined if there are no more. */
async function listBatch(deps: BatchDeps, tx: Db, targetId: number, after: number) {
  let lastId = after
  const onUnreadable = (watchId: number, error: unknown) => {
    deps.quarantineWatch(watchId, error)
    lastId = Math.max(lastId, watchId)
  }
  const watches = await listEvaluatedWatches(tx, targetId, after, WATCHES_PER_WRITE, onUnreadable)
  lastId = Math.max(lastId, watches.at(-1)?.id ?? 0)
  return lastId === after ? undefined : { watches, lastId }
}

/** Evaluates one watch. If that fails, the watch is put into quarantine and the result is undefined. */
function judgeWatch(
  fold: ReturnType<typeof startFolding>,
  watch: EvaluatedWatch,
  sum: ReturnType<typeof createPrefilterSummary>,
  quarantineWatch: (watchId: number, error: unknown) => void,
): Judged | undefined {
  try {
    const outcome = fold(watch)
    sum.add(outcome)
    return { watchId: watch.id, ...outcome }
  } catch (error) {
    quarantineWatch(watch.id, error)
    return undefined
  }
}

function statesOf({ watchId, states }: Judged) {
  return states.map((state) => ({ watchId, state }))
}

/** Whether the watch could not be judged the last time. */
export function isUnjudged({ states }: Pick<EvaluatedWatch, 'states'>): boolean {
  return states.some(({ signal, phase }) => signal === OUTAGE_STATE_KEY && phase === 'unknown')
}

/** Returns control to the event loop while much is folded. */
export function createEventLoopYield() {
  let folds = 0
  return {
    /** Counts observations that were folded. */
    passed: async (count: number): Promise<void> => {
      folds += count
      if (folds < FOLDS_PER_TURN) return
      folds = 0
      await nextTurn()
    },
  }
}

/** Builds the summary of a target's watches for the type's prefilter, if it has one. */
export function createPrefilterSummary(type: ChainWatchType, observation: Observed) {
  const { prefilter } = type
  let summary = prefilter?.empty
  let last: readonly unknown[] = []
  return {
    add: ({ settings, states }: Pick<WatchOutcome, 'settings' | 'states'>) => {
      if (prefilter === undefined) return
      const added = [settings, ...states.flatMap(({ signal, state }) => [signal, state])]
      // Neighbours often have the same settings and states, which need not be added again.
      if (added.length === last.length && added.every((value, place) => value === last[place]))
        return
      last = added
      const byId = new Map(states.map(({ signal, state }) => [signal, state]))
      summary = prefilter.add(summary, { settings, states: byId }, observation)
    },
    encoded: () => (prefilter === undefined ? null : z.encode(prefilter.schema, summary)),
  }
}
