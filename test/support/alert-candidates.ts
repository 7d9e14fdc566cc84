import type { Db } from '#src/db/connection.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { findEventSource } from '#src/watches/events.ts'
import { listForNotification } from '#src/watches/notification-view.ts'

/** A firing or recovery, as the evaluator returns it. */
export interface RecordedEvent {
  readonly event: string
  readonly severity?: Severity
  readonly data?: JsonObject
  /** Of a recovery: the highest severity of the episode, from its signal's state. */
  readonly episodeSeverity?: Severity
  /** False for a recovery that the watch has switched off. */
  readonly isNotified?: boolean
  /** End of the cooldown that the alert imposes. */
  readonly cooldownUntil?: Date
}

/** The alerts of one observation of a watch, with the example data of their signals. */
export async function candidatesOf(
  tx: Db,
  watchId: number,
  all: readonly RecordedEvent[],
  { position, firedAt }: { readonly position: number; readonly firedAt: Date },
): Promise<AlertCandidate[]> {
  const watch = (await listForNotification(tx, [watchId])).get(watchId)
  if (watch === undefined) throw new Error('there is no such watch')
  return all.map((recorded) => {
    const source = findEventSource(recorded.event)
    if (source === undefined) throw new Error(`no signal emits ${recorded.event}`)
    const { isRecovery, signal } = source
    return {
      watch,
      type: source.type ?? 'credits-balance',
      signal: signal.id,
      group: signal.group,
      event: recorded.event,
      severity: recorded.severity ?? (isRecovery ? 'info' : 'warning'),
      data: { ...timed(signal.examples[recorded.event], firedAt), ...recorded.data },
      isRecovery,
      isNotified: recorded.isNotified ?? true,
      episodeSeverity: recorded.episodeSeverity ?? null,
      position,
      firedAt,
      ...(recorded.cooldownUntil && { cooldownUntil: recorded.cooldownUntil }),
    }
  })
}

/** Example data with its times replaced by the time of the recorded event. */
function timed(example: JsonObject = {}, at: Date): JsonObject {
  const times = ['since', 'until', 'roundStart'].filter((key) => typeof example[key] === 'string')
  return { ...example, ...Object.fromEntries(times.map((key) => [key, at.toISOString()])) }
}
