/**
 * What firings do to the open alerts of their signals: they open an episode, make it worse or close it.
 * Pure.
 */
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import type { Address, JsonObject } from '#src/kernel/units.ts'
import { endsEpisode, episodeOf } from './rules.ts'

/** An alert that its signal has not recovered from. */
export interface OpenAlert {
  readonly id: number
  readonly wallet: Address
  readonly watchId: number
  readonly type: string
  readonly signal: string | null
  readonly group: string | null
  readonly event: string
  readonly severity: Severity
  readonly data: JsonObject
  readonly position: number
  readonly firedAt: Date
  /** Of an alert that raises another: when their episode began. */
  readonly startedAt: Date | null
  /** Null while another alert holds it back. */
  readonly notifiedAt: Date | null
  readonly acknowledgedAt: Date | null
  /** Since when chats and mailboxes hear nothing of it until it recovers. */
  readonly mutedAt: Date | null
  /** The alert whose message tells of this one too. */
  readonly flappingAlertId: number | null
}

/** A firing that was recorded; a recovery nobody wants to hear of has no alert of its own. */
export interface Change {
  readonly alertId: number | undefined
  readonly watchId: number
  readonly signal: string | null
  readonly event: string
  readonly severity: Severity
  readonly data: JsonObject
  readonly isRecovery: boolean
  /** Of a recovery: the worst severity of the episode it ends, as its signal remembers it. */
  readonly episodeSeverity?: Severity | null
  readonly position: number
  readonly firedAt: Date
}

/** What a change means beside itself. */
export interface Meaning {
  /** Of a recovery: the alerts it closes, the oldest first. Of an alert: those it raises. */
  readonly episode: readonly OpenAlert[]
  /** How bad it is to whoever heard of the episode: a recovery itself is only info. */
  readonly effectiveSeverity: Severity
}

/** The alerts one change closes. */
export interface Closing {
  readonly alertIds: readonly number[]
  readonly at: Date
}

export interface Episodes<One extends Change> {
  readonly meanings: ReadonlyMap<One, Meaning>
  readonly closings: readonly Closing[]
  /** Those still open afterwards. */
  readonly open: readonly OpenAlert[]
}

/**
 * Takes changes one after another, each of its watch in the order it happened.
 *
 * An alert of an open episode raises it when it is worse than all before. The same event once more, no
 * worse, means that the episode was forgotten (its watch was paused, its signal switched off): it ends
 * where the new one begins. Another event of the signal, and what belongs to another of its episodes,
 * stands beside it.
 *
 * @param open every open alert of the changed signals, those of the changes themselves too
 */
export function followEpisodes<One extends Change>(
  changes: readonly One[],
  open: readonly OpenAlert[],
): Episodes<One> {
  const rest = new Map(Map.groupBy(inOrder(open), signalKey))
  const meanings = new Map<One, Meaning>()
  const closings: Closing[] = []
  for (const change of changes) {
    const key = signalKey(change)
    const known = rest.get(key) ?? []
    const before = known.filter(({ position }) => position < change.position)
    const own = change.isRecovery
      ? endedBy(change, before)
      : before.filter((alert) => episodeOf(alert) === episodeOf(change))
    const raises = !change.isRecovery && isWorse(change.severity, own)
    const over = own.filter(({ event }) => change.isRecovery || (!raises && event === change.event))
    if (over.length > 0) {
      closings.push({ alertIds: over.map(({ id }) => id), at: change.firedAt })
      rest.set(
        key,
        known.filter((alert) => !over.includes(alert)),
      )
    }
    const episode = change.isRecovery || raises ? own : []
    const severities = episode.map(({ severity }) => severity)
    // The alerts of the episode may be deleted; its signal remembers how bad it was.
    const remembered = change.episodeSeverity ?? change.severity
    const effectiveSeverity = change.isRecovery
      ? worstOf([change.severity, remembered, ...severities])
      : change.severity
    meanings.set(change, { episode, effectiveSeverity: effectiveSeverity })
  }
  return { meanings, closings, open: [...rest.values()].flat() }
}

/** When the episode of an alert began. */
export function beganAt({ firedAt, startedAt }: Pick<OpenAlert, 'firedAt' | 'startedAt'>): Date {
  return startedAt ?? firedAt
}

/** The worst of these; info of none. */
export function worstOf(severities: readonly Severity[]): Severity {
  return SEVERITIES.findLast((severity) => severities.includes(severity)) ?? 'info'
}

/** The alerts of the episodes that a recovery ends. */
function endedBy(recovery: Change, before: readonly OpenAlert[]): readonly OpenAlert[] {
  const last = new Map(before.map((alert) => [episodeOf(alert), alert]))
  return before.filter((alert) => endsEpisode(recovery, last.get(episodeOf(alert)) ?? alert))
}

function isWorse(severity: Severity, before: readonly OpenAlert[]): boolean {
  const rank = SEVERITIES.indexOf(severity)
  return before.length > 0 && before.every((alert) => SEVERITIES.indexOf(alert.severity) < rank)
}

function signalKey({ watchId, signal }: Pick<Change, 'watchId' | 'signal'>): string {
  return `${watchId} ${signal ?? ''}`
}

function inOrder(open: readonly OpenAlert[]): readonly OpenAlert[] {
  return open.toSorted((a, b) => a.position - b.position || a.id - b.id)
}
