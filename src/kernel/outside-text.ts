/**
 * Sanitizing of text from outside before it is stored or shown: provider names, token symbols, labels,
 * memos.
 */

/**
 * Characters that are invisible or change how the rest is displayed: controls, lone surrogates, separators,
 * direction marks, invisible fillers.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufffd]/gu
/** Joiners and variation selectors that emoji and several scripts need inside a grapheme. */
const JOINERS = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f'])

/**
 * Maximum number of UTF-16 units that are read for one grapheme, because a letter can have any number of
 * combining marks.
 */
export const UNITS_PER_GRAPHEME = 32

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * Removes invisible characters, collapses white space, and cuts the text to a number of graphemes.
 *
 * The result is well-formed UTF-16 without NUL, so PostgreSQL stores it as text and as JSON.
 *
 * @param maxGraphemes maximum number of user-perceived characters
 * @returns an empty string when no visible character is left
 */
export function cleanOutsideText(text: string, maxGraphemes: number): string {
  const visible = text
    .slice(0, maxGraphemes * UNITS_PER_GRAPHEME)
    .replace(/[^\S\ufeff]/gu, ' ')
    .replace(UNSEEN, (character) => (JOINERS.has(character) ? character : ''))
    .replace(/ +/g, ' ')
    .trim()
  let kept = ''
  let count = 0
  for (const { segment } of graphemes.segment(visible)) {
    if (count === maxGraphemes) break
    kept += segment
    count += 1
  }
  return hasVisible(kept) ? kept.trim() : ''
}

/**
 * Characters that Unicode classifies as symbols or letters although their glyph is empty: Braille pattern without dots,
 * place of an object, blank Egyptian hieroglyphs, musical null notehead. No property of Unicode names them.
 */
const EMPTY_GLYPHS = '\\u2800\\ufffc\\u{13441}\\u{13442}\\u{1d159}'
const VISIBLE = new RegExp(
  `[^\\p{C}\\p{Z}\\p{White_Space}\\p{Mn}\\p{Me}\\p{Default_Ignorable_Code_Point}${EMPTY_GLYPHS}]`,
  'u',
)

/**
 * Whether a text shows anything by itself: neither spaces, joiners nor characters with an empty glyph do, nor accents,
 * which are drawn on what stands before them.
 */
export function hasVisible(text: string): boolean {
  return VISIBLE.test(text)
}

/** Counts user-perceived characters. */
export function countGraphemes(text: string): number {
  let count = 0
  for (const _ of graphemes.segment(text)) count += 1
  return count
}

/**
 * Replaces NUL and lone surrogates in the texts and keys of a JSON value by U+FFFD, so that PostgreSQL can
 * store it as `jsonb`.
 */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableText(key), storableJson(inner)]),
  )
}

/** Replaces NUL and lone surrogates by U+FFFD, so that PostgreSQL can store the text. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
