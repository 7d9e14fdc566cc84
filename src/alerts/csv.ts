/** A value of a cell: text, or nothing. */
export type Cell = string | number | null

/** Spreadsheets take a cell that begins like this for a formula, and run it. */
const FORMULA = /^[=+\-@\t\r]/

/**
 * One line of CSV. Cells that a spreadsheet would run are prefixed with an apostrophe.
 *
 * @see RFC 4180
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: Cell): string {
  if (cell === null) return ''
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
