import { createHash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson } from './canonical-json.ts'
import { AppError } from './errors.ts'
import { textFormat } from './text-format.ts'
import { ID_MAX } from './units.ts'

/**
 * A whole number in a path or query, where every value is text.
 *
 * The published JSON Schema describes it as a number.
 */
export function textInteger(min: number, max: number) {
  return z.codec(
    textFormat(/^-?\d{1,15}$/, () => ({ code: 'integer' })).meta({
      type: 'integer',
      minimum: min,
      maximum: max,
      pattern: undefined,
    }),
    z.int().min(min).max(max),
    { decode: Number, encode: String },
  )
}

/** The parameter `{id}` of a path. */
export const IdParam = z.strictObject({ id: textInteger(1, ID_MAX) })

/** Maximum number of rows of a page. */
const PAGE_LIMIT_MAX = 250
/** Number of rows of a page without `limit`. */
export const PAGE_LIMIT_DEFAULT = 50

const CURSOR_LENGTH_MAX = 24
/** What every cursor looks like. */
const CURSOR = /^(?:[0-9a-z]{1,11}\.)+[\w-]{6}$/

/** The parameters `limit` and `cursor` of every list. */
export const pageQueryFields = {
  limit: textInteger(1, PAGE_LIMIT_MAX)
    .optional()
    .meta({ description: 'operations:field.pageLimit' }),
  // `readCursor` refuses a longer one, as it does any other that is not of the list.
  cursor: z
    .string()
    .optional()
    .meta({ maxLength: CURSOR_LENGTH_MAX, description: 'operations:field.cursor' }),
}

/** The decoded parameters of a list. */
export interface PageQuery {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Maximum number of rows of the page that a query asks for. */
export function pageRows({ limit = PAGE_LIMIT_DEFAULT }: PageQuery): number {
  return limit
}

/**
 * The cursor of a list that is always complete: null. Its schema is that of other lists, because generators of clients
 * have no type for null alone.
 */
export const NoNextCursor = z.string().nullable()

/** Schema of one page of a list. */
export function pageSchema<Row extends z.ZodType>(row: Row) {
  return z.object({
    data: z.array(row),
    nextCursor: z.string().nullable().meta({ description: 'operations:field.nextCursor' }),
  })
}

export interface Page<Row> {
  readonly data: Row[]
  readonly nextCursor: string | null
}

/**
 * Builds a page. There is a next page if there are more than `limit` rows.
 *
 * @param rows at most `limit + 1`, in order
 * @param keys returns the whole numbers that identify the last row of the page, after which the next page
 * starts
 */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  filter: unknown,
  keys: (row: Row) => readonly number[],
): Page<Row> {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { data, nextCursor: hasMore ? writeCursor(keys(last), filter) : null }
}

/** Writes a cursor: an opaque position in a list, at most 24 characters, valid only for the same filter. */
export function writeCursor(keys: readonly number[], filter: unknown): string {
  return [...keys.map((key) => key.toString(36)), digest(filter)].join('.')
}

/**
 * The numbers of a cursor; undefined without a cursor.
 *
 * Anybody can compute a cursor, so its numbers are bounded like any other input.
 *
 * @param maxima maximum of each number, in the order in which the numbers were written
 * @throws AppError invalid `validation_failed` at `/cursor` for a cursor that was not written for this
 * filter
 */
export function readCursor(
  cursor: string | undefined,
  maxima: readonly number[],
  filter: unknown,
): number[] | undefined {
  if (cursor === undefined) return undefined
  const parts = cursor.split('.')
  const keys = parts.slice(0, -1).map((part) => Number.parseInt(part, 36))
  const isOurs =
    parts.length === maxima.length + 1 &&
    parts.at(-1) === digest(filter) &&
    keys.every((key, index) => key.toString(36) === parts[index]) &&
    maxima.every((max, index) => isWithin(keys[index], max))
  if (isOurs) return keys
  const isOfAnotherList = parts.at(-1) !== digest(filter) && CURSOR.test(cursor)
  const problem = { code: 'cursor', ...(!isOfAnotherList && { detail: 'cursor_unknown' }) }
  const errors = [{ pointer: '/cursor', ...problem }]
  throw new AppError('invalid', 'validation_failed', { errors })
}

function isWithin(key: number | undefined, max: number): boolean {
  return key !== undefined && key >= 0 && key <= max
}

function digest(filter: unknown): string {
  return createHash('sha256').update(canonicalJson(filter)).digest('base64url').slice(0, 6)
}
