/**
 * Time of a message to a chat or mailbox: immediately, later, or never. Quiet hours and digests are
 * settings of the wallet; their times are in the reader's time zone. Pure.
 */
import { Temporal } from 'temporal-polyfill'
import type { EnvelopeKind } from '#src/channels/envelope.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { HOUR_MS, MINUTE_MS, type TimePeriod } from '#src/kernel/durations.ts'
import type { Settings } from './settings.ts'

/** Decision about the time of a message: sent now, deferred, or never sent. */
export type SendTiming =
  | { readonly act: 'send' }
  /** The message is sent in a summary, not before this time. */
  | { readonly act: 'hold'; readonly until: Date }
  | { readonly act: 'drop' }

/** Settings that affect the time. */
export type TimingSettings = Pick<Settings, 'quietHours' | 'digest' | 'digestAt'>

/** Time zone and mute of a reader. */
export interface TimingReader {
  /** IANA name. */
  readonly timezone: string
  readonly mutedUntil: Date | null
}

/**
 * Decides whether a message is sent now.
 *
 * A muted reader gets nothing until the end of the mute. Quiet hours defer everything except notices about
 * the account's safety and, if the settings say so, critical alerts. A digest defers alerts that are not
 * critical; notices do not wait for a digest. A reminder that would have to wait is dropped, because it would be
 * outdated afterwards.
 *
 * @param severity of a recovery: the severity of its alert
 */
export function sendTimingOf(
  settings: TimingSettings,
  reader: TimingReader,
  message: {
    readonly kind: EnvelopeKind
    readonly severity: Severity
    readonly now: Date
    /** Whether the message is about the safety of the account; quiet hours do not defer it then. */
    readonly security?: boolean
  },
): SendTiming {
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
 * The quiet hours that contain an instant, if any. They begin and end when the wall clock first shows their
 * times. If the clock skips such a time, they begin or end at the moment of the skip.
 */
export function quietPeriodAt(
  quietHours: Settings['quietHours'],
  timezone: string,
  at: Date,
): TimePeriod | undefined {
  if (!quietHours.enabled) return undefined
  const from = Temporal.PlainTime.from(quietHours.from)
  const to = Temporal.PlainTime.from(quietHours.to)
  const isWithinDay = Temporal.PlainTime.compare(from, to) < 0
  const today = zonedAt(at, timezone).toPlainDate()
  for (const day of [today.subtract({ days: 1 }), today]) {
    const lastDay = isWithinDay ? day : day.add({ days: 1 })
    const period = {
      from: instantOf(day.toPlainDateTime(from), timezone),
      to: instantOf(lastDay.toPlainDateTime(to), timezone),
    }
    if (period.from <= at && at < period.to) return period
  }
  return undefined
}

/** The period between two digests that contains an instant. */
export function digestPeriodAt(
  digest: Exclude<Settings['digest'], 'off'>,
  digestAt: string,
  timezone: string,
  at: Date,
): TimePeriod {
  const zoned = zonedAt(at, timezone)
  if (digest === 'daily') {
    const today = zoned.toPlainDate()
    const starts = [-1, 0, 1, 2].map((days) =>
      instantOf(today.add({ days }).toPlainDateTime(digestAt), timezone),
    )
    const next = starts.findIndex((start) => start > at)
    const [from, to] = [starts[next - 1], starts[next]]
    if (from === undefined || to === undefined) throw new Error(`no digest around ${at}`)
    return { from, to }
  }
  const stepMs = digest === '1h' ? HOUR_MS : 15 * MINUTE_MS
  const offsetMs = zoned.offsetNanoseconds / 1e6
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

function zonedAt(at: Date, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone)
}

/**
 * The first instant at which the clock of the zone shows `wall`; if the clock skips `wall`, the instant of
 * the skip.
 */
function instantOf(wall: Temporal.PlainDateTime, timezone: string): Date {
  const earlier = wall.toZonedDateTime(timezone, { disambiguation: 'earlier' })
  const isSkipped = !earlier.toPlainDateTime().equals(wall)
  const first = isSkipped ? (earlier.getTimeZoneTransition('next') ?? earlier) : earlier
  return new Date(first.epochMilliseconds)
}
