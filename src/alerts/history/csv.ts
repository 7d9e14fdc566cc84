/** Value of a cell; null for an empty cell. */
export type CsvCell = string | number | null

/** Start of a file. Without it, spreadsheets read the file in the encoding of the machine. */
export const BYTE_ORDER_MARK = '\uFEFF'

/** Start of a cell that spreadsheets would execute as a formula. */
const FORMULA = /^[=+\-@\t\r]/

/**
 * Formats one line of CSV. Cells that a spreadsheet would execute get an apostrophe in front.
 *
 * @see RFC 4180
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return ''
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
