import { isIP } from 'node:net'
import { formatTime } from '#src/i18n/format.ts'
import { type TextKey, type TextValues, type Translate, typed } from '#src/i18n/translate.ts'
import type { Severity } from '#src/kernel/facts.ts'
import { directionOf, type Locale } from '#src/kernel/locale.ts'
import type { Envelope, Message, MessageField } from './define.ts'

/** What chat and mail say alike about a message: glyph, severity line, how values stand in a text. */

const GLYPHS: Readonly<Record<Severity, string>> = { info: '🔵', warning: '🟠', critical: '🔴' }

/** Twice what a label may have: one of emoji has several units a character. */
const LABEL_MAX = 80

/** Stands before a test message. */
export const TEST_GLYPH = '🧪'

/** Whether the event closes an alert. @see specification, "Events" */
export function isRecovery(event: string): boolean {
  return event.endsWith('.recovered') || event === 'signing.done'
}

/** How bad it is, as a sign. The severity word always follows it. */
export function glyphOf(message: Message): string {
  return isRecovery(message.event) ? '🟢' : GLYPHS[message.severity]
}

/** Whether a message arrives without a sound. */
export function isSilent(message: Message): boolean {
  return message.severity === 'info' || isRecovery(message.event)
}

/** How bad it is, as a word. */
export function severityWord(t: Translate, message: Message): string {
  return t(
    isRecovery(message.event) ? 'messages:recovered' : `messages:severity.${message.severity}`,
  )
}

/** The line "how bad, which watch, since when", ready for `t` or `t.html`. */
export function severityLine(t: Translate, envelope: Envelope): readonly [TextKey, TextValues] {
  const { message } = envelope
  const time = sinceTime(envelope)
  const severity = severityWord(t, message)
  return message.watchLabel === null
    ? ['messages:lineNoWatch', { severity, time }]
    : ['messages:line', { severity, time, watch: typed(shownLabel(message.watchLabel)) }]
}

/** A watch's label, cut where it would take the place of what matters. */
export function shownLabel(label: string): string {
  return cut(label, LABEL_MAX)
}

/** When it happened, as the reader's wall time with its offset. */
export function sinceTime({ message, locale, timezone }: Envelope): string {
  return formatTime(new Date(message.firedAt), locale, timezone, { seconds: true, offset: true })
}

/** Whether a field's value runs against the direction of the reader's language. */
export function isForeign(field: MessageField, locale: Locale): boolean {
  return directionOf(locale) === 'ltr' && RIGHT_TO_LEFT.test(field.value)
}

/** Whether a field's value is an address or a hash: shown as code, never mirrored. */
export function isCode(field: MessageField): boolean {
  return /^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(field.value)
}

/** Whether a link leads somewhere from outside: its host has a dot or is an address. */
export function isOpenLink(link: string): boolean {
  const url = URL.parse(link)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.hostname.includes('.') || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** At most so many UTF-16 units, never half a character; `…` at the end where something went. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const kept: string[] = []
  let length = 1
  for (const character of text) {
    length += character.length
    if (length > max) break
    kept.push(character)
  }
  return `${kept.join('')}…`
}

const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
