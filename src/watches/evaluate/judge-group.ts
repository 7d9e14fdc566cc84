/** Judges the watches of locked targets, whatever their observations come from. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '#src/db/connection.ts'
import { isolateEach, isolateHalves, isSharedFailure } from '#src/db/isolate.ts'
import { FenceError } from '#src/db/leases.ts'
import type { HeldSlices } from '#src/db/slices.ts'
import { type Clock, earliest } from '#src/kernel/clock.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { EvaluatedWatch } from '../model.ts'
import {
  listEvaluatedWatches,
  saveStates,
  type TargetPage,
  type WatchOfTarget,
  type WatchPage,
} from '../state-store.ts'
import { OUTAGE_STATE_KEY } from '../store.ts'
import {
  lockTargets,
  type ObservedTarget,
  saveObservations,
  type TargetRow,
} from '../target-store.ts'
import * as unjudged from '../unjudged-store.ts'
import type { AlertCandidate, WatchOutcome } from './evaluate.ts'

/** Maximum number of watches that are judged between two writes; bounds memory. */
const WATCHES_MAX = 1000
/** Maximum number of observations that one transaction folds, each for one watch; bounds the time of its locks. */
const FOLDS_MAX = 20_000
/** Maximum number of targets that one transaction locks. */
const TARGETS_MAX = 200
/** Number of observations that are folded before control returns to the event loop. */
const FOLDS_PER_TURN = 500
/** Time after which a watch that could not be judged is judged again even without a change. */
const RETRY_MS = 60_000

export interface JudgeDeps {
  readonly db: Db
  readonly clock: Clock
  /** The slices of this process. Writes are refused for slices that it has lost. */
  readonly slices: HeldSlices
  /** Quarantine for targets and watches that cannot be judged. */
  readonly quarantine: Quarantine
  /**
   * Records firings in the given transaction: `alerts.recordAlerts`, which belongs to a room above this
   * one.
   */
  readonly recordAlerts: (tx: Db, candidates: readonly AlertCandidate[]) => Promise<void>
}

/** A target that must be judged. */
export interface DueTarget {
  readonly row: TargetRow
  /** Number of observations that each of its watches is judged by, or an estimate. */
  readonly observationCount: number
  /**
   * Selects the observations. It is called with the current row, because another process may have judged the target since
   * it was listed.
   *
   * @returns undefined if there is nothing to judge any more
   */
  readonly begin: (
    tx: Db,
    row: TargetRow,
  ) => Promise<TargetJudgement | undefined> | TargetJudgement | undefined
}

/** The judgement of one target, watch by watch. */
export interface TargetJudgement {
  readonly observationCount: number
  /** Folds the observations through a watch. @throws any error if the watch cannot be judged */
  fold(watch: EvaluatedWatch): Omit<WatchOutcome, 'settings'>
  /** The last observation, after all watches were folded. `recheckAt` is a time that the target asks for itself. */
  seen(): Omit<ObservedTarget, 'id'>
}

/** Divides targets into groups that one transaction can judge. */
export function groupDueTargets<Target extends DueTarget>(
  due: readonly Target[],
): readonly (readonly Target[])[] {
  const groups: Target[][] = []
  let [watches, folds] = [0, 0]
  for (const target of due) {
    const count = target.row.watchCount
    watches += count
    folds += count * target.observationCount
    const group = groups.at(-1)
    const isFull = watches > WATCHES_MAX || folds > FOLDS_MAX || group?.length === TARGETS_MAX
    if (group !== undefined && !isFull) {
      group.push(target)
      continue
    }
    groups.push([target])
    watches = count
    folds = count * target.observationCount
  }
  return groups
}

/**
 * Judges the watches of a group of targets and writes their states, alerts and last observations in one transaction.
 *
 * If it fails, each half of the group is judged alone, and so on; then each write of watches is halved, too. A watch that
 * fails is put into quarantine, and so is a target that cannot be judged as a whole. Since when a watch could not be
 * judged is recorded, so that its owner is notified. Targets of slices that this process has lost are left to the process
 * that has taken them.
 *
 * @returns ids of the targets that were judged
 * @throws failures that would affect every target, such as a lost connection
 */
