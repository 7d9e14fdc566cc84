/**
 * Invisible characters that keep a foreign run of text from turning its surroundings around. Only
 * first-strong isolates are used: they survive Telegram, unlike the older embeddings.
 *
 * @see Unicode Standard Annex 9
 */

const FIRST_STRONG_ISOLATE = '\u2068'
const POP_DIRECTIONAL_ISOLATE = '\u2069'

/** A text that keeps its own direction wherever it is put. */
export function isolate(text: string): string {
  return `${FIRST_STRONG_ISOLATE}${text}${POP_DIRECTIONAL_ISOLATE}`
}

/** A text without isolates, as it is copied, sent to programs or put into fields. */
export function withoutIsolates(text: string): string {
  return text.replace(/[\u2066-\u2069]/g, '')
}

/** A text that cannot end an isolate around it or turn what follows: no isolates, no embeddings. */
export function withoutDirections(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
}

/** Moves isolates out of what a reader copies: `<code>`. */
export function isolatesOutside(html: string): string {
  return html.replace(/<code\b[^>]*>.*?<\/code>/gs, (element) => {
    const bare = withoutIsolates(element)
    return bare === element ? element : isolate(bare)
  })
}
