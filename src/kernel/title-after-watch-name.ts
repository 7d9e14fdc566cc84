/**
 * The title of an alert for use after the name of its watch. A name that begins the title is removed, to avoid texts
 * such as *FLR/USD: FLR/USD +12% within 1 hour*.
 */
export function titleAfterWatchName(label: string, title: string): string {
  return textAfterWatchName(label, title) ?? title
}

/**
 * What follows the name of a watch in a title that begins with it: a price move, or any text after a colon. In Arabic
 * a word precedes the name before a move: *price FLR/USD +6%*.
 *
 * Undefined for every other title, also if it begins with the same word: *FTSO reveal missing* does not name a watch
 * called *FTSO*.
 */
export function textAfterWatchName(label: string, title: string): string | undefined {
  const name = visible(label)
  if (name === '') return undefined
  for (const { index, 0: between } of title.matchAll(BETWEEN)) {
    const before = visible(title.slice(0, index))
    const after = title.slice(index + between.length)
    const isNamed =
      before === name || (MOVE.test(after) && before.replace(/^\p{L}+ /u, '') === name)
    if (isNamed) return after
  }
  return undefined
}

/** A price move, which may be isolated. */
const MOVE = /^[\u061c\u200e\u200f\u2066-\u2068]*[-+\u2212]/u
/** What separates a name from the text after it, with the end of the name's isolate. */
const BETWEEN = /\u2069?(?:\s*[:：]\s*(?=\S)|\s+(?=[\u061c\u200e\u200f\u2066-\u2068]*[-+\u2212]))/gu

/** A text without characters that show nothing, with simple spaces. */
function visible(text: string): string {
  return text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
}
