/**
 * Invisible characters that keep a foreign run of text from reversing its surroundings. Only first-strong
 * isolates are used: they survive Telegram, unlike the older embeddings.
 *
 * @see Unicode Standard Annex 9
 */

import { withoutJoiners } from '#src/kernel/inert-text.ts'

const FIRST_STRONG_ISOLATE = '\u2068'
const POP_DIRECTIONAL_ISOLATE = '\u2069'

/** Isolates a text, so that it keeps its own direction in any surroundings. */
export function isolate(text: string): string {
  return `${FIRST_STRONG_ISOLATE}${text}${POP_DIRECTIONAL_ISOLATE}`
}

/** Removes isolates, for text that is copied, sent to programs or put into fields. */
export function withoutIsolates(text: string): string {
  return text.replace(/[\u2066-\u2069]/g, '')
}

/**
 * Removes isolates and embeddings, so that the text cannot end an isolate around it or change the direction
 * after it.
 */
export function withoutDirections(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
}

/** Moves isolates out of `<code>`, where a reader would copy them, and removes joiners there. */
export function isolatesOutside(html: string): string {
  return html.replace(/<code\b[^>]*>.*?<\/code>/gs, (element) => {
    const whole = withoutJoiners(element)
    const bare = withoutIsolates(whole)
    return bare === whole ? whole : isolate(bare)
  })
}
