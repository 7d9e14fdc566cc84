import { z } from 'zod'
import { earliest } from '#src/kernel/clock.ts'
import {
  completeSignals,
  SignalChoices,
  SignalState,
  type UnaddressedWatch,
  Watch,
} from '../model.ts'
import { STALE_CHAIN_MS } from '../outage/monitoring.ts'
import * as store from '../store.ts'
import { getWatchType } from '../types/index.ts'

/** Converts a stored watch to a watch as callers see it, at `now`. */
export function toWatch(row: store.WatchRow, now: Date): UnaddressedWatch {
  const type = getWatchType(row.type)
  const known = StateRows.parse(row.states)
  const unjudgedSince = known.find(isUnjudged)?.since ?? now
  const noDataSince = Math.min(row.noDataSince.getTime(), unjudgedSince.getTime())
  const own = completeSignals(type.signals, SignalChoices.parse(row.signals), row.settings)
  const states = own.map(
    ({ id }): SignalState =>
      known.find((state) => state.id === id) ?? {
        id,
        state: 'unknown',
        since: null,
        severity: null,
        lastEvidenceAt: null,
      },
  )
  return {
    ...Chosen.parse(row),
    id: row.id,
    type: row.type,
    label: row.label,
    target: row.target,
    settings: row.settings,
    signals: own,
    recipientIds: row.recipientIds,
    cooldownSeconds: row.cooldownSeconds,
    escalateAfterMinutes: row.escalateAfterMinutes,
    escalateTo: row.escalateTo,
    mutedUntil: row.mutedUntil !== null && row.mutedUntil > now ? row.mutedUntil : null,
    health: now.getTime() - noDataSince >= STALE_CHAIN_MS ? 'no_data' : 'ok',
    signalStates: states,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastEvaluatedAt: lastEvaluated(row, known),
    lastObservation: row.observation,
    version: row.version,
  }
}

/**
 * Time of the last evaluation; a quiet observation counts, too. Null for a watch that is paused or not
 * observed yet.
 */
function lastEvaluated(
  row: store.WatchRow,
  known: readonly z.output<typeof StateRow>[],
): Date | null {
  if (known.every(({ id }) => id === store.OUTAGE_STATE_KEY)) return null
  const unjudgedSince = known.find(isUnjudged)?.since
  if (unjudgedSince !== undefined) return earliest(row.observedAt, unjudgedSince)
  return row.status === 'active' ? (row.lookedAt ?? row.observedAt) : row.observedAt
}

/** Whether a state says that its watch cannot be judged. */
function isUnjudged({ id, state }: z.output<typeof StateRow>): boolean {
  return id === store.OUTAGE_STATE_KEY && state === 'unknown'
}

/** A state as the query returns it; `streak` is null where the signal has no streak. */
const StateRow = z
  .object({
    id: z.string(),
    state: SignalState.shape.state,
    since: z.coerce.date(),
    severity: SignalState.shape.severity,
    streak: z.int().nullable(),
    lastEvidenceAt: z.coerce.date(),
  })
  .transform(({ streak, ...state }) => (streak === null ? state : { ...state, streak }))

// Built once, because building a schema is slower than using it.
const StateRows = z.array(StateRow)
const Chosen = Watch.pick({ minSeverity: true, status: true })
