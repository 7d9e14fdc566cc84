import { isIP } from 'node:net'
import { formatDuration, formatOffset, formatTimeOn, isSameDay } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import {
  checkedKey,
  type HtmlValue,
  type TextKey,
  type TextValue,
  type Translate,
  translator,
  typed,
} from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { directionOf, type Locale } from '#src/kernel/locale.ts'
import type { Envelope, EnvelopeMessage, MessageField, MessageState } from '../envelope.ts'
import { endOf, startOf } from './outage.ts'

/** Wording that all channels for people share: glyph, severity line, values in a text. */

/** Glyphs before alerts. */
export const GLYPH_OF_SEVERITY: Readonly<Record<Severity, string>> = {
  info: '🔵',
  warning: '🟠',
  critical: '🔴',
}
export const RECOVERED_GLYPH = '🟢'
const CLOSED_GLYPH = '⚪'

/**
 * Maximum length of a label in UTF-16 units: twice the limit in characters, because emoji have several
 * units.
 */
export const LABEL_MAX = 80
const LATE_SECONDS = 60

/** Prefix of a test message. */
export const TEST_GLYPH = '🧪'

/** Glyph of the severity, or of the state. The severity word always follows it. */
export function glyphOf(message: EnvelopeMessage, state: MessageState = {}): string {
  const isOver = message.isRecovery || state.recoveredAt !== undefined
  if (isOver) return RECOVERED_GLYPH
  return state.closedAt === undefined ? GLYPH_OF_SEVERITY[message.severity] : CLOSED_GLYPH
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
  time(at: Date, options: Parameters<typeof formatTimeOn>[3]): Value | TextValue
}

/** Formats lines of plain text, in the reader's time zone. */
export function plainLineWriter({ locale, timezone }: Pick<Envelope, 'locale' | 'timezone'>) {
  const t = translator(locale)
  const writer: LineWriter<TextValue> = {
    write: t,
    text: (text) => text,
    time: (at, options) => formatTimeOn(at, locale, timezone, options),
  }
  return writer
}

interface LineOptions {
  readonly state?: MessageState
  /** Time of the first message; the duration is shown from one minute on. */
  readonly now?: Date | undefined
  /** Start of the outage; by default that of the envelope's alert. */
  readonly from?: Date
  /** Whether another part of the message already says how long the alert lasted. */
  readonly isLengthStated?: boolean
}

/** Time of sending, or else of the last alert in the message: times of other days have their date. */
export function shownAtOf(
  { message, items = [] }: Pick<Envelope, 'message' | 'items'>,
  { shownAt }: MessageState,
  now?: Date,
): Date {
  const last = Math.max(...[message, ...items].map(({ firedAt }) => Date.parse(firedAt)))
  return shownAt ?? now ?? new Date(last)
}

/** The line "severity, start, duration", and the alert's state. The heading above it names the watch. */
export function severityLine<Value extends HtmlValue>(
  envelope: Envelope,
  writer: LineWriter<Value>,
  { state = {}, now, from = startOf(envelope), isLengthStated = false }: LineOptions = {},
): string {
  const { locale, message } = envelope
  const t = translator(locale)
  const shownAt = shownAtOf(envelope, state, now)
  const over = overOf(envelope, state, from)
  if (over !== undefined) {
    const seconds = (over.to.getTime() - over.from.getTime()) / 1000
    // The body of a recovery shows the duration.
    const isLong = !message.isRecovery && !isLengthStated
    return [
      writer.write('messages:lineOver', {
        severity: t('messages:recovered'),
        ...rangeOf(envelope, writer, { ...over, shownAt }),
      }),
      ...(isLong ? [durationPart(seconds, locale, writer)] : []),
      ...takenParts(envelope, state, writer, shownAt),
    ].join(' · ')
  }
  const lateSeconds = now === undefined ? 0 : (now.getTime() - Date.parse(message.firedAt)) / 1000
  const isLong = lateSeconds >= LATE_SECONDS && message.canRecover && !hasEnded(state)
  const seconds = now === undefined ? 0 : (now.getTime() - from.getTime()) / 1000
  return [
    startPart(envelope, writer, { from, shownAt }),
    ...(isLong ? [durationPart(seconds, locale, writer)] : []),
    ...stateParts(envelope, state, writer, shownAt),
  ].join(' · ')
}

/** Both ends of an outage: both with their date if their days differ, and the offset only once if it is the same. */
function rangeOf<Value extends HtmlValue>(
  { timezone }: Envelope,
  writer: LineWriter<Value>,
  { from, to, shownAt }: { readonly from: Date; readonly to: Date; readonly shownAt: Date },
) {
  const isOneDay = isSameDay(from, to, timezone)
  const offset = formatOffset(from, timezone) !== formatOffset(to, timezone)
  return {
    from: writer.time(from, { offset, shownAt: isOneDay ? shownAt : to }),
    to: writer.time(to, { offset: true, shownAt: isOneDay ? shownAt : from }),
  }
}

function durationPart<Value extends HtmlValue>(
  seconds: number,
  locale: Locale,
  writer: LineWriter<Value>,
): string {
  return writer.text(isolatedInArabic(locale, formatDuration(seconds, locale, 'short')))
}