export async function judgeGroup(
  deps: JudgeDeps,
  group: readonly DueTarget[],
): Promise<ReadonlySet<number>> {
  const judgedIds = new Set<number>()
  const judge = async (targets: readonly DueTarget[], isCareful: boolean) => {
    for (const id of await judgeHeld(deps, targets, isCareful)) judgedIds.add(id)
  }
  try {
    await judge(group, false)
  } catch (error) {
    if (isSharedFailure(error)) throw error
    await isolateHalves(
      group,
      (half) => judge(half, true),
      ({ row }, cause) => setAside(deps, row, cause),
    )
  }
  return judgedIds
}

/** Judges the targets of those slices that this process still holds. @returns ids of the judged targets */
async function judgeHeld(
  deps: JudgeDeps,
  group: readonly DueTarget[],
  isCareful: boolean,
): Promise<readonly number[]> {
  const held = group.filter(({ row }) => deps.slices.isHeld(row.slice))
  if (held.length === 0) return []
  try {
    const fence = deps.slices.fenceOf([...new Set(held.map(({ row }) => row.slice))])
    const ids = await fence.transact(deps.db, (tx) => judgeLocked(deps, tx, held, isCareful))
    if (held.length === 1) return ids
    // Targets that another transaction had locked are waited for one by one.
    const locked = held.filter(({ row }) => !ids.includes(row.id))
    const later = []
    for (const target of locked) later.push(...(await judgeHeld(deps, [target], isCareful)))
    return [...ids, ...later]
  } catch (error) {
    const hasLost = held.some(({ row }) => !deps.slices.isHeld(row.slice))
    if (!(error instanceof FenceError) || !hasLost) throw error
    return await judgeHeld(deps, held, isCareful)
  }
}

async function setAside(deps: JudgeDeps, { id, slice }: TargetRow, error: unknown): Promise<void> {
  const { quarantine } = deps
  quarantine.add('target', id, error)
  const since = deps.clock.now()
  await isolateEach([id], { quarantine, kind: 'target', idOf: String }, () =>
    deps.slices.fenceOf([slice]).transact(deps.db, (tx) => unjudged.markWatchesOf(tx, id, since)),
  )
}

/** A locked target while its watches are judged. */
interface LockedTarget {
  readonly judgement: TargetJudgement
  recheckAt: Date | null
  /** Watches that cannot be read, judged or saved. */
  readonly failedIds: Set<number>
}

/** A watch of a locked target. */
type NamedWatch = Pick<WatchOfTarget, 'id' | 'targetId'>
type JudgedWatch = NamedWatch &
  Omit<WatchOutcome, 'settings'> & {
    /** Whether it could not be judged the last time. */
    readonly wasUnjudged: boolean
  }
type SetWatchAside = (watch: NamedWatch, error: unknown) => void

/**
 * Judges targets in a transaction.
 *
 * @param isCareful whether a watch that cannot be saved is left out, so that the others are saved; slower
 * @returns ids of the targets that could be locked
 */
async function judgeLocked(
  deps: JudgeDeps,
  tx: Db,
  group: readonly DueTarget[],
  isCareful: boolean,
): Promise<readonly number[]> {
  const dueById = new Map(group.map((due) => [due.row.id, due]))
  const rows = await lockTargets(tx, [...dueById.keys()])
  const locked = new Map<number, LockedTarget>()
  for (const row of rows) {
    const judgement = await dueById.get(row.id)?.begin(tx, row)
    if (judgement !== undefined)
      locked.set(row.id, { judgement, recheckAt: null, failedIds: new Set() })
  }
  const setWatchAside: SetWatchAside = ({ id, targetId }, error) => {
    locked.get(targetId)?.failedIds.add(id)
    deps.quarantine.add('watch', id, error)
  }
  const againIds: number[] = []
  const save = async (tx: Db, judged: readonly JudgedWatch[]) => {
    await saveOutcomes(deps, tx, judged)
    againIds.push(...judged.flatMap(({ id, wasUnjudged }) => (wasUnjudged ? [id] : [])))
  }
  const eventLoopYield = createEventLoopYield()
  await forEachPage(
    [...locked.keys()].map((targetId) => ({ targetId, after: 0 })),
    isCareful,
    {
      list: (from) => listEvaluatedWatches(tx, from, WATCHES_MAX, setWatchAside),
      judge: (watches) => judgePage(locked, watches, setWatchAside, eventLoopYield),
      save: (judged) =>
        isCareful
          ? isolateHalves(
              judged,
              (half) => tx.transaction((inner) => save(inner, half)),
              setWatchAside,
            )
          : save(tx, judged),
    },
  )
  const failedIds = [...locked.values()].flatMap((target) => [...target.failedIds])
  await unjudged.mark(tx, failedIds, deps.clock.now())
  await unjudged.unmark(tx, againIds)
  await saveObservations(
    tx,
    [...locked].map(([id, target]) => ({ id, ...seenOf(target) })),
  )
  return rows.map(({ id }) => id)
}

