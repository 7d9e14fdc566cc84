/** A wallet's alerts for a list in a chat: in the chat's language, one line each. */
import { z } from 'zod'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Page } from '#src/kernel/pagination.ts'
import { LEDGER_WATCH_TYPES } from '#src/watches/types/index.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import { type OutageTimes, outageSeconds, readOutages } from '../messages/outage-times.ts'
import type { Reader } from '../messages/render.ts'
import type { AlertState } from '../model.ts'
import { renderRecordedAlert } from '../recorded-alert.ts'
import * as store from '../store.ts'
import { type ReadDeps, stateOf } from './history.ts'
import type { AlertSelector } from './part-store.ts'
import { listAlertParts, readAlertCursor, toAlertPage } from './parts.ts'

/** One alert in a list; its recovery has no separate line. */
export interface AlertLine {
  readonly id: number
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
}

/** Filter of the list. */
export interface AlertLineQuery {
  readonly state?: AlertState | undefined
  readonly severity?: Severity | undefined
  readonly watchId?: number | undefined
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
 * A page of the wallet's alerts, newest first. Among very many alerts of which few match, a page may hold fewer
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
    data: await toLines(deps, page.data, { ...reader, isGroup: wanted.isGroup }),
    searchedTo: page.data.length < limit ? (part.next?.firedAt ?? null) : null,
  }
}

/** The wallet's open alerts that are muted until they recover, newest first. */
export async function listMutedLines(
  deps: Deps,
  caller: Caller,
  { limit, reader }: { readonly limit: number; readonly reader: Reader },
): Promise<readonly AlertLine[]> {
  const rows = await store.listMuted(deps.db, caller.wallet, {
    limit,
    exceptTypes: reader.isGroup === true ? LEDGER_TYPES : [],
  })
  return await toLines(deps, rows, reader)
}

function since({ hours, ...wanted }: AlertLineQuery, now: Date): AlertSelector {
  const from = hours === undefined ? undefined : ago(hours, now)
  return { ...visible(wanted), from, withoutRecoveries: true }
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

async function toLines(
  deps: ReadDeps,
  rows: readonly store.AlertRow[],
  reader: Reader,
): Promise<AlertLine[]> {
  const outages = await readOutages(deps.db, rows)
  const current = await withCurrentFigures(deps.db, rows)
  return current.map((row) => toLine(deps, row, outages.get(row.id), reader))
}

function toLine(
  deps: ReadDeps,
  row: store.AlertRow,
  outage: OutageTimes | undefined,
  reader: Reader,
): AlertLine {
  return {
    id: row.id,
    watchId: row.watchId,
    watchLabel: row.watchLabel,
    type: row.type,
    title: renderRecordedAlert(deps, row, reader).title,
    severity: z.enum(SEVERITIES).parse(row.severity),
    state: stateOf(row),
    startedAt: outage?.from ?? row.firedAt,
    recoveredAt: outage?.to ?? null,
    durationSeconds: outage === undefined ? null : outageSeconds(outage),
    acknowledged: row.acknowledgedAt === null ? null : { by: row.acknowledgedBy },
  }
}
