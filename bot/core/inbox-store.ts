import { and, eq, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Queue } from '#src/db/queue.ts'
import { telegramUpdates } from './tables.ts'

/** NOTIFY channel of new updates in the inbox. */
export const INBOX_CHANNEL = 'telegram_updates'

/**
 * Unhandled updates: the oldest of each chat key, and none while another update of the key is in progress.
 */
export const INBOX = {
  table: telegramUpdates,
  id: ['updateId'],
  leasedUntil: 'leasedUntil',
  attempts: 'attempts',
  partition: { key: 'chatKey', turn: 'turn', doneAt: 'handledAt' },
} as const satisfies Queue<typeof telegramUpdates>

/** An update that a worker has claimed. */
export type ClaimedUpdate = typeof telegramUpdates.$inferSelect

/** A received update. */
export interface NewUpdate {
  readonly updateId: number
  /** Updates of one key are handled one after another. */
  readonly chatKey: string
  readonly update: object
}

/**
 * Inserts updates and wakes the workers; known ones are skipped.
 *
 * Round-robin over chats: a chat with many updates delays another by one update at most. A chat's next update
 * gets the turn after its last open one; a chat without open updates gets the current turn.
 */
export async function insertUpdates(
  db: Db,
  updates: readonly NewUpdate[],
  receivedAt: Date,
): Promise<void> {
  if (updates.length === 0) return
  const rows = updates.map(({ updateId, chatKey, update }) => ({
    update_id: updateId,
    chat_key: chatKey,
    update,
  }))
  // One statement, and so one transaction: Telegram waits for it.
  await db.execute(sql`
    with added as (
      insert into telegram_updates (update_id, chat_key, update, attempts, received_at, turn)
      select new.update_id, new.chat_key, new.update, 0, ${receivedAt}::timestamptz,
        greatest(
          coalesce((
            select turn from telegram_updates where handled_at is null
            order by turn, update_id limit 1), 1) - 1,
          coalesce((
            select max(turn) from telegram_updates
            where chat_key = new.chat_key and handled_at is null), 0))
        + row_number() over (partition by new.chat_key order by new.update_id)
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as new (update_id bigint, chat_key text, update jsonb)
      on conflict do nothing
    )
    select pg_notify(${INBOX_CHANNEL}, '')`)
}

/** Extends leases of updates in progress. */
export async function extendLeases(
  db: Db,
  updateIds: readonly number[],
  leasedUntil: Date,
): Promise<void> {
  if (updateIds.length === 0) return
  await db
    .update(telegramUpdates)
    .set({ leasedUntil })
    .where(
      and(inArray(telegramUpdates.updateId, [...updateIds]), isNull(telegramUpdates.handledAt)),
    )
}

/** Finishes an update: deletes its content and keeps its id. */
export async function closeUpdate(db: Db, updateId: number, handledAt: Date): Promise<void> {
  await db
    .update(telegramUpdates)
    .set({ handledAt, update: null, leasedUntil: null })
    .where(eq(telegramUpdates.updateId, updateId))
}

/** Releases an update, due again from `dueAt` on. */
export async function returnUpdate(
  db: Db,
  updateId: number,
  input: { readonly dueAt: Date; readonly attempts: number },
): Promise<void> {
  await db
    .update(telegramUpdates)
    .set({ leasedUntil: input.dueAt, attempts: input.attempts })
    .where(eq(telegramUpdates.updateId, updateId))
}

/** Deletes updates that were handled before `before`. */
export async function deleteHandled(db: Db, before: Date): Promise<void> {
  await db
    .delete(telegramUpdates)
    .where(and(isNotNull(telegramUpdates.handledAt), lt(telegramUpdates.handledAt, before)))
}
