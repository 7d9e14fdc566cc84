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

/** Shortest text that makes a name close by being a part of it. */
const PART_LENGTH_MIN = 4

/**
 * The known name that somebody who wrote this text probably means: one that differs in a third of its characters at most, or
 * that the text is a part of, or the reverse; undefined if there is none. Case, `-` and `_` do not count.
 */
export function closeName(names: readonly string[], text: string): string | undefined {
  const form = (name: string) => name.replaceAll(/[-_]/g, '').toLowerCase()
  const wanted = form(text)
  if (text.length > COMPARED_MAX || wanted === '') return undefined
  const candidates = names.filter((name) => {
    const [shorter = '', longer = ''] = [form(name), wanted].toSorted((a, b) => a.length - b.length)
    const most = Math.floor(longer.length / 3)
    const isPart = shorter.length >= PART_LENGTH_MIN && longer.includes(shorter)
    return isPart || (longer.length - shorter.length <= most && distance(shorter, longer) <= most)
  })
  return bySimilarity(candidates, wanted, form)[0]
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
