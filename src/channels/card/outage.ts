/** Start and end of the outage that alerts report: the same in every message about it. Pure. */
import type { JsonObject } from '#src/kernel/units.ts'
import type { Envelope } from '../envelope.ts'

/** An alert or a recovery, as it was recorded. */
interface RecordedTimes {
  readonly data: JsonObject
  readonly firedAt: Date
  /** Start of the episode, where the alert is not its first. */
  readonly startedAt?: Date | null | undefined
}

interface Span {
  readonly from: Date
  readonly to: Date
}

/** Start of the outage that an alert reports. It is earlier than the alert, which fires after several failures. */
export function outageStart({ data, firedAt, startedAt }: RecordedTimes): Date {
  const since = instantOf(data['since'])
  return since !== undefined && since <= firedAt ? since : (startedAt ?? firedAt)
}

/**
 * The outage that a recovery ends. An outage of voting rounds lasted until the round of the recovery began. Other
 * recoveries say when it began and how long it lasted, or when it ended. The recovery itself fires later.
 */
export function endedOutage({ data, firedAt, startedAt }: RecordedTimes): Span {
  const [begun, roundStart, until] = ['since', 'roundStart', 'until'].map((key) =>
    instantOf(data[key]),
  )
  const seconds = data['gapSeconds']
  if (typeof seconds === 'number' && roundStart !== undefined) {
    return { from: later(roundStart, -seconds), to: roundStart }
  }
  if (typeof seconds === 'number' && begun !== undefined) {
    return { from: begun, to: later(begun, seconds) }
  }
  if (begun !== undefined && until !== undefined) return { from: begun, to: until }
  return { from: startedAt ?? firedAt, to: firedAt }
}

/** Start of what a message is about: of its outage, or of an event that nothing ends. */
export function startOf({
  data,
  message,
  startedAt,
}: Pick<Envelope, 'data' | 'message' | 'startedAt'>): Date {
  const firedAt = new Date(message.firedAt)
  const recorded = {
    data,
    firedAt,
    startedAt: startedAt === undefined ? null : new Date(startedAt),
  }
  if (message.isRecovery) return endedOutage(recorded).from
  return message.canRecover ? outageStart(recorded) : firedAt
}

/** End of the outage that a recovery ends. */
export function endOf({ data, message }: Pick<Envelope, 'data' | 'message'>): Date {
  return endedOutage({ data, firedAt: new Date(message.firedAt) }).to
}

function later(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1000)
}

function instantOf(value: unknown): Date | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : new Date(ms)
}
