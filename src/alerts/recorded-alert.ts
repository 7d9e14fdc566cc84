/** Rendering of recorded alerts. */
import { z } from 'zod'
import type { EnvelopeMessage } from '#src/channels/envelope.ts'
import { titleOnChain } from '#src/kernel/chains.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'
import { alertUrl } from './alert-urls.ts'
import type { OpenAlert } from './episodes/episodes.ts'
import {
  type AlertNote,
  type Reader,
  type Renderable,
  renderMessage,
  renderTitle,
} from './messages/render.ts'
import type { NotifyDeps } from './notify/deps.ts'
import type { AlertRow } from './store.ts'
import type { During } from './tables.ts'

/** A recorded alert. */
export interface RecordedAlert {
  readonly alertId: number
  readonly incidentId: number
  readonly type: string
  readonly signal: string | null
  readonly group: string | null
  readonly event: string
  readonly severity: Severity
  readonly data: JsonObject
  readonly firedAt: Date
  readonly position: number
}

/** Converts a row to a `RecordedAlert`. */
export function recordedFromRow(row: AlertRow): RecordedAlert {
  return {
    alertId: row.id,
    incidentId: row.incidentId,
    type: row.type,
    signal: row.signal,
    group: row.group,
    event: row.event,
    severity: z.enum(SEVERITIES).parse(row.severity),
    data: JsonObject.parse(row.data),
    firedAt: row.firedAt,
    position: row.position,
  }
}

/** Data of an alert as a reader sees them. A group learns that a transfer is the owner's payment, but not for what. */
export function dataFor({ isGroup }: Pick<Reader, 'isGroup'>, data: JsonObject): JsonObject {
  if (isGroup !== true || data['isTopUp'] === undefined) return data
  const { isTopUp: _, topupHandle: __, ...others } = data
  return { ...others, isOwnPayment: true }
}

/** The note of an alert that fired during planned maintenance, and of its recovery. */
export function maintenanceNotes(during: During | null): readonly AlertNote[] {
  return during === null ? [] : [{ kind: 'maintenance' }]
}

/** The note of an alert that imposed a cooldown until this time, if it did. */
export function cooldownNotes(until: Date | null | undefined): readonly AlertNote[] {
  return until === null || until === undefined ? [] : [{ kind: 'cooldown', until }]
}

/** Notes below the body: of a recovery the duration of its alert, of an alert the cooldown that it imposed. */
export function notesOf(row: AlertRow): readonly AlertNote[] {
  const { recoveryOf, startedAt, firedAt, cooldownUntil, during } = row
  const maintenance = maintenanceNotes(during)
  if (cooldownUntil !== null) return [...maintenance, ...cooldownNotes(cooldownUntil)]
  if (recoveryOf === null || startedAt === null) return maintenance
  const seconds = (firedAt.getTime() - startedAt.getTime()) / 1000
  return [{ kind: 'lasted', seconds }, ...maintenance]
}

/** Renders the message of an alert. The message of a recovery states the alert's duration. */
export function renderRecordedAlert(
  deps: { readonly box: SecretBox; readonly publicUrl: string },
  row: AlertRow,
  reader: Reader,
  recipientId: number | null = null,
): EnvelopeMessage {
  const notes = notesOf(row)
  const watch = { id: row.watchId, label: row.watchLabel }
  const alert = recordedFromRow(row)
  const shown = { ...alert, data: dataFor(reader, alert.data) }
  const about = toRenderable(deps, shown, watch, { recipientId, notes })
  const { locale, timezone } = reader
  return renderMessage(about, { locale, timezone })
}

/**
 * The message of an alert in a list, which shows its title: without text and values, which cost most of the rendering.
 */
export function renderListedAlert(
  deps: { readonly box: SecretBox; readonly publicUrl: string },
  row: AlertRow,
  reader: Reader,
): EnvelopeMessage {
  const alert = recordedFromRow(row)
  const shown = { ...alert, data: dataFor(reader, alert.data) }
  const { alertId, incidentId, event, severity, firedAt } = alert
  return {
    alertId,
    incidentId,
    watchId: row.watchId,
    watchLabel: row.watchLabel,
    event,
    severity,
    title: titleOnChain(renderTitle(shown, reader)),
    body: '',
    fields: [],
    link: alertUrl(deps, { alertId, recipientId: null }),
    firedAt: firedAt.toISOString(),
    test: false,
    ...recoveryRoleOf(event),
  }
}

/** Converts an `OpenAlert` to a `RecordedAlert`. */
export function recordedFromOpen(alert: OpenAlert): RecordedAlert {
  const { id: alertId, incidentId, type, signal, group } = alert
  const { event, severity, data, firedAt, position } = alert
  return { alertId, incidentId, type, signal, group, event, severity, data, firedAt, position }
}

/** An alert of a watch, with the link for this recipient. */
export function toRenderable(
  deps: Pick<NotifyDeps, 'box' | 'publicUrl'>,
  alert: RecordedAlert,
  watch: { readonly id: number; readonly label: string },
  { recipientId, notes = [] }: { recipientId: number | null; notes?: readonly AlertNote[] },
): Renderable {
  const { alertId, incidentId, event, severity, data, firedAt } = alert
  const link = alertUrl(deps, { alertId, recipientId })
  return {
    alertId,
    incidentId,
    watchId: watch.id,
    watchLabel: watch.label,
    event,
    severity,
    data,
    firedAt,
    link,
    test: false,
    notes,
  }
}
