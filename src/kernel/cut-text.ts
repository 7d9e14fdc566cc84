/** Cutting of texts between user-perceived characters: never inside a family of emoji, a flag or a letter with its marks. */

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Iterates over the user-perceived characters of a text. */
export function* graphemesOf(text: string): Generator<string> {
  for (const { segment } of graphemes.segment(text)) yield segment
}

/**
 * Cuts a text to a size; ends with `…` if something was removed.
 *
 * @param sizeOf size of a part of the text, in UTF-16 units by default
 */
export function cutText(
  text: string,
  max: number,
  sizeOf: (part: string) => number = (part) => part.length,
): string {
  if (sizeOf(text) <= max) return text
  const kept: string[] = []
  let size = sizeOf('…')
  for (const grapheme of graphemesOf(text)) {
    size += sizeOf(grapheme)
    if (size > max) break
    kept.push(grapheme)
  }
  return `${kept.join('')}…`
}

/** Size of a text in code points, for `cutText`. */
export function countCodePoints(text: string): number {
  return [...text].length
}
