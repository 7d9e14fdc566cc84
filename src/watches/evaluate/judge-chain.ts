/** Which observations of the chain a target is judged by. */
import { z } from 'zod'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { ChainWatchType, ObservationRequest } from '../define.ts'
import type { Observed } from '../signal.ts'
import type { TargetRow } from '../target-store.ts'
import { startFolding, type WatchOutcome } from './evaluate.ts'
import type { DueTarget, TargetJudgement } from './judge-group.ts'

interface ObservedTargetOf {
  readonly row: TargetRow
  readonly request: ObservationRequest
  readonly observations: readonly Observed[]
}

/** The target with its observations, if they must be judged; undefined otherwise. */
export function dueByChain(
  deps: { readonly quarantine: Quarantine },
  type: ChainWatchType,
  { row, request, observations }: ObservedTargetOf,
): DueTarget | undefined {
  const observed = newObservations(type, row, observations, request.last)
  if (observed.length === 0) return undefined
  return {
    row,
    observationCount: observed.length,
    begin: (_, current) => {
      const last = lastObservationOf(deps, type, current)
      return judgementOf(type, request.target, newObservations(type, current, observed, last))
    },
  }
}

function judgementOf(
  type: ChainWatchType,
  target: unknown,
  observations: readonly Observed[],
): TargetJudgement | undefined {
  const newest = observations.at(-1)
  if (newest === undefined) return undefined
  const fold = startFolding(type, target, observations)
  const sum = createPrefilterSummary(type, newest)
  return {
    observationCount: observations.length,
    fold: (watch) => {
      const outcome = fold(watch)
      sum.add(outcome)
      return outcome
    },
    seen: () => ({
      observation: z.encode(type.observation, newest),
      observedAt: newest.at,
      summary: sum.encoded(),
      recheckAt: null,
    }),
  }
}

/**
 * Returns the observations that must be judged, without quiet observations and those that were judged
 * before.
 */
function newObservations(
  type: ChainWatchType,
  row: TargetRow,
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
  { quarantine }: { readonly quarantine: Quarantine },
  type: ChainWatchType,
  { id, observation }: TargetRow,
): Observed | null {
  if (observation === null) return null
  const last = z.safeDecode(type.observation, observation)
  if (last.success) return last.data
  quarantine.add('observation', id, last.error)
  return null
}

function isQuiet(
  type: ChainWatchType,
  row: TargetRow,
  before: Observed,
  observation: Observed,
): boolean {
  const { prefilter } = type
  if (prefilter === undefined) return type.isSame?.(before, observation) ?? false
  const summary = row.summary === null ? undefined : z.safeDecode(prefilter.schema, row.summary)
  return summary?.success === true && prefilter.isQuiet(summary.data, observation)
}

/** Builds the summary of a target's watches for the type's prefilter, if it has one. */
function createPrefilterSummary(type: ChainWatchType, observation: Observed) {
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
