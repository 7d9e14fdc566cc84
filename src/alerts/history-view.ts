/** A wallet's alerts for a list in a chat: in the chat's language, one line each. */
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { cutPage, type Page, readCursor } from '#src/kernel/query.ts'
import { ID_MAX, INSTANT_MS_MAX } from '#src/kernel/units.ts'
import { type ReadDeps, stateOf } from './history.ts'
import * as lines from './history-store.ts'
import type { AlertState } from './model.ts'
import { lengthOf, type OutageTimes, outagesOf } from './outage-times.ts'
import { messageOf } from './recorded-alert.ts'
import type { Reader } from './render.ts'
import type { AlertRow } from './store.ts'

/** One alert in a list; its recovery has no separate line. */
export interface AlertLine {
  readonly id: number
  readonly watchId: number
  readonly watchLabel: string
  readonly type: string
  readonly title: string
  readonly severity: Severity
  readonly state: AlertState
  readonly firedAt: Date
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
}

/** Maximum count; more alerts are not counted. */
const COUNTED_MAX = 10_000

interface Deps extends ReadDeps {
  readonly clock: Clock
}

/**
 * A page of the wallet's alerts, newest first, with the total count (at most `COUNTED_MAX`).
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
): Promise<Page<AlertLine> & { readonly total: number }> {
  const { wanted, limit, reader } = input
  const filter = since(wanted, deps.clock.now())
  const [firedAtMs, id] = readCursor(input.cursor, [INSTANT_MS_MAX, ID_MAX], wanted) ?? []
  const after =
    firedAtMs === undefined || id === undefined ? undefined : { firedAt: new Date(firedAtMs), id }
  const [rows, total] = await Promise.all([
    lines.listLines(deps.db, caller.wallet, filter, { after, limit: limit + 1 }),
    lines.countLines(deps.db, caller.wallet, filter, COUNTED_MAX),
  ])
  const page = cutPage(rows, limit, wanted, (row) => [row.firedAt.getTime(), row.id])
  return { ...page, total, data: await toLines(deps, page.data, reader) }
}

/**
 * Number of alerts older than the last `hours`, or of all alerts if `hours` is omitted. At most
 * `COUNTED_MAX`.
 */
export function countOlder(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  { hours, ...wanted }: AlertLineQuery,
): Promise<number> {
  const before = hours === undefined ? undefined : ago(hours, deps.clock.now())
  return lines.countLines(deps.db, caller.wallet, { ...wanted, before }, COUNTED_MAX)
}

/** The wallet's open alerts that are muted until they recover, newest first. */
export async function listMutedLines(
  deps: Deps,
  caller: Caller,
  { limit, reader }: { readonly limit: number; readonly reader: Reader },
): Promise<readonly AlertLine[]> {
  const rows = await lines.listMuted(deps.db, caller.wallet, limit)
  return await toLines(deps, rows, reader)
}

function since({ hours, ...wanted }: AlertLineQuery, now: Date): lines.LineFilter {
  return { ...wanted, ...(hours !== undefined && { from: ago(hours, now) }) }
}

function ago(hours: number, now: Date): Date {
  return new Date(now.getTime() - hours * HOUR_MS)
}

async function toLines(
  deps: ReadDeps,
  rows: readonly AlertRow[],
  reader: Reader,
): Promise<AlertLine[]> {
  const outages = await outagesOf(deps.db, rows)
  return rows.map((row) => toLine(deps, row, outages.get(row.id), reader))
}

function toLine(
  deps: ReadDeps,
  row: AlertRow,
  outage: OutageTimes | undefined,
  reader: Reader,
): AlertLine {
  return {
    id: row.id,
    watchId: row.watchId,
    watchLabel: row.watchLabel,
    type: row.type,
    title: messageOf(deps, row, reader).title,
    severity: z.enum(SEVERITIES).parse(row.severity),
    state: stateOf(row),
    firedAt: row.firedAt,
    recoveredAt: outage?.to ?? null,
    durationSeconds: outage === undefined ? null : lengthOf(outage),
    acknowledged: row.acknowledgedAt === null ? null : { by: row.acknowledgedBy },
  }
}
