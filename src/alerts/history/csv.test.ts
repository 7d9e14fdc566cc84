import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'

/** Parses lines by RFC 4180. */
function parse(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r\n)/g)) {
    row.push(quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

test('a line reads back as it was, whatever its cells hold', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string(), { minLength: 1 }), { minLength: 1 }), (rows) => {
      const text = rows.map(csvLine).join('')
      const plain = (cell: string) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)
      expect(parse(text)).toEqual(rows.map((row) => row.map(plain)))
    }),
  )
})

test.each([
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\tx',
  '\rx',
])('a spreadsheet does not run %j', (cell) => {
  expect(parse(csvLine([cell]))).toEqual([[`'${cell}`]])
})

test('a number is written without quotes, and null as an empty cell', () => {
  expect(csvLine([-1, null, 0])).toBe('-1,,0\r\n')
})
