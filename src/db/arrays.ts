/**
 * PostgreSQL's text form of arrays. postgres.js would ask each server for its array types first, in
 * a query whose failure nobody can catch; the types we use are the same in every database.
 */

import { sql } from 'drizzle-orm'

/**
 * Stands beside `unnest` in `rows from (…)` and gives no rows. PostgreSQL expects 100 of it, however many the
 * arrays have, and so keeps one plan for all lengths. Without it a statement over many partitions is planned
 * anew each time, which takes longer than to run it.
 */
export const ANY_LENGTH = sql.raw(`json_array_elements('[]'::json)`)

/** How a scalar of a built-in type is read, by the type number of its array. */
const ARRAY_ELEMENTS: readonly (readonly [number, (text: string) => unknown])[] = [
  [1000, (text) => text === 't'], // boolean
  [1005, Number], // smallint
  [1007, Number], // integer
  [1021, Number], // real
  [1022, Number], // double precision
  [1009, String], // text
  [1015, String], // varchar
  [1016, String], // bigint: text, as its scalar
  [1231, String], // numeric: text, as its scalar
  [2951, String], // uuid
  [1182, String], // date
  [1185, (text) => new Date(text)], // timestamptz
  [199, (text) => JSON.parse(text)], // json
  [3807, (text) => JSON.parse(text)], // jsonb
]

/** A reader per array type number. */
export function arrayParsers(): readonly (readonly [number, (text: string) => unknown])[] {
  return ARRAY_ELEMENTS.map(([type, read]) => [type, (text) => parseArray(text, read)])
}

/** The text PostgreSQL reads as this array, of whatever element type the statement says. */
export function arrayText(values: readonly unknown[]): string {
  return `{${values.map(elementText).join(',')}}`
}

function elementText(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return arrayText(value)
  return `"${scalarText(value).replace(/["\\]/g, '\\$&')}"`
}

function scalarText(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * JSON values as one text, for `string_to_array(…, e'\\x1f')`. JSON never holds that character, so that
 * nothing needs to be quoted, which for large values costs more than writing them.
 */
export function jsonTexts(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join('\x1f')
}

/** Reads an array of any depth; `read` gets every element but nulls. */
export function parseArray(text: string, read: (element: string) => unknown): unknown[] {
  // A quoted element, a bare one, or a mark. Before the first brace may stand the array's bounds.
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