/** Severity, and start of an alert that can recover, or time of any other. */
function startPart<Value extends HtmlValue>(
  { kind, message, timezone, locale }: Envelope,
  writer: LineWriter<Value>,
  { from, shownAt }: { readonly from: Date; readonly shownAt: Date },
): string {
  const t = translator(locale)
  const { canRecover, severity: level } = message
  const isIncrease = kind === 'raised' && level !== 'info'
  const severity = isIncrease ? t(checkedKey(`messages:raised.${level}`)) : severityWord(t, message)
  const isDated = !isSameDay(from, shownAt, timezone)
  const form = canRecover ? '' : isDated ? 'Dated' : 'At'
  // The start of an outage is that of a voting round or a block: seconds would be more exact than that.
  const seconds = from.getTime() === Date.parse(message.firedAt)
  const how = { seconds, offset: true, shownAt, isPhrase: canRecover }
  const time = writer.time(from, how)
  return writer.write(`messages:line${form}`, { severity, time })
}

/** Acknowledgement and escalation in the order in which they happened, then the mute, or the end without a recovery. */
function stateParts<Value extends HtmlValue>(
  { unacknowledgedSeconds }: Envelope,
  { acknowledged, escalated, closedAt, isDeleted = false, muted, note }: MessageState,
  writer: LineWriter<Value>,
  shownAt: Date,
): readonly string[] {
  const time = (at: Date) => ({ time: writer.time(at, { shownAt }) })
  const mute = () => {
    if (muted === undefined) return []
    return muted.until === 'recovered'
      ? [writer.write('messages:state.mutedRecovered', {})]
      : [writer.write('messages:state.mutedUntil', time(muted.until))]
  }
  const closed = (at: Date) =>
    isDeleted
      ? writer.write('messages:state.deleted', {})
      : writer.write('messages:state.closed', time(at))
  // The message that the escalation sent says so in its text.
  const notified = unacknowledgedSeconds === undefined ? escalated : undefined
  const acts = [
    acknowledged && { at: acknowledged.at, text: acknowledgedPart(acknowledged, writer, shownAt) },
    notified && { at: notified.at, text: escalatedPart(notified, writer, shownAt) },
  ].filter((act) => act !== undefined)
  return [
    ...acts.toSorted((a, b) => a.at.getTime() - b.at.getTime()).map(({ text }) => text),
    ...partOfNote(note, acknowledged, writer),
    ...(closedAt ? [closed(closedAt)] : mute()),
  ]
}

/** Who had taken an alert that is over. */
function takenParts<Value extends HtmlValue>(
  { takenBy }: Envelope,
  { acknowledged, note }: MessageState,
  writer: LineWriter<Value>,
  shownAt: Date,
): readonly string[] {
  const noted = partOfNote(note, acknowledged, writer)
  if (acknowledged !== undefined) return [acknowledgedPart(acknowledged, writer, shownAt), ...noted]
  if (noted.length > 0) return noted
  if (takenBy === undefined) return []
  return [writer.write('messages:state.takenBy', { name: typed(cutText(takenBy, LABEL_MAX)) })]
}

/** Time of the escalation, and the names of its recipients where the reader may know them. */
function escalatedPart<Value extends HtmlValue>(
  { at, to }: NonNullable<MessageState['escalated']>,
  writer: LineWriter<Value>,
  shownAt: Date,
): string {
  const time = writer.time(at, { shownAt })
  const [first, ...others] = to
  if (first === undefined) return writer.write('messages:state.escalated', { time })
  const name = typed(cutText(first, LABEL_MAX))
  return others.length === 0
    ? writer.write('messages:state.escalatedTo', { time, name })
    : writer.write('messages:state.escalatedToMore', { time, name, count: others.length })
}

/** The note; its author is named unless it is the one who acknowledged. */
function partOfNote<Value extends HtmlValue>(
  note: MessageState['note'],
  acknowledged: MessageState['acknowledged'],
  writer: LineWriter<Value>,
): readonly string[] {
  if (note === undefined) return []
  const text = { note: typed(note.text) }
  const isSame = acknowledged !== undefined && acknowledged.by === note.by
  if (note.by === null || isSame) return [writer.write('messages:state.note', text)]
  const name = typed(cutText(note.by, LABEL_MAX))
  return [writer.write('messages:state.noteBy', { ...text, name })]
}

/** Name and time of the acknowledgement. */
function acknowledgedPart<Value extends HtmlValue>(
  { by, at }: NonNullable<MessageState['acknowledged']>,
  writer: LineWriter<Value>,
  shownAt: Date,
): string {
  const when = { time: writer.time(at, { shownAt }) }
  return by === null
    ? writer.write('messages:state.acknowledged', when)
    : writer.write('messages:state.acknowledgedBy', {
        ...when,
        name: typed(cutText(by, LABEL_MAX)),
      })
}

/** Start and end of an alert that is over, or of a recovery. */
function overOf(
  envelope: Envelope,
  { recoveredAt }: MessageState,
  from: Date,
): { readonly from: Date; readonly to: Date } | undefined {
  if (recoveredAt !== undefined) return { from, to: recoveredAt }
  if (!envelope.message.isRecovery) return undefined
  const to = endOf(envelope)
  return from < to ? { from, to } : undefined
}

/** Isolates a value in a line of several values in Arabic, so that it keeps its direction; other locales need nothing. */
export function isolatedInArabic(locale: Locale, text: string): string {
  return locale === 'ar' ? isolate(text) : text
}

/** Prefix of a line that may contain only foreign text, so that it has the reader's direction. */
export function lineStart(locale: Locale): string {
  return directionOf(locale) === 'rtl' ? '\u200f' : ''
}

/** A watch's label, cut if it is too long. */
export function shownLabel(label: string): string {
  return cutText(label, LABEL_MAX)
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

/** Like `cutText`, but cuts after a whole word, unless that would remove more than half of what fits. */
export function cutAfterWord(text: string, max: number): string {
  if (text.length <= max) return text
  const short = cutText(text, max).slice(0, -1)
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
