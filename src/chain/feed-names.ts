import { type Hex, isHex, size, slice, stringToHex } from 'viem'
import { decodePaddedText } from './padded-text.ts'

/** A price feed of the chain. */
export interface FeedEntry {
  /** 21 bytes, lower case: its category, then its name padded with zeros. */
  readonly id: Hex
  /** For example `FLR/USD`. */
  readonly name: string
}

/** The feeds of the chain, including renamed ones. */
export interface FeedList {
  readonly feeds: readonly FeedEntry[]
  /** Current id by former id. */
  readonly renamed: ReadonlyMap<Hex, Hex>
}

/** Category byte of pairs of crypto assets. */
const CRYPTO = '01'
const NAME_BYTES = 20
const ID_BYTES = 1 + NAME_BYTES
const NEAREST_MAX = 3

/** The 21-byte id of a feed of a pair of crypto assets. */
export function cryptoFeedId(name: string): Hex {
  return `0x${CRYPTO}${stringToHex(name, { size: NAME_BYTES }).slice(2)}`
}

/** The name in an id, in any category; undefined for a malformed id. */
export function feedName(id: string): string | undefined {
  if (!isHex(id) || size(id) !== ID_BYTES) return undefined
  const name = decodePaddedText(slice(id, 1))
  return /^[\x21-\x7e]+$/.test(name) ? name : undefined
}

/**
 * Finds a feed by id or name, in upper or lower case, with `/USD` optional; a renamed feed is resolved to its current
 * name.
 */
export function findFeed({ feeds, renamed }: FeedList, text: string): FeedEntry | undefined {
  const id = isHex(text) ? text : undefined
  const wanted = id === undefined ? namesOf(text) : []
  const isWanted = (entry: FeedEntry) =>
    id === undefined ? wanted.includes(entry.name.toLowerCase()) : entry.id === id.toLowerCase()
  const feed = feeds.find(isWanted)
  if (feed !== undefined) return feed
  const formerId = [...renamed.keys()].find((id) => isWanted({ id, name: feedName(id) ?? '' }))
  return formerId === undefined ? undefined : currentFeedOf(formerId, { feeds, renamed })
}

/** The current feed of a former id, which may have been renamed several times. */
function currentFeedOf(formerId: Hex, { feeds, renamed }: FeedList): FeedEntry | undefined {
  const seen = new Set<Hex>()
  for (
    let id: Hex | undefined = formerId;
    id !== undefined && !seen.has(id);
    id = renamed.get(id)
  ) {
    const feed = feeds.find((entry) => entry.id === id)
    if (feed !== undefined) return feed
    seen.add(id)
  }
  return undefined
}

/** The feed names that are most similar to a text that names no feed. */
export function nearestFeeds({ feeds }: FeedList, text: string): readonly string[] {
  const [wanted = ''] = namesOf(text)
  return feeds
    .map(({ name }) => ({ name, distance: distance(name.toLowerCase(), wanted) }))
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, NEAREST_MAX)
    .map(({ name }) => name)
}

function namesOf(text: string): readonly string[] {
  const name = text.trim().toLowerCase()
  return name.includes('/') ? [name] : [`${name}/usd`, name]
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
