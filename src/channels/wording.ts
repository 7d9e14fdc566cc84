import { isIP } from 'node:net'
import { formatDuration, formatTime } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import {
  builtKey,
  type HtmlValue,
  type TextKey,
  type TextValue,
  type Translate,
  translator,
  typed,
} from '#src/i18n/translate.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { directionOf, type Locale } from '#src/kernel/locale.ts'
import type { Envelope, EnvelopeMessage, MessageField, MessageState } from './envelope.ts'

/** Wording that all channels for people share: glyph, severity line, values in a text. */

const GLYPHS: Readonly<Record<Severity, string>> = { info: '🔵', warning: '🟠', critical: '🔴' }
const RECOVERED_GLYPH = '🟢'
const CLOSED_GLYPH = '⚪'

/**
 * Maximum length of a label in UTF-16 units: twice the limit in characters, because emoji have several
 * units.
 */
const LABEL_MAX = 80
const LATE_SECONDS = 60

/** Prefix of a test message. */
export const TEST_GLYPH = '🧪'

/** Glyph of the severity, or of the state. The severity word always follows it. */
export function glyphOf(message: EnvelopeMessage, state: MessageState = {}): string {
  const isOver = message.isRecovery || state.recoveredAt !== undefined
  if (isOver) return RECOVERED_GLYPH
  return state.closedAt === undefined ? GLYPHS[message.severity] : CLOSED_GLYPH
}

/** Whether the alert is over: it recovered, or its watch was deleted. */
export function hasEnded({ recoveredAt, closedAt }: MessageState): boolean {
  return recoveredAt !== undefined || closedAt !== undefined
}

/**
 * The most severe message; the first of equals. Unlike `mostSevere`, it ranks recoveries last, whatever
 * their severity.
 */
export function worstOf(messages: readonly EnvelopeMessage[]): EnvelopeMessage | undefined {
  return messages.toSorted((a, b) => rankOf(b) - rankOf(a))[0]
}

/** Rank of a message by severity, from low to high; recoveries are lowest. */
export function rankOf({ isRecovery, severity }: EnvelopeMessage): number {
  return isRecovery ? -1 : SEVERITIES.indexOf(severity)
}

/** Whether a message arrives without sound. A summary of quiet hours is silent. */
export function isSilent({ kind = 'alert', message, items = [] }: Envelope): boolean {
  if (kind === 'summary') return true
  const loudest = (kind === 'group' || kind === 'rollup' ? worstOf(items) : undefined) ?? message
  return loudest.severity === 'info' || loudest.isRecovery
}

/** The severity as a word. */
export function severityWord(
  t: Translate,
  message: EnvelopeMessage,
  state: MessageState = {},
): string {
  const isOver = message.isRecovery || state.recoveredAt !== undefined
  return t(isOver ? 'messages:recovered' : `messages:severity.${message.severity}`)
}

/** Formats the parts of a line: as text or as markup. */
export interface LineWriter<Value extends HtmlValue> {
  write(key: TextKey, values: Readonly<Record<string, Value | TextValue>>): string
  /** A text, escaped if needed. */
  text(text: string): string
  watch(label: string): Value | TextValue
  time(
    at: Date,
    options: { readonly seconds?: boolean; readonly offset?: boolean },
  ): Value | TextValue
}

/** Formats lines of plain text, in the reader's time zone. */
export function plainLines({ locale, timezone }: Pick<Envelope, 'locale' | 'timezone'>) {
  const t = translator(locale)
  const writer: LineWriter<TextValue> = {
    write: t,
    text: (text) => text,
    watch: (label) => typed(shownLabel(label)),
    time: (at, options) => formatTime(at, locale, timezone, options),
  }
  return writer
}

interface LineOptions {
  readonly state?: MessageState
  /** Time of the first message; the duration is shown from one minute on. */
  readonly now?: Date | undefined
  /** Whether another message already says how long the alert lasted. */
  readonly isLengthStated?: boolean
}

