/** A wallet's past alerts: lists, exports and single alerts. */
import { z } from 'zod'
import { type Db, transact } from '#src/db/connection.ts'
import type { DeliveryEntry } from '#src/delivery/model.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { AppError } from '#src/kernel/errors.ts'
import { PAGE_LIMIT_DEFAULT, type Page } from '#src/kernel/pagination.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { getSettings } from '#src/recipients/settings.ts'
import { type IncidentSummary, readIncidents } from '../incidents/incident.ts'
import { listIdsOfIncidents } from '../incidents/part-store.ts'
import type { Reader } from '../messages/render.ts'
import {
  ALERT_STATES,
  type Alert,
  type AlertFilter,
  type AlertQuery,
  type AlertSelection,
  type AlertState,
  type Incident,
  type ListedAlert,
} from '../model.ts'
import { renderRecordedAlert } from '../recorded-alert.ts'
import type * as store from '../store.ts'
import { BYTE_ORDER_MARK, type CsvCell, csvLine } from './csv.ts'
import { type AlertSelector, deleteAlertPart, listAlertPart } from './part-store.ts'
import { type BoundedCount, countAlertParts, readAlertCursor, toAlertPage } from './parts.ts'

/** Dependencies of reading alerts. */
export interface ReadDeps {
  readonly db: Db
  readonly box: SecretBox
  readonly publicUrl: string
}

/** Alerts that a deletion may affect. */
interface RowBound {
  readonly newestId: number
  readonly count: number
}

/** The wallet's alerts, or with `group=incident` its incidents, newest first, in the wallet's language. */
export async function listAlerts(
  deps: ReadDeps & { readonly clock: Clock },
  caller: Caller,
  query: AlertQuery,
): Promise<Page<ListedAlert>> {
  const { limit = PAGE_LIMIT_DEFAULT, cursor, ...filter } = query
  const { group, ...others } = filter
  const selection =
    group === 'incident' ? { ...others, incidents: true as const } : { ...others, group }
  const after = readAlertCursor(cursor, filter)
  const part = await listAlertPart(deps.db, caller.wallet, selection, after, limit + 1)
  const page = toAlertPage(part, limit, filter)
  const reader = await getSettings(deps, caller)
  const ids = page.data.map(({ incidentId }) => incidentId)
  const incidents =
    group === 'incident' ? await readIncidents(deps, caller.wallet, ids, reader) : undefined
  const deliveries = await delivery.listForAlerts(
    deps.db,
    [page.data, ...Array.from(incidents?.values() ?? [], ({ parts }) => parts)].flatMap((rows) =>
      rows.map(({ id }) => id),
    ),
  )
  const show = (row: store.AlertRow) => toAlert(deps, row, reader, deliveries.get(row.id) ?? [])
  return {
    nextCursor: page.nextCursor,
    data: page.data.map((row) => {
      const incident = incidents?.get(row.incidentId)
      return { ...show(row), ...(incident && { incident: toIncident(incident, show) }) }
    }),
  }
}

function toIncident(
  { id, title, severity, state, acknowledged, parts }: IncidentSummary,
  show: (row: store.AlertRow) => Alert,
): Incident {
  const firedAt = new Date(
    Math.min(...parts.map((row) => (row.startedAt ?? row.firedAt).getTime())),
  )
  const ends = parts.flatMap((row) => recoveredAtOf(row)?.getTime() ?? [])
  const recoveredAt = state === 'recovered' ? new Date(Math.max(...ends)) : null
  return {
    ...{ id, title, severity, state, firedAt, recoveredAt },
    durationSeconds:
      recoveredAt === null ? null : (recoveredAt.getTime() - firedAt.getTime()) / 1000,
    acknowledgedAt: acknowledged?.at ?? null,
    acknowledgedBy: acknowledged?.by ?? null,
    alerts: parts.map(show),
  }
}

/**
 * Deletes alerts from the history; open episodes stay open. Messages show an open alert as deleted, and PagerDuty's alert
 * ends with the last open one of its incident.
 *
 * @param bound deletes no other alerts, and none if more of them match
 * @returns number of deleted alerts
 * @throws AppError invalid `validation_failed` when `ids`, `before` and `all` are all missing;
 * stale `etag_mismatch` when more alerts match than `bound` counted
 */
export async function deleteAlerts(
  deps: Pick<ReadDeps, 'db'>,
  caller: Caller,
  selection: AlertSelection,
  bound?: RowBound,
): Promise<{ deleted: number }> {
  const { all, ...chosen } = selection
  if (all === undefined && chosen.ids === undefined && chosen.before === undefined) {
    const errors = [{ pointer: '', code: 'selector' }]
    throw new AppError('invalid', 'validation_failed', { errors })
  }
  if (bound === undefined) return await deleteSelected(deps.db, caller.wallet, chosen)
  const { newestId } = bound
  return await transact(deps.db, async (tx) => {
    const gone = await deleteSelected(tx, caller.wallet, { ...chosen, newestId })
    // Others match meanwhile, for example because they have recovered.
    if (gone.deleted > bound.count) throw new AppError('stale', 'etag_mismatch')
    return gone
  })
}

/** Deletes all selected alerts of a wallet. */
async function deleteSelected(
  db: Db,
  wallet: string,
  selection: AlertSelector,
): Promise<{ deleted: number }> {
  let deleted = 0
  let after: store.AlertCursor | undefined
  do {
    // In parts, so that no lock lasts long.
    const place = after
    const part = await transact(db, (tx) => deletePart(tx, wallet, selection, place))
    deleted += part.deleted
    after = part.next
  } while (after !== undefined)
  return { deleted }
}

