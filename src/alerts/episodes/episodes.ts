/** Effect of firings on episodes: a firing starts an episode, increases its severity, or ends it. Pure. */
import { SEVERITIES, type Severity, worstSeverity } from '#src/kernel/display-values.ts'
import type { Address, JsonObject } from '#src/kernel/units.ts'
import { endsEpisode, episodeKeyOf } from '../rules.ts'
import type { During } from '../tables.ts'

/** An alert that has not recovered. */
export interface OpenAlert {
  readonly id: number
  readonly wallet: Address
  readonly watchId: number
  readonly incidentId: number
  readonly type: string
  readonly signal: string | null
  readonly group: string | null
  readonly event: string
  readonly severity: Severity
  readonly data: JsonObject
  readonly position: number
  readonly firedAt: Date
  /** Of a severity increase: start of the episode. */
  readonly startedAt: Date | null
  /** Planned maintenance in which it fired. */
  readonly during: During | null
  /** Null while another alert or maintenance holds it back. */
  readonly notifiedAt: Date | null
  readonly acknowledgedAt: Date | null
  /** Name of the person who acknowledged it. */
  readonly acknowledgedBy: string | null
  /** Time of the escalation, at which the alert was sent to further recipients. */
  readonly escalatedAt: Date | null
  /** Recipients that the escalation notified; null before it. */
  readonly escalatedTo: readonly number[] | null
  /** Time since which the alert is muted until it recovers. */
  readonly mutedAt: Date | null
  /** End of the cooldown that it imposed, because its signal changes often. */
  readonly cooldownUntil: Date | null
}

/** A recorded firing. A recovery without notification is not an alert. */
export interface EpisodeFiring {
  readonly alertId: number | undefined
  readonly watchId: number
  readonly signal: string | null
  readonly event: string
  readonly severity: Severity
  readonly data: JsonObject
  readonly isRecovery: boolean
  /** Of a recovery: the highest severity of its episode, from the signal's state. */
  readonly episodeSeverity?: Severity | null
  readonly position: number
  readonly firedAt: Date
}

/** Effect of a change on its episode. */
export interface EpisodeEffect {
  /**
   * Alerts of the episode, oldest first: the alerts that a recovery ends, or that a severity increase
   * follows. Empty for the first alert of an episode.
   */
  readonly episode: readonly OpenAlert[]
  /**
   * Severity that decides about delivery: the severity of the episode, because a recovery itself is only
   * info.
   */
  readonly effectiveSeverity: Severity
}

/** The alerts whose episode one change ends. */
export interface EpisodeEnd {
  readonly alertIds: readonly number[]
  readonly at: Date
}

export interface EpisodeChanges<One extends EpisodeFiring> {
  readonly effects: ReadonlyMap<One, EpisodeEffect>
  readonly ends: readonly EpisodeEnd[]
  /** The alerts that stay open. */
  readonly open: readonly OpenAlert[]
}

/**
 * Applies changes one after another, the changes of each watch in order.
 *
 * An alert of an open episode is a severity increase if it is more severe than all alerts before. A
 * repeated event of equal or lower severity means that the episode was abandoned (its watch was paused, or
 * its signal switched off): it ends where the new episode begins. Other events and other episodes of the
 * signal are independent.
 *
 * @param open every open alert of the changed signals, including the alerts of the changes
 */
export function applyFirings<One extends EpisodeFiring>(
  changes: readonly One[],
  open: readonly OpenAlert[],
): EpisodeChanges<One> {
  const openBySignal = new Map(Map.groupBy(inOrder(open), signalKey))
  const effects = new Map<One, EpisodeEffect>()
  const ends: EpisodeEnd[] = []
  for (const change of changes) {
    const key = signalKey(change)
    const known = openBySignal.get(key) ?? []
    const before = known.filter(({ position }) => position < change.position)
    const episodeAlerts = change.isRecovery
      ? endedBy(change, before)
      : before.filter((alert) => episodeKeyOf(alert) === episodeKeyOf(change))
    const isIncrease = !change.isRecovery && isWorse(change.severity, episodeAlerts)
    const over = episodeAlerts.filter(
      ({ event }) => change.isRecovery || (!isIncrease && event === change.event),
    )
    if (over.length > 0) {
      ends.push({ alertIds: over.map(({ id }) => id), at: change.firedAt })
      openBySignal.set(
        key,
        known.filter((alert) => !over.includes(alert)),
      )
    }
    const episode = change.isRecovery || isIncrease ? episodeAlerts : []
    const severities = episode.map(({ severity }) => severity)
    // The alerts of the episode may be deleted; the recovery carries its severity.
    const remembered = change.episodeSeverity ?? null
    const worst = change.isRecovery
      ? worstSeverity([change.severity, remembered, ...severities])
      : undefined
    effects.set(change, { episode, effectiveSeverity: worst ?? change.severity })
  }
  return { effects, ends, open: [...openBySignal.values()].flat() }
}

/** Start of an alert's episode. */
export function startOfAlert({
  firedAt,
  startedAt,
}: Pick<OpenAlert, 'firedAt' | 'startedAt'>): Date {
  return startedAt ?? firedAt
}

/** The alerts of the episodes that a recovery ends. */
function endedBy(recovery: EpisodeFiring, before: readonly OpenAlert[]): readonly OpenAlert[] {
  const last = new Map(before.map((alert) => [episodeKeyOf(alert), alert]))
  return before.filter((alert) => endsEpisode(recovery, last.get(episodeKeyOf(alert)) ?? alert))
}

function isWorse(severity: Severity, before: readonly OpenAlert[]): boolean {
  const rank = SEVERITIES.indexOf(severity)
  return before.length > 0 && before.every((alert) => SEVERITIES.indexOf(alert.severity) < rank)
}

function signalKey({ watchId, signal }: Pick<EpisodeFiring, 'watchId' | 'signal'>): string {
  return `${watchId} ${signal ?? ''}`
}

function inOrder(open: readonly OpenAlert[]): readonly OpenAlert[] {
  return open.toSorted((a, b) => a.position - b.position || a.id - b.id)
}
