import fc from 'fast-check'

const LAST = 0x10ffff
/** Range of the surrogates: a surrogate is half of a character in UTF-16, not a character. */
const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * Any character of Unicode, for `fc.string`. The unit `binary` of fast-check gives the same ones, but first makes
 * a table of the whole million, in each worker.
 */
export const anyUnicodeCharacter = fc.nat({ max: LAST - SURROGATES.count }).map(
  (index) => {
    const { first, count } = SURROGATES
    return String.fromCodePoint(index < first ? index : index + count)
  },
  (character) => {
    if (typeof character !== 'string') throw new Error('not a character')
    const code = character.codePointAt(0) ?? SURROGATES.first
    const { first, count } = SURROGATES
    const isHalf = code >= first && code < first + count
    if (isHalf || String.fromCodePoint(code) !== character) throw new Error('not one character')
    return code < first ? code : code - count
  },
)

/** What a path or a query may contain as it is. */
const PLAIN_IN_URLS = "abcxyzABCXYZ0189-._~!$&'()*+,;=:@/?"

/**
 * A character of a path or a query, escaped where it must be. `fc.webUrl` and `fc.webQueryParameters` make that table, too.
 */
export const anyUrlCharacter = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(...PLAIN_IN_URLS) },
  { weight: 1, arbitrary: anyUnicodeCharacter.map(encodeURIComponent) },
)
