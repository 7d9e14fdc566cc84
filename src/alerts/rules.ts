import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { EVENTS, findEventSource } from '#src/watches/events.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'

/** Alerts that a recovery closes: of signals with a recovery event, and those with a twin of their own. */
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

/** An alert as far as its episode goes. */
interface EpisodeEvent {
  readonly event: string
  readonly data: JsonObject
}

/** The values of its data that say which episode of its signal an alert belongs to. */
export function episodeKeys(event: string): readonly string[] {
  return findEventSource(event)?.signal.episodes?.by ?? []
}

/** Which episode of its signal an alert belongs to. */
export function episodeOf({ event, data }: EpisodeEvent): string {
  return JSON.stringify(episodeKeys(event).map((key) => data[key] ?? null))
}

/** Whether a recovery of a signal ends an episode of it. @param last of the episode's alerts */
export function endsEpisode(recovery: EpisodeEvent, last: EpisodeEvent): boolean {
  return findEventSource(recovery.event)?.signal.episodes?.isOver(recovery.data, last) ?? true
}

/** More changes than this within the window, and a signal comes and goes. */
const FLAPPING_CHANGES_MAX = 5
/** How far changes are counted back; after as long without any, the signal is told as it stands. */
export const FLAPPING_WINDOW_MS = 30 * MINUTE_MS

/**
 * Whether a signal comes and goes, so that its changes are told by the message that is there already.
 *
 * @param changes firings and recoveries within the window
 */
export function isFlapping(changes: number): boolean {
  return changes > FLAPPING_CHANGES_MAX
}

/**
 * When an alert that nobody acknowledges is told again; undefined: not any more. What was missed while
 * nobody could be told is not made up for.
 *
 * @param minutes after the alert was told, rising
 * @param after only later ones count
 */
export function nextReminder(
  minutes: readonly number[],
  notifiedAt: Date,
  after: Date,
): Date | undefined {
  const times = minutes.map((one) => new Date(notifiedAt.getTime() + one * MINUTE_MS))
  return times.find((time) => time > after)
}

/** Whether chats and mailboxes hear nothing of a watch now. */
export function isMuted({ mutedUntil }: { readonly mutedUntil: Date | null }, now: Date): boolean {
  return mutedUntil !== null && mutedUntil > now
}
