import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { EVENTS, findEventSource } from '#src/watches/events.ts'
import type { WatchForNotification } from '#src/watches/notification-model.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'

/**
 * Events that start an episode: the events of signals with a recovery event, and events that have a
 * recovery event themselves.
 */
const EPISODES: ReadonlySet<string> = new Set([
  ...WATCH_TYPES.flatMap(({ signals }) =>
    signals.flatMap(({ events }) => (events.recovery === undefined ? [] : events.alerts)),
  ),
  ...EVENTS.filter((event) => EVENTS.includes(`${event}.recovered`)),
])

/** Whether an alert with this event is open until its signal recovers. */
export function hasRecovery(event: string): boolean {
  return EPISODES.has(event)
}

/** The fields of an alert that identify its episode. */
interface EpisodeEvent {
  readonly event: string
  readonly data: JsonObject
}

/** Names of the data values that identify the episode of a signal's alert. */
function episodeProperties(event: string): readonly string[] {
  return findEventSource(event)?.signal.episodes?.by ?? []
}

/** Key of an alert's episode within its signal. */
export function episodeKeyOf({ event, data }: EpisodeEvent): string {
  return JSON.stringify(episodeProperties(event).map((key) => data[key] ?? null))
}

/** Whether a recovery of a signal ends an episode. @param last the last alert of the episode */
export function endsEpisode(recovery: EpisodeEvent, last: EpisodeEvent): boolean {
  return findEventSource(recovery.event)?.signal.episodes?.isOver(recovery.data, last) ?? true
}

/**
 * Time of the next reminder of an unacknowledged alert; undefined after the last. Reminders missed during
 * an outage are not made up for.
 *
 * @param minutes times of reminders in minutes after the notification, rising
 * @param after only later reminders count
 */
export function nextReminder(
  minutes: readonly number[],
  notifiedAt: Date,
  after: Date,
): Date | undefined {
  const times = minutes.map((minute) => new Date(notifiedAt.getTime() + minute * MINUTE_MS))
  return times.find((time) => time > after)
}

/** Whether an alert belongs to an episode that has not ended. */
export function isOpenEpisode(alert: {
  readonly isEpisode: boolean
  readonly recoveredAt: Date | null
}): boolean {
  return alert.isEpisode && alert.recoveredAt === null
}

/** Whether a watch is judged and its signal fires; null stands for an alert that no signal raised. */
export function isSignalFiring(
  watch: Pick<WatchForNotification, 'isJudged' | 'firing'> | undefined,
  signal: string | null,
): boolean {
  return watch?.isJudged === true && (signal === null || watch.firing.includes(signal))
}

/** Whether a watch is muted now. */
export function isMuted({ mutedUntil }: { readonly mutedUntil: Date | null }, now: Date): boolean {
  return mutedUntil !== null && mutedUntil > now
}
