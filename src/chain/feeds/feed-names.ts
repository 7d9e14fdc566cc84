import { type Hex, isHex, size, slice, stringToHex } from 'viem'
import { bySimilarity } from '#src/kernel/similar.ts'
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
  const names = feeds.map(({ name }) => name)
  return bySimilarity(names, wanted, (name) => name.toLowerCase()).slice(0, NEAREST_MAX)
}

function namesOf(text: string): readonly string[] {
  const name = text.trim().toLowerCase()
  return name.includes('/') ? [name] : [`${name}/usd`, name]
}
