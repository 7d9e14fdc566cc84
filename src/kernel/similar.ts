/** Finds the names that are most similar to a misspelt one. */

/** Longest text that is compared; the rest of a longer one is not looked at. */
const COMPARED_MAX = 100

/**
 * Names, the most similar to `text` first.
 *
 * @param form the form of a name that is compared with `text`
 */
export function bySimilarity(
  names: readonly string[],
  text: string,
  form: (name: string) => string,
): readonly string[] {
  const wanted = text.slice(0, COMPARED_MAX)
  return names
    .map((name) => ({ name, distance: distance(form(name), wanted) }))
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name)
}

/** Edit distance: characters to change, swap with the next, add or omit between two texts. */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, index) => index)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0
  for (let row = 1; row <= from.length; row++) {
    rows.push([row])
    for (let column = 1; column <= to.length; column++) {
      const isEqual = from[row - 1] === to[column - 1]
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const costs = [
        at(row - 1, column - 1) + (isEqual ? 0 : 1),
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        ...(isSwap && row > 1 && column > 1 ? [at(row - 2, column - 2) + 1] : []),
      ]
      rows[row]?.push(Math.min(...costs))
    }
  }
  return at(from.length, to.length)
}
