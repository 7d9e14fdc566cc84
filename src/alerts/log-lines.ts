/**
 * The log lines of an alert, each with `alertId`, written after the commit of the reported change.
 * `delivery/log-lines.ts` has the log lines of its messages.
 *
 * Until then only the logged values are kept, as JSON outside of the heap: one transaction may write a hundred
 * thousand alerts.
 */
import { afterCommit } from '#src/db/transaction-scope.ts'
import type { NewDelivery } from '#src/delivery/service.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import type { EpisodeEnd } from './episodes/episodes.ts'

interface Deps {
  readonly log: Logger
}

/** The logged parts of a notification. */
interface Notified {
  readonly alertId: number
  readonly kind: 'alert' | 'raised' | 'reminder'
  readonly isEscalation?: boolean
  readonly isRecovery: boolean
}

/** Logs that evaluations fired; `position` is the block, or the count of a ledger. */
export function logRecorded(
  { log }: Deps,
  fired: readonly { readonly alertId: number; readonly candidate: AlertCandidate }[],
): void {
  const lines = fired.map(({ alertId, candidate }) => {
    const { watch, type, signal, event, severity, position, isRecovery } = candidate
    return { alertId, watchId: watch.id, type, signal, event, severity, position, isRecovery }
  })
  logAfterCommit(log, lines, 'alert recorded')
}

/** Logs that the episodes of alerts ended, by a recovery or without one. */
export function logEnded(deps: Deps, ends: readonly EpisodeEnd[]): void {
  logEach(
    deps,
    ends.flatMap(({ alertIds }) => alertIds),
    'episode ended',
  )
}

/** Logs that alerts are inhibited; they are notified when the alerts that caused them are over. */
export function logInhibited(deps: Deps, fired: Iterable<{ readonly alertId: number }>): void {
  logEach(
    deps,
    Array.from(fired, ({ alertId }) => alertId),
    'alert inhibited',
  )
}

/** Logs an event of each of these alerts, such as an acknowledgement. */
export function logEach({ log }: Deps, alertIds: readonly number[], what: string): void {
  const lines = alertIds.map((alertId) => ({ alertId }))
  logAfterCommit(log, lines, what)
}

/** Logs each planned notification with its deliveries; none if it has no recipient. */
export function logNotified(
  { log }: Deps,
  notifications: readonly Notified[],
  rows: readonly NewDelivery[],
): void {
  const rowsOf = Map.groupBy(rows, keyOf)
  const lines = notifications.map(({ alertId, kind, isEscalation = false, isRecovery }) => {
    const ownRows = rowsOf.get(keyOf({ alertId, envelope: { kind } })) ?? []
    const deliveries = ownRows.map(({ id, recipientId, channel, status }) => ({
      ...{ deliveryId: id, recipientId, channel, status },
    }))
    return { alertId, kind, isEscalation, isRecovery, deliveries }
  })
  logAfterCommit(log, lines, 'alert notified')
}

type LogFields = Readonly<Record<string, unknown>>

/** @param lines fields of each line; only values that JSON keeps */
function logAfterCommit(log: Logger, lines: readonly LogFields[], what: string): void {
  if (lines.length === 0) return
  const json = Buffer.from(JSON.stringify(lines))
  afterCommit(() => {
    for (const fields of JSON.parse(json.toString()) as readonly LogFields[]) log.info(fields, what)
  })
}

function keyOf({
  alertId,
  envelope: { kind = 'alert' },
}: {
  readonly alertId: number | null
  readonly envelope: Pick<NewDelivery['envelope'], 'kind'>
}): string {
  return `${alertId} ${kind}`
}
