/** The earlier deliveries of an episode to each recipient of its recovery: sent, deferred, or none. */
import type { Db } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'

/** The parts of a notification that its recipients' earlier deliveries depend on. */
interface FollowUp {
  readonly watch: { readonly wallet: string }
  readonly isRecovery: boolean
  /** The alert that the notification follows. */
  readonly answers?: { readonly alertId: number }
  /** Of a recovery: the alerts of its episode. */
  readonly episode?: readonly number[]
}

export interface EpisodeDeliveries {
  /**
   * Whether a recovery concerns a recipient: an alert of its episode was recorded for it. All do where nothing is known
   * about the episode, whose deliveries may be deleted.
   */
  concerns(recovery: FollowUp, recipientId: number): boolean
  /**
   * Whether a recipient missed everything about the episode because its destination was off: `retained` while it can
   * still be sent, `dropped` after. Undefined if it was told something, or nothing is known.
   */
  missed(recovery: FollowUp, recipientId: number): 'retained' | 'dropped' | undefined
  /** Whether no separate message was sent to the recipient about the alert that a recovery ends. */
  wasDeferred(recovery: FollowUp, recipientId: number): boolean
  /** Time of the summary, if everything about the episode still waits for a summary to the recipient. */
  deferredUntil(recovery: FollowUp, recipientId: number): Date | undefined
}

/** Reads the deliveries of the alerts that these recoveries end. */
export async function readEpisodeDeliveries(
  tx: Db,
  notifications: readonly FollowUp[],
): Promise<EpisodeDeliveries> {
  const recoveries = notifications.filter(({ isRecovery }) => isRecovery)
  const answered = recoveries.flatMap(({ answers }) => answers?.alertId ?? [])
  const episodes = recoveries.flatMap(({ episode = [] }) => episode)
  const unnotified = await delivery.listUnnotifiedRecipients(tx, [...new Set(answered)])
  const wallets = [...new Set(recoveries.map(({ watch }) => watch.wallet))]
  const deferred = await delivery.listDeferred(tx, wallets, [...new Set(episodes)])
  const known = new Map(deferred.map((row) => [`${row.alertId} ${row.recipientId}`, row]))
  const recorded = new Set(deferred.map(({ alertId }) => alertId))
  return {
    concerns: ({ isRecovery, episode = [] }, recipientId) =>
      !isRecovery ||
      !episode.some((id) => recorded.has(id)) ||
      episode.some((id) => known.has(`${id} ${recipientId}`)),
    missed: ({ isRecovery, episode = [] }, recipientId) => {
      const rows = episode.flatMap((id) => known.get(`${id} ${recipientId}`) ?? [])
      if (!isRecovery || rows.length === 0 || !rows.every(({ isMissed }) => isMissed)) {
        return undefined
      }
      return rows.some(({ isRetained }) => isRetained) ? 'retained' : 'dropped'
    },
    wasDeferred: ({ answers }, recipientId) =>
      unnotified.get(answers?.alertId ?? 0)?.has(recipientId) ?? false,
    deferredUntil: ({ isRecovery, episode = [] }, recipientId) => {
      if (!isRecovery) return undefined
      const rows = episode.flatMap((id) => known.get(`${id} ${recipientId}`) ?? [])
      if (rows.some(({ isSent }) => isSent)) return undefined
      const times = rows.flatMap(({ until }) => until?.getTime() ?? [])
      return times.length === 0 ? undefined : new Date(Math.max(...times))
    },
  }
}
