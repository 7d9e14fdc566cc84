/**
 * PostgreSQL's text form of arrays. postgres.js itself would first query the server for its array types, and an
 * error of that query cannot be caught. No query is needed here, because the built-in types have the same numbers
 * in every database.
 */

import { type SQL, sql } from 'drizzle-orm'

/**
 * A function call that returns no rows, for use with `unnest` in `rows from (…)`. PostgreSQL estimates 100
 * rows for it, whatever the length of the arrays, and so uses one plan for all lengths. Without it, a
 * statement over many partitions is planned each time, which takes longer than running it.
 */
export const ANY_LENGTH = sql.raw(`json_array_elements('[]'::json)`)

/** UUIDs as an array, for `= any(…)`. The statement has the same plan for any number of UUIDs. */
export function uuidArray(ids: readonly string[]): SQL {
  return valueArray(ids, 'uuid')
}

/** Values as an array, for `= any(…)`. The statement has the same plan for any number of values. */
export function valueArray(
  values: readonly (string | number)[],
  type: 'uuid' | 'int' | 'text',
): SQL {
  return sql`array(select id from rows from (
    unnest(${sql.param([...values])}::${sql.raw(type)}[]), ${ANY_LENGTH}) as asked(id, nothing))`
}

/** Parsers of the elements of built-in array types, by the type number of the array. */
const ARRAY_ELEMENTS: readonly (readonly [number, (text: string) => unknown])[] = [
  [1000, (text) => text === 't'], // bool
  [1005, Number], // smallint
  [1007, Number], // integer
  [1021, Number], // real
  [1022, Number], // double precision
  [1009, String], // text
  [1015, String], // varchar
  [1016, String], // bigint, as text like its scalar
  [1231, String], // numeric, as text like its scalar
  [2951, String], // uuid
  [1182, String], // date
  [1185, (text) => new Date(text)], // timestamptz
  [199, (text) => JSON.parse(text)], // json
  [3807, (text) => JSON.parse(text)], // jsonb
]

/** Parser of each array type, by type number. */
export function arrayParsers(): readonly (readonly [number, (text: string) => unknown])[] {
  return ARRAY_ELEMENTS.map(([type, read]) => [type, (text) => parseArray(text, read)])
}

/** PostgreSQL's text form of this array; the statement casts it to the element type. */
export function arrayLiteral(values: readonly unknown[]): string {
  let last: unknown
  let lastText = 'NULL'
  // Rows that are written together often have the same value: a time, a type.
  const texts = values.map((value) => {
    if (value !== last) {
      last = value
      lastText = elementText(value)
    }
    return lastText
  })
  return `{${texts.join(',')}}`
}

function elementText(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof Date) return quoted(value.toISOString())
  if (Array.isArray(value)) return arrayLiteral(value)
  if (value instanceof Uint8Array) return quoted(`\\x${Buffer.from(value).toString('hex')}`)
  return quoted(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

function quoted(text: string): string {
  return /["\\]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`
}

/**
 * JSON values joined into one text, for `string_to_array(…, e'\\x1f')`. JSON never contains that character, so
 * the values need no quotes. Quoting large values takes longer than storing them.
 */
export function joinedJson(values: readonly unknown[]): string {
  let last: unknown
  let lastText = JSON.stringify(last)
  // Rows that are written together often share a value.
  const texts = values.map((value) => {
    if (value !== last) {
      last = value
      lastText = JSON.stringify(value)
    }
    return lastText
  })
  return texts.join('\x1f')
}

/** Parses an array of any depth; `read` parses every element except nulls. */
export function parseArray(text: string, read: (element: string) => unknown): unknown[] {
  // A token is a quoted element, an unquoted element, or a delimiter. The array's bounds may come before
  // the first brace.
  const tokens = text.slice(text.indexOf('{')).matchAll(/"((?:[^"\\]|\\.)*)"|([^{},"]+)|([{}])/gs)
  const open: unknown[][] = [[]]
  for (const [, quoted, bare, brace] of tokens) {
    const inner = open.at(-1) ?? []
    if (brace === '{') {
      const nested: unknown[] = []
      inner.push(nested)
      open.push(nested)
    } else if (brace === '}') open.pop()
    else if (quoted !== undefined) inner.push(read(quoted.replace(/\\(.)/gs, '$1')))
    else inner.push(bare === 'NULL' ? null : read(bare ?? ''))
  }
  const [array] = open[0] ?? []
  return Array.isArray(array) ? array : []
}