/** Deletes one part of the selected alerts. Messages no longer show those as open of which nobody will hear the end. */
async function deletePart(
  tx: Db,
  wallet: string,
  selection: AlertSelector,
  after: store.AlertCursor | undefined,
): Promise<{ readonly deleted: number; readonly next: store.AlertCursor | undefined }> {
  const { gone, next } = await deleteAlertPart(tx, wallet, selection, after)
  const open = gone.flatMap(({ id, isOpen }) => (isOpen ? [id] : []))
  const ofIncidents = [...gone.map(({ id }) => id), ...(await listIdsOfIncidents(tx, gone))]
  await delivery.reviseMessages(tx, open, { ofIncidents })
  return { deleted: gone.length, next }
}

/**
 * Number of alerts, including recoveries, that a selection would delete, counted up to `max`, and the highest id among
 * them.
 */
export function countAlerts(
  deps: Pick<ReadDeps, 'db'>,
  caller: Caller,
  selection: Omit<AlertSelection, 'all'>,
  max: number,
): Promise<BoundedCount & { readonly newestId: number }> {
  return countAlertParts(deps.db, caller.wallet, selection, max)
}

/** Deletes one alert. @throws AppError not_found */
export async function deleteAlert(
  deps: Pick<ReadDeps, 'db'>,
  caller: Caller,
  id: number,
): Promise<void> {
  const of = { ids: [id] }
  const { deleted } = await transact(deps.db, (tx) => deletePart(tx, caller.wallet, of, undefined))
  if (deleted === 0) throw new AppError('not_found', 'not_found')
}

/** Alerts read by one query of an export; bounds memory. */
const EXPORTED_AT_ONCE = 1000

const COLUMNS = [
  'id',
  'firedAt',
  'recoveredAt',
  'watchId',
  'watchLabel',
  'type',
  'signal',
  'group',
  'event',
  'severity',
  'state',
  'title',
  'body',
  'data',
  'incidentId',
  'during',
] as const

/** The selected history as CSV, newest first, line by line as it is read. */
export async function* exportAlerts(
  deps: ReadDeps,
  caller: Caller,
  filter: AlertFilter,
): AsyncGenerator<string> {
  const reader = await getSettings(deps, caller)
  yield BYTE_ORDER_MARK + csvLine(COLUMNS)
  let after: store.AlertCursor | undefined
  do {
    const part = await listAlertPart(deps.db, caller.wallet, filter, after, EXPORTED_AT_ONCE)
    // Also where nothing matched: a reader who has left is noticed here.
    yield part.rows.map((row) => exportLine(deps, row, reader)).join('')
    after = part.next
  } while (after !== undefined)
}

function exportLine(deps: Omit<ReadDeps, 'db'>, row: store.AlertRow, reader: Reader): string {
  const { title, body } = renderRecordedAlert(deps, row, reader)
  const cells: Record<(typeof COLUMNS)[number], CsvCell> = {
    ...row,
    firedAt: row.firedAt.toISOString(),
    recoveredAt: recoveredAtOf(row)?.toISOString() ?? null,
    title,
    body,
    data: JSON.stringify(row.data),
  }
  return csvLine(COLUMNS.map((column) => cells[column]))
}

/** Converts a row to an alert as callers see it. */
export function toAlert(
  deps: Omit<ReadDeps, 'db'>,
  row: store.AlertRow,
  reader: Reader,
  deliveries: DeliveryEntry[],
): Alert {
  const { title, body } = renderRecordedAlert(deps, row, reader)
  return {
    id: row.id,
    incidentId: row.incidentId,
    watchId: row.watchId,
    watchLabel: row.watchLabel,
    type: row.type,
    signal: row.signal,
    group: row.group,
    event: row.event,
    severity: z.enum(SEVERITIES).parse(row.severity),
    state: stateOf(row),
    data: JsonObject.parse(row.data),
    rendered: { locale: reader.locale, title, body },
    firedAt: row.firedAt,
    recoveredAt: recoveredAtOf(row),
    durationSeconds: durationOf(row),
    recoveryOf: row.recoveryOf,
    acknowledgedAt: row.acknowledgedAt,
    acknowledgedBy: row.acknowledgedBy,
    note: row.note,
    notedBy: row.notedBy,
    during: row.during,
    deliveries,
  }
}

/** State of an alert. */
export function stateOf(row: store.AlertRow): AlertState {
  return z.enum(ALERT_STATES).parse(row.state)
}

/**
 * Time of an alert's recovery; null while the alert is open, and for an alert that was closed with its
 * watch.
 */
function recoveredAtOf({
  state,
  recoveredAt,
}: Pick<store.AlertRow, 'state' | 'recoveredAt'>): Date | null {
  return state === 'closed' ? null : recoveredAt
}

/**
 * Seconds from the start of an episode to its recovery, for any of its alerts; null while the alert is
 * open, and if it was closed.
 */
function durationOf(row: store.AlertRow): number | null {
  const { firedAt, startedAt } = row
  const recoveredAt = recoveredAtOf(row)
  if (recoveredAt === null) return null
  if (startedAt !== null) return (recoveredAt.getTime() - startedAt.getTime()) / 1000
  // The row is a recovery whose alert was deleted.
  if (recoveredAt.getTime() === firedAt.getTime()) return null
  return (recoveredAt.getTime() - firedAt.getTime()) / 1000
}