/** Judges watches. Those that fail are set aside. */
async function judgePage(
  locked: ReadonlyMap<number, LockedTarget>,
  watches: readonly WatchOfTarget[],
  setWatchAside: SetWatchAside,
  eventLoopYield: ReturnType<typeof createEventLoopYield>,
): Promise<readonly JudgedWatch[]> {
  const judged: JudgedWatch[] = []
  for (const watch of watches) {
    const { id, targetId } = watch
    const target = locked.get(targetId)
    if (target === undefined) continue
    try {
      const outcome = target.judgement.fold(watch)
      target.recheckAt = earliest(target.recheckAt, outcome.recheckAt)
      judged.push({ id, targetId, ...outcome, wasUnjudged: isUnjudged(watch) })
    } catch (error) {
      setWatchAside(watch, error)
    }
    await eventLoopYield.passed(target.judgement.observationCount)
  }
  return judged
}

function seenOf({ judgement, recheckAt, failedIds }: LockedTarget): Omit<ObservedTarget, 'id'> {
  const last = judgement.seen()
  const retryAt = failedIds.size > 0 ? new Date(last.observedAt.getTime() + RETRY_MS) : null
  return { ...last, recheckAt: earliest(last.recheckAt, recheckAt, retryAt) }
}

/**
 * Reads watches page by page, judges each page and saves the results. Unless it is careful, the database always has a
 * statement to run: it writes a page, and reads the next one, while the page behind it is judged.
 */
async function forEachPage(
  from: readonly TargetPage[],
  isCareful: boolean,
  work: {
    readonly list: (from: readonly TargetPage[]) => Promise<WatchPage>
    readonly judge: (watches: readonly WatchOfTarget[]) => Promise<readonly JudgedWatch[]>
    readonly save: (judged: readonly JudgedWatch[]) => Promise<void>
  },
): Promise<void> {
  let failure: { readonly error: unknown } | undefined
  /** After a failed statement the others of the transaction fail as well. The first error is the cause. */
  const started = <T>(running: Promise<T>): Promise<T> => {
    running.catch((error) => {
      failure ??= { error }
    })
    return running
  }
  let next = from.length === 0 ? undefined : started(work.list(from))
  let saved = Promise.resolve()
  try {
    for (let page = await next; page !== undefined; page = await next) {
      const judged = await work.judge(page.watches)
      await saved
      saved = started(work.save(judged))
      // A statement between a savepoint and its end could fail with it.
      if (isCareful) await saved
      next = page.next && started(work.list(page.next))
    }
    await saved
  } catch (error) {
    await Promise.allSettled([next, saved])
    throw failure?.error ?? error
  }
}

/** Writes states and records firings of watches, as few statements as possible. */
export async function saveOutcomes(
  { recordAlerts }: Pick<JudgeDeps, 'recordAlerts'>,
  tx: Db,
  outcomes: readonly (Pick<WatchOutcome, 'states' | 'candidates'> & { readonly id: number })[],
): Promise<void> {
  await saveStates(
    tx,
    outcomes.flatMap(({ id, states }) => states.map((state) => ({ watchId: id, state }))),
  )
  const candidates = outcomes.flatMap((outcome) => outcome.candidates)
  if (candidates.length > 0) await recordAlerts(tx, candidates)
}

/** Whether the watch could not be judged the last time. */
function isUnjudged({ states }: Pick<EvaluatedWatch, 'states'>): boolean {
  return states.some(({ signal, phase }) => signal === OUTAGE_STATE_KEY && phase === 'unknown')
}

/** Returns control to the event loop while much is folded. */
function createEventLoopYield() {
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
