/**
 * When a message goes to a chat or mailbox: at once, later, or not at all. Quiet hours and digests are
 * the wallet's, the clock they go by is the reader's. Pure.
 */
import type { EnvelopeKind } from '#src/channels/define.ts'
import { formatOffset } from '#src/i18n/format.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { Settings } from './settings.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const DAY_MINUTES = 1440

/** What is to be done with a message now. */
export type Timing =
  | { readonly act: 'send' }
  /** To be told in a summary, not before this instant. */
  | { readonly act: 'hold'; readonly until: Date }
  | { readonly act: 'drop' }

/** The part of the settings that decides about time. */
export type TimingSettings = Pick<Settings, 'quietHours' | 'digest' | 'digestAt'>

/** Whose clock it is, and until when this reader wants to hear nothing at all. */
export interface TimingReader {
  /** IANA name. */
  readonly timezone: string
  readonly mutedUntil: Date | null
}

/** A stretch of time. `from` belongs to it, `to` does not. */
export interface Period {
  readonly from: Date
  readonly to: Date
}

/**
 * Whether a message goes out now.
 *
 * A muted reader hears nothing before the end of that. Quiet hours hold everything but what is critical
 * where they let that through, and what is about the safety of the account. A digest holds alerts that are not critical; notices do not wait for it.
 * A reminder is never held: by the time it came it would say nothing new.
 *
 * @param severity of a recovery: of the alert it closes
 */
export function timingOf(
  settings: TimingSettings,
  reader: TimingReader,
  message: {
    readonly kind: EnvelopeKind
    readonly severity: Severity
    readonly now: Date
    /** About the safety of the account: quiet hours let it through. */
    readonly security?: boolean
  },
): Timing {
  const { kind, severity, now, security = false } = message
  const isCritical = severity === 'critical'
  const mutedUntil = reader.mutedUntil !== null && reader.mutedUntil > now ? reader.mutedUntil : now
  const waitsForDigest = !isCritical && kind !== 'notice' && kind !== 'reminder'
  const passesQuiet = security || (isCritical && settings.quietHours.criticalBypass)
  const due =
    waitsForDigest && settings.digest !== 'off' && mutedUntil === now
      ? digestAfter(settings.digest, settings.digestAt, reader.timezone, now)
      : mutedUntil
  const quiet = passesQuiet ? undefined : quietPeriodAt(settings.quietHours, reader.timezone, due)
  const until = quiet?.to ?? due
  if (until <= now) return { act: 'send' }
  return kind === 'reminder' ? { act: 'drop' } : { act: 'hold', until }
}

/**
 * The quiet hours that an instant lies in, if it does. They begin and end when the wall clock first
 * shows their times; a time that the clock skips is the moment of the skip.
 */
export function quietPeriodAt(
  quietHours: Settings['quietHours'],
  timezone: string,
  at: Date,
): Period | undefined {
  if (!quietHours.enabled) return undefined
  const from = minutesOf(quietHours.from)
  const to = minutesOf(quietHours.to)
  const today = dayOf(at, timezone)
  for (const day of [today - 1, today]) {
    const period = {
      from: instantOf(day, from, timezone),
      to: instantOf(from < to ? day : day + 1, to, timezone),
    }
    if (period.from <= at && at < period.to) return period
  }
  return undefined
}

/** The time between two digests that an instant lies in. */
export function digestPeriodAt(
  digest: Exclude<Settings['digest'], 'off'>,
  digestAt: string,
  timezone: string,
  at: Date,
): Period {
  if (digest === 'daily') {
    const today = dayOf(at, timezone)
    const starts = [-1, 0, 1, 2].map((days) =>
      instantOf(today + days, minutesOf(digestAt), timezone),
    )
    const next = starts.findIndex((start) => start > at)
    const [from, to] = [starts[next - 1], starts[next]]
    if (from === undefined || to === undefined) throw new Error(`no digest around ${at}`)
    return { from, to }
  }
  const stepMs = digest === '1h' ? HOUR_MS : 15 * MINUTE_MS
  const offsetMs = offsetMinutes(at, timezone) * MINUTE_MS
  const fromMs = Math.floor((at.getTime() + offsetMs) / stepMs) * stepMs - offsetMs
  return { from: new Date(fromMs), to: new Date(fromMs + stepMs) }
}

function digestAfter(
  digest: Exclude<Settings['digest'], 'off'>,
  digestAt: string,
  timezone: string,
  at: Date,
): Date {
  return digestPeriodAt(digest, digestAt, timezone, at).to
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

/** The wall clock as milliseconds, as if it were UTC. */
function wallMs(at: Date, timezone: string): number {
  return at.getTime() + offsetMinutes(at, timezone) * MINUTE_MS
}

/** The day on the wall, counted from 1 January 1970. */
function dayOf(at: Date, timezone: string): number {
  return Math.floor(wallMs(at, timezone) / DAY_MS)
}

/** The first instant at which the wall clock shows this time of this day, or has skipped it. */
function instantOf(day: number, minutes: number, timezone: string): Date {
  const wall = (day * DAY_MINUTES + minutes) * MINUTE_MS
  const offsets = [wall - DAY_MS, wall + DAY_MS].map(
    (ms) => offsetMinutes(new Date(ms), timezone) * MINUTE_MS,
  )
  const shown = offsets
    .map((offset) => wall - offset)
    .filter((ms) => wallMs(new Date(ms), timezone) === wall)
  if (shown.length > 0) return new Date(Math.min(...shown))
  return skipBetween(wall - Math.max(...offsets), wall - Math.min(...offsets), wall, timezone)
}

/** The moment between two instants at which the wall clock jumps over `wall`. */
function skipBetween(beforeMs: number, afterMs: number, wall: number, timezone: string): Date {
  let before = Math.floor(beforeMs / MINUTE_MS)
  let after = Math.ceil(afterMs / MINUTE_MS)
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (wallMs(new Date(middle * MINUTE_MS), timezone) >= wall) after = middle
    else before = middle
  }
  return new Date(after * MINUTE_MS)
}

/** How far the zone's wall clock is ahead of UTC at an instant. */
function offsetMinutes(at: Date, timezone: string): number {
  const [, sign, hours = '0', minutes = '0'] =
    /^UTC([+-])(\d+)(?::(\d+))?/.exec(formatOffset(at, timezone)) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
