/** Judges several targets in one transaction, as long as nothing is fired. */
import { z } from 'zod'
import { isSharedFailure } from '#src/db/isolate.ts'
import { FenceError } from '#src/db/leases.ts'
import { earliest } from '#src/kernel/clock.ts'
import type { ChainWatchType, ObservationRequest } from '../define.ts'
import type { EvaluatedWatch, StoredState } from '../model.ts'
import type { Observed } from '../signal.ts'
import { listEvaluatedWatchesOf, saveStates } from '../state-store.ts'
import { lockFreeTargets, type ObservedTarget, saveObservations } from '../target-batch-store.ts'
import type { TargetRow } from '../target-store.ts'
import { startFolding } from './evaluate.ts'
import {
  createEventLoopYield,
  createPrefilterSummary,
  isUnjudged,
  type JudgeDeps,
  lastObservationOf,
  newObservations,
  transactUnderFence,
} from './judge-target.ts'

/** A target with observations that must be judged. */
export interface DueTarget {
  readonly row: TargetRow
  readonly request: ObservationRequest
  readonly observations: readonly Observed[]
}

/** Maximum number of watches that one transaction judges; bounds memory. */
const WATCHES_MAX = 1000
/** Maximum number of observations that one transaction folds, each for one watch; bounds the time of its locks. */
const FOLDS_MAX = 20_000
/** Maximum number of targets that one transaction locks. */
const TARGETS_MAX = 200

/** Divides targets into groups that can be judged together. A group of one is judged alone. */
export function groupDueTargets(due: readonly DueTarget[]): readonly (readonly DueTarget[])[] {
  const groups: DueTarget[][] = []
  let [watches, folds] = [0, 0]
  for (const target of due) {
    const count = target.row.watchCount
    watches += count
    folds += count * target.observations.length
    const group = groups.at(-1)
    const isFull = watches > WATCHES_MAX || folds > FOLDS_MAX || group?.length === TARGETS_MAX
    if (group !== undefined && !isFull) {
      group.push(target)
      continue
    }
    groups.push([target])
    watches = count
    folds = count * target.observations.length
  }
  return groups
}

/**
 * Judges the targets of a group whose watches all stay quiet, in one transaction: their states and last
 * observations. Targets with a firing, or with a watch that cannot be judged, are left out, as are targets that
 * another transaction has locked. If anything fails, nothing is written.
 *
 * @returns the targets that are to be judged alone
 */
export async function judgeQuietTargets(
  deps: JudgeDeps,
  type: ChainWatchType,
  group: readonly DueTarget[],
): Promise<readonly DueTarget[]> {
  try {
    const judgedIds = await judgeTogether(deps, type, group)
    return group.filter(({ row }) => !judgedIds.has(row.id))
  } catch (error) {
    // One of several slices may be lost: judged alone, the targets of the others still pass.
    if (isSharedFailure(error) && !(error instanceof FenceError)) throw error
    return group
  }
}

/** @returns the targets that need not be judged any more */
async function judgeTogether(
  deps: JudgeDeps,
  type: ChainWatchType,
  group: readonly DueTarget[],
): Promise<ReadonlySet<number>> {
  return transactUnderFence(deps, async (tx) => {
    const rows = await lockFreeTargets(
      tx,
      group.map(({ row }) => row.id),
    )
    // Watches may have joined since the targets were listed; none can while they are locked.
    if (rows.reduce((sum, { watchCount }) => sum + watchCount, 0) > 2 * WATCHES_MAX) {
      return new Set<number>()
    }
    const unreadable = new Set<number | undefined>()
    const watches = await listEvaluatedWatchesOf(
      tx,
      rows.map(({ id }) => id),
      (id) => unreadable.add(id),
    )
    const byId = new Map(group.map((target) => [target.row.id, target]))
    const eventLoopYield = createEventLoopYield()
    const judgedIds = new Set<number>()
    const observedTargets: ObservedTarget[] = []
    const states: JudgedState[] = []
    for (const row of rows) {
      const due = byId.get(row.id)
      if (due === undefined || unreadable.has(row.id)) continue
      const observed = newObservations(
        type,
        row,
        due.observations,
        lastObservationOf(deps, type, row),
      )
      const targetWatches = watches.get(row.id) ?? []
      const quiet = await foldQuiet(
        type,
        row.id,
        { ...due, observed },
        targetWatches,
        eventLoopYield,
      )
      if (quiet === undefined) continue
      judgedIds.add(row.id)
      states.push(...quiet.states)
      if (quiet.observedTarget !== undefined) observedTargets.push(quiet.observedTarget)
    }
    await saveStates(tx, states)
    await saveObservations(tx, observedTargets)
    return judgedIds
  })
}

interface JudgedState {
  readonly watchId: number
  readonly state: StoredState
}

/** A target whose watches stay quiet. */
interface QuietTarget {
  readonly observedTarget: ObservedTarget | undefined
  readonly states: readonly JudgedState[]
}

/** Folds the watches of a target; undefined if one fires, fails, or failed before. `observedTarget` is undefined without a new observation. */
async function foldQuiet(
  type: ChainWatchType,
  id: number,
  { request, observed }: DueTarget & { readonly observed: readonly Observed[] },
  watches: readonly EvaluatedWatch[],
  eventLoopYield: ReturnType<typeof createEventLoopYield>,
): Promise<QuietTarget | undefined> {
  const newest = observed.at(-1)
  if (newest === undefined) return { observedTarget: undefined, states: [] }
  const fold = startFolding(type, request.target, observed)
  const sum = createPrefilterSummary(type, newest)
  let recheckAt: Date | null = null
  const states: JudgedState[] = []
  try {
    for (const watch of watches) {
      // Judged alone, the target records that the watch is judged again.
      if (isUnjudged(watch)) return undefined
      const outcome = fold(watch)
      if (outcome.candidates.length > 0) return undefined
      sum.add(outcome)
      recheckAt = earliest(recheckAt, outcome.recheckAt)
      for (const state of outcome.states) states.push({ watchId: watch.id, state })
      await eventLoopYield.passed(observed.length)
    }
  } catch {
    // Judged alone, the target finds the watch that fails, and puts it into quarantine.
    return undefined
  }
  const observation = z.encode(type.observation, newest)
  return {
    observedTarget: { id, observation, observedAt: newest.at, summary: sum.encoded(), recheckAt },
    states,
  }
}
