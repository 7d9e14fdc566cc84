/** Pages and counts of a history that is read in parts. */
import type { Db } from '#src/db/connection.ts'
import { type Page, readCursor, toPage, writeCursor } from '#src/kernel/pagination.ts'
import { ID_MAX, INSTANT_MS_MAX } from '#src/kernel/units.ts'
import type { AlertCursor, AlertRow } from '../store.ts'
import { type AlertPart, type AlertSelector, countAlertPart, listAlertPart } from './part-store.ts'

/** Parts that a page or a count reads at most for a person who waits: 100,000 alerts. */
const PARTS_MAX = 25

/** The position of a cursor. @throws AppError invalid `validation_failed` for a cursor of another filter */
export function readAlertCursor(
  cursor: string | undefined,
  filter: unknown,
): AlertCursor | undefined {
  const [firedAtMs, id] = readCursor(cursor, [INSTANT_MS_MAX, ID_MAX], filter) ?? []
  if (firedAtMs === undefined || id === undefined) return undefined
  return { firedAt: new Date(firedAtMs), id }
}

/** Builds a page of `limit` alerts from a part of up to `limit + 1`. */
export function toAlertPage(
  { rows, next }: AlertPart,
  limit: number,
  filter: unknown,
): Page<AlertRow> {
  const keys = ({ firedAt, id }: AlertCursor) => [firedAt.getTime(), id]
  const page = toPage(rows, limit, filter, keys)
  if (page.nextCursor !== null || next === undefined) return page
  return { ...page, nextCursor: writeCursor(keys(next), filter) }
}

/** As `listAlertPart`, but reads on while alerts are missing to `limit`, through a bounded number of parts. */
export async function listAlertParts(
  db: Db,
  wallet: string,
  selection: AlertSelector,
  after: AlertCursor | undefined,
  limit: number,
): Promise<AlertPart> {
  const rows: AlertRow[] = []
  let next = after
  for (let parts = 0; parts < PARTS_MAX; parts += 1) {
    const part = await listAlertPart(db, wallet, selection, next, limit - rows.length)
    rows.push(...part.rows)
    next = part.next
    if (next === undefined || rows.length >= limit) break
  }
  return { rows, next }
}

/** A count that may end early. */
export interface BoundedCount {
  readonly count: number
  /** Whether these are all. */
  readonly isAll: boolean
}

/**
 * Number of the wallet's selected alerts, counted up to `max` and through a bounded number of parts.
 * @returns also the highest id among the parts; 0 without an alert
 */
export async function countAlertParts(
  db: Db,
  wallet: string,
  selection: AlertSelector,
  max: number,
): Promise<BoundedCount & { readonly newestId: number }> {
  let count = 0
  let newestId = 0
  let next: AlertCursor | undefined
  for (let parts = 0; parts < PARTS_MAX; parts += 1) {
    const part = await countAlertPart(db, wallet, selection, next)
    count += part.count
    newestId = Math.max(newestId, part.newestId)
    next = part.next
    if (count > max) break
    if (next === undefined) return { count, isAll: true, newestId }
  }
  return { count: Math.min(count, max), isAll: false, newestId }
}
