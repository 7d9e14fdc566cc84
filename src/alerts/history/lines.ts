/** A wallet's alerts for a list in a chat: in the chat's language, one line each. */
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Page } from '#src/kernel/pagination.ts'
import { LEDGER_WATCH_TYPES } from '#src/watches/types/index.ts'
import { readIncidents } from '../incidents/incident.ts'
import type { Reader } from '../messages/render.ts'
import type { AlertState } from '../model.ts'
import * as store from '../store.ts'
import type { During } from '../tables.ts'
import type { ReadDeps } from './history.ts'
import type { AlertSelector } from './part-store.ts'
import { listAlertParts, readAlertCursor, toAlertPage } from './parts.ts'

/** One incident in a list. */
export interface AlertLine {
  /** Id of its first alert, by which it is opened. */
  readonly id: number
  /** Number of the incident. */
  readonly incidentId: number
  readonly watchId: number
  readonly watchLabel: string
  readonly type: string
  readonly title: string
  readonly severity: Severity
  readonly state: AlertState
  /** Start of the outage; the time of an alert that nothing ends. The order of the list is that of detection. */
  readonly startedAt: Date
  /** End of the outage; null while the alert is open. */
  readonly recoveredAt: Date | null
  /** Length of the outage. */
  readonly durationSeconds: number | null
  readonly acknowledged: { readonly by: string | null } | null
  readonly note: { readonly text: string } | null
  /** Planned maintenance in which it began. */
  readonly during: During | null
}

/** Filter of the list. */
export interface AlertLineQuery {
  readonly state?: AlertState | undefined
  readonly severity?: Severity | undefined
  readonly watchId?: number | undefined
  /** Number of the only incident that is wanted. */
  readonly incidentId?: number | undefined
  /** Restricts to the last hours. */
  readonly hours?: number | undefined
  /** Whether a group reads it, which sees no alerts about the wallet's credits. */
  readonly isGroup?: boolean | undefined
}

interface Deps extends ReadDeps {
  readonly clock: Clock
}

/** A page of a list. */
export interface LinePage extends Page<AlertLine> {
  /** Time of the oldest alert that was looked at; null if the page is full or the last. */
  readonly searchedTo: Date | null
}

/**
 * A page of the wallet's incidents, newest first. Among very many alerts of which few match, a page may hold fewer
 * than `limit` although there is a next one.
 *
 * @throws AppError invalid `validation_failed` for a cursor of a list with another filter
 */
export async function listAlertLines(
  deps: Deps,
  caller: Caller,
  input: {
    readonly wanted: AlertLineQuery
    readonly limit: number
    readonly cursor?: string | undefined
    readonly reader: Reader
  },
): Promise<LinePage> {
  const { wanted, limit, reader } = input
  const selection = since(wanted, deps.clock.now())
  const after = readAlertCursor(input.cursor, wanted)
  const part = await listAlertParts(deps.db, caller.wallet, selection, after, limit + 1)
  const page = toAlertPage(part, limit, wanted)
  return {
    ...page,
    data: await toLines(deps, caller, page.data, { ...reader, isGroup: wanted.isGroup }),
    searchedTo: page.data.length < limit ? (part.next?.firedAt ?? null) : null,
  }
}

/** The wallet's incidents that are muted until they are over, newest first. */
export async function listMutedLines(
  deps: Deps,
  caller: Caller,
  { limit, reader }: { readonly limit: number; readonly reader: Reader },
): Promise<readonly AlertLine[]> {
  const rows = await store.listMuted(deps.db, caller.wallet, {
    limit,
    exceptTypes: reader.isGroup === true ? LEDGER_TYPES : [],
  })
  const newest = new Map(rows.toReversed().map((row) => [row.incidentId, row]))
  return await toLines(deps, caller, [...newest.values()].toReversed(), reader)
}

function since({ hours, ...wanted }: AlertLineQuery, now: Date): AlertSelector {
  const from = hours === undefined ? undefined : ago(hours, now)
  return { ...visible(wanted), from, incidents: true }
}

/** The selection of a filter: without alerts that are hidden from its reader. */
function visible({ isGroup, ...wanted }: Omit<AlertLineQuery, 'hours'>): AlertSelector {
  return isGroup === true ? { ...wanted, exceptTypes: LEDGER_TYPES } : wanted
}

/** Types whose alerts are about the wallet's credits. */
const LEDGER_TYPES = LEDGER_WATCH_TYPES.map(({ name }) => name)

function ago(hours: number, now: Date): Date {
  return new Date(now.getTime() - hours * HOUR_MS)
}

/** The line of the incident of each of these alerts; one that cannot be read has none. */
async function toLines(
  deps: Deps,
  { wallet }: Caller,
  rows: readonly store.AlertRow[],
  reader: Reader,
): Promise<AlertLine[]> {
  const ids = rows.map(({ incidentId }) => incidentId)
  const incidents = await readIncidents(deps, wallet, ids, reader)
  return rows.flatMap(({ id, incidentId, watchId, watchLabel, type }): AlertLine[] => {
    const incident = incidents.get(incidentId)
    if (incident === undefined) return []
    const { id: _, parts: __, ...shown } = incident
    return [{ ...shown, id, incidentId, watchId, watchLabel, type }]
  })
}