/** The line "severity, watch, start, duration", and the alert's state. */
export function severityLine<Value extends HtmlValue>(
  envelope: Envelope,
  writer: LineWriter<Value>,
  { state = {}, now, isLengthStated = false }: LineOptions = {},
): string {
  const { locale, message } = envelope
  const t = translator(locale)
  const firedAt = new Date(message.firedAt)
  const watch = message.watchLabel === null ? {} : { watch: writer.watch(message.watchLabel) }
  const noWatch = message.watchLabel === null ? 'NoWatch' : ''
  const { acknowledged, muted } = state
  const over = overOf(envelope, state)
  if (over !== undefined) {
    const { from, to } = over
    const seconds = (to.getTime() - from.getTime()) / 1000
    const line = writer.write(`messages:lineOver${noWatch}`, {
      ...watch,
      severity: t('messages:recovered'),
      from: writer.time(from, {}),
      to: writer.time(to, { offset: true }),
    })
    const parts = [line]
    // The body of a recovery shows the duration.
    if (!message.isRecovery && !isLengthStated) {
      parts.push(writer.text(asWritten(locale, formatDuration(seconds, locale, 'short'))))
    }
    if (acknowledged !== undefined) parts.push(acknowledgedPart(acknowledged, writer))
    else if (envelope.takenBy !== undefined) {
      const name = typed(cut(envelope.takenBy, LABEL_MAX))
      parts.push(writer.write('messages:state.takenBy', { name }))
    }
    return parts.join(' · ')
  }
  const isIncrease = envelope.kind === 'raised' && message.severity !== 'info'
  const severity = isIncrease
    ? t(builtKey(`messages:raised.${message.severity}`))
    : severityWord(t, message)
  const time = writer.time(firedAt, { seconds: true, offset: true })
  // An alert that can recover has a duration; any other alert only has a time.
  const at = message.canRecover ? '' : 'At'
  const parts = [writer.write(`messages:line${at}${noWatch}`, { ...watch, severity, time })]
  const seconds = now === undefined ? 0 : (now.getTime() - firedAt.getTime()) / 1000
  if (seconds >= LATE_SECONDS && message.canRecover && !hasEnded(state)) {
    parts.push(writer.text(asWritten(locale, formatDuration(seconds, locale, 'short'))))
  }
  if (acknowledged !== undefined) parts.push(acknowledgedPart(acknowledged, writer))
  if (state.closedAt !== undefined) {
    parts.push(writer.write('messages:state.closed', { time: writer.time(state.closedAt, {}) }))
  } else if (muted !== undefined) {
    parts.push(
      muted.until === 'recovered'
        ? writer.write('messages:state.mutedRecovered', {})
        : writer.write('messages:state.mutedUntil', { time: writer.time(muted.until, {}) }),
    )
  }
  return parts.join(' · ')
}

/** Name and time of the acknowledgement. */
function acknowledgedPart<Value extends HtmlValue>(
  { by, at }: NonNullable<MessageState['acknowledged']>,
  writer: LineWriter<Value>,
): string {
  const when = { time: writer.time(at, {}) }
  return by === null
    ? writer.write('messages:state.acknowledged', when)
    : writer.write('messages:state.acknowledgedBy', { ...when, name: typed(cut(by, LABEL_MAX)) })
}

/** Start and end of an alert that is over, or of a recovery. */
function overOf(
  { message, startedAt }: Envelope,
  { recoveredAt }: MessageState,
): { readonly from: Date; readonly to: Date } | undefined {
  const firedAt = new Date(message.firedAt)
  const from = startedAt === undefined ? firedAt : new Date(startedAt)
  if (recoveredAt !== undefined) return { from, to: recoveredAt }
  if (startedAt === undefined || !message.isRecovery) return undefined
  return { from, to: firedAt }
}

/** A value in a line that is not a sentence. */
export function asWritten(locale: Locale, text: string): string {
  return locale === 'ar' ? isolate(text) : text
}

/** Prefix of a line that may contain only foreign text, so that it has the reader's direction. */
export function lineStart(locale: Locale): string {
  return directionOf(locale) === 'rtl' ? '\u200f' : ''
}

/** A watch's label, cut if it is too long. */
export function shownLabel(label: string): string {
  return cut(label, LABEL_MAX)
}

/** Whether a field's value has another direction than the reader's language. */
export function isForeign(field: MessageField, locale: Locale): boolean {
  return directionOf(locale) === 'ltr' && RIGHT_TO_LEFT.test(field.value)
}

/** Whether a field's value is an address or a hash: shown as code, never mirrored. */
export function isCode(field: MessageField): boolean {
  return /^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(field.value)
}

/** Whether a link works from outside: its host has a dot or is an address. */
export function isOpenLink(link: string): boolean {
  const url = URL.parse(link)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.hostname.includes('.') || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** Cuts to a number of UTF-16 units, never inside a character; ends with `…` if something was removed. */
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

/** Like `cut`, but cuts after a whole word, unless that would remove more than half of what fits. */
export function cutAfterWord(text: string, max: number): string {
  if (text.length <= max) return text
  const short = cut(text, max).slice(0, -1)
  const end = short.lastIndexOf(' ')
  const isInside = text[short.length] !== ' ' && end > max / 2
  return `${(isInside ? short.slice(0, end) : short).replace(/[\s·,،，、:：(（]+$/u, '')}…`
}

/** Joins whole pieces, such as escaped characters, up to a number of UTF-16 units; trimmed. */
export function fitPieces(pieces: readonly string[], max: number): string {
  const whole = pieces.join('').trim()
  if (whole.length <= max) return whole
  let kept = ''
  for (const piece of pieces) {
    if (kept.length + piece.length >= max) break
    kept += piece
  }
  return `${kept}…`
}

const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
