import { z } from 'zod'
import {
  completeSignals,
  SignalChoices,
  SignalState,
  type UnaddressedWatch,
  Watch,
} from '../model.ts'
import { STALE_CHAIN_MS } from '../outage/monitoring.ts'
import type * as store from '../store.ts'
import { getWatchType } from '../types/index.ts'

/** Converts a stored watch to a watch as callers see it, at `now`. */
export function toWatch(row: store.WatchRow, now: Date): UnaddressedWatch {
  const type = getWatchType(row.type)
  const isQuiet = now.getTime() - row.noDataSince.getTime() >= STALE_CHAIN_MS
  const known = StateRows.parse(row.states)
  const states = type.signals.map(
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
    signals: completeSignals(type.signals, SignalChoices.parse(row.signals)),
    recipientIds: row.recipientIds,
    cooldownSeconds: row.cooldownSeconds,
    escalateAfterMinutes: row.escalateAfterMinutes,
    escalateTo: row.escalateTo,
    mutedUntil: row.mutedUntil !== null && row.mutedUntil > now ? row.mutedUntil : null,
    health: isQuiet ? 'no_data' : 'ok',
    signalStates: states,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastEvaluatedAt: lastEvaluated(row, known.length > 0),
    lastObservation: row.observation,
    version: row.version,
  }
}

/**
 * Time of the last evaluation; a quiet observation counts, too. Null for a watch that is paused or not
 * observed yet.
 */
function lastEvaluated(row: store.WatchRow, isJudged: boolean): Date | null {
  if (!isJudged) return null
  return row.status === 'active' ? (row.lookedAt ?? row.observedAt) : row.observedAt
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
