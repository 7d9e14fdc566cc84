/**
 * The one place that text from outside passes before it is stored or shown: provider names, token symbols,
 * labels, memos.
 */

/** What is not seen or changes how the rest is seen: controls, lone surrogates, separators, direction marks, invisible fillers. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufffd]/gu
/** Joiners and variation selectors that emoji and several scripts need inside a grapheme. */
const JOINERS = new Set(['\u200c', '\u200d', '\ufe0e', '\ufe0f'])

/** Most UTF-16 units read for one grapheme: a letter can carry any number of marks. */
export const UNITS_PER_GRAPHEME = 32

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * The text without anything invisible, its white space collapsed, cut to a number of graphemes.
 *
 * The result is well-formed UTF-16 without NUL, so PostgreSQL stores it as text and as JSON.
 *
 * @param maxGraphemes most user-perceived characters that are kept
 * @returns an empty string when nothing visible is left
 */
export function cleanOutsideText(text: string, maxGraphemes: number): string {
  const visible = text
    .slice(0, maxGraphemes * UNITS_PER_GRAPHEME)
    .replace(/[^\S\ufeff]+/gu, ' ')
    .replace(UNSEEN, (character) => (JOINERS.has(character) ? character : ''))
    .trim()
  let kept = ''
  let count = 0
  for (const { segment } of graphemes.segment(visible)) {
    if (count === maxGraphemes) break
    kept += segment
    count += 1
  }
  kept = kept.trim()
  // Joiners alone are nothing to see.
  return [...kept].every((character) => JOINERS.has(character)) ? '' : kept
}

/** Counts user-perceived characters. */
export function countGraphemes(text: string): number {
  let count = 0
  for (const _ of graphemes.segment(text)) count += 1
  return count
}

/**
 * A JSON value that PostgreSQL can store as `jsonb`: NUL and lone surrogates in its texts, keys included,
 * become U+FFFD.
 */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableText(key), storableJson(inner)]),
  )
}

/** A text that PostgreSQL can store: NUL and lone surrogates become U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
