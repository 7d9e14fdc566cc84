import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { lockIfDue } from '#src/db/due-rows.ts'
import type { Address } from '#src/kernel/units.ts'
import type { EndedMute, WatchForNotification } from './notification-model.ts'
import { watches } from './tables.ts'

/** A watch that is not deleted, as notifications need it. */
export interface NotificationRow
  extends Omit<WatchForNotification, 'off'>,
    Record<string, unknown> {
  readonly type: string
  /** The watch's signal choices, encoded. */
  readonly signals: unknown
  /** The watch's settings, encoded. */
  readonly settings: unknown
}

/**
 * Watches by id; deleted watches are missing. `firing` also names disabled signals that have an open episode.
 */
export async function listForNotification(
  db: Db,
  ids: readonly number[],
): Promise<readonly NotificationRow[]> {
  return await db.execute<NotificationRow>(sql`
    select w.id, w.type, w.signals, w.settings, w.wallet, w.label, w.recipient_ids as "recipientIds",
      w.min_severity as "minSeverity", w.muted_until as "mutedUntil",
      w.escalate_after_minutes as "escalateAfterMinutes", w.escalate_to as "escalateTo",
      w.status = 'active' and w.suspended_at is null as "isJudged",
      coalesce((select array_agg(s.signal order by s.signal) from signal_states s
        where s.watch_id = w.id and s.phase = 'firing'), '{}'::text[]) as firing
    from watches w where w.id = any(${sql.param([...ids])}::int[]) order by w.id`)
}

/** Queue of running watches; each is due when its mute ends. */
export const ENDED_MUTES = {
  table: watches,
  id: ['id'],
  dueAt: 'mutedUntil',
  where: sql`${watches.status} = 'active' and ${watches.suspendedAt} is null`,
} as const

/** Removes ended mutes from these watches. */
export async function endMutes(
  tx: Db,
  watchIds: readonly number[],
  now: Date,
): Promise<EndedMute[]> {
  const ended = await lockIfDue(tx, ENDED_MUTES, { now, among: watchIds.map((id) => ({ id })) })
  const ids = ended.map(({ id }) => id)
  await tx
    .update(watches)
    .set({ mutedUntil: null, mutedSince: null })
    .where(sql`${watches.id} = any(${sql.param(ids)}::int[])`)
  return ended.map(({ id: watchId, mutedSince: since }) => {
    // The check of the table rules it out.
    if (since === null) throw new Error(`the mute of watch ${watchId} has no start`)
    return { watchId, since }
  })
}

/**
 * Whether each of these addresses is the target of another balance watch of the wallet.
 *
 * @param asked `watchId`: the watch that asks; it is not one of the others
 */
export async function areTargetsOfOtherBalanceWatches(
  db: Db,
  asked: readonly {
    readonly wallet: Address
    readonly watchId: number
    readonly address: string
  }[],
): Promise<readonly boolean[]> {
  const rows = await db.execute<{ readonly isWatched: boolean }>(sql`
    select exists (
      select from watches w join targets t on t.id = w.target_id
      where w.wallet = asked.wallet and w.type = 'wallet-balance' and w.id <> asked.watch_id
        and t.target ->> 'address' = asked.address
    ) as "isWatched"
    from unnest(
      ${sql.param(asked.map(({ wallet }) => wallet))}::text[],
      ${sql.param(asked.map(({ watchId }) => watchId))}::int[],
      ${sql.param(asked.map(({ address }) => address))}::text[]
    ) with ordinality as asked (wallet, watch_id, address, place)
    order by asked.place`)
  return rows.map(({ isWatched }) => isWatched)
}
