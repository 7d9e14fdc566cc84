/** When a reader gets the card of the last week, and which week that is, by the clock of the reader. Pure. */
import { Temporal } from 'temporal-polyfill'

/** Wall-clock hour of Monday from which on the card is sent. */
const CARD_HOUR = 9
/** Days of the week on which it can still be sent, if quiet hours, a mute or a stop of the service held it up. */
const DAYS_TO_SEND = 2
const DAYS = 7

/** A week of a reader: its first day, and the start of each of its days; the last is the start of the next week. */
export interface ReaderWeek {
  /** ISO 8601. */
  readonly firstDay: string
  readonly starts: readonly Date[]
}

/** The week before an instant, from Monday to Sunday, while its card can be sent; else undefined. */
export function dueWeek(at: Date, timezone: string): ReaderWeek | undefined {
  const now = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone)
  const isEarly = now.dayOfWeek === 1 && now.hour < CARD_HOUR
  if (now.dayOfWeek > DAYS_TO_SEND || isEarly) return undefined
  const monday = now.toPlainDate().subtract({ days: now.dayOfWeek - 1 + DAYS })
  const starts = Array.from(
    { length: DAYS + 1 },
    (_, day) => new Date(monday.add({ days: day }).toZonedDateTime(timezone).epochMilliseconds),
  )
  return { firstDay: monday.toString(), starts }
}

/** Whether the card can be due in any time zone; on the other days nobody's settings need to be read. */
export function isAnyWeekDue(at: Date): boolean {
  return ['Pacific/Kiritimati', 'Etc/GMT+12'].some((zone) => dueWeek(at, zone) !== undefined)
}
