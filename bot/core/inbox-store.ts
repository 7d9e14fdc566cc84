import { and, eq, isNotNull, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Queue } from '#src/db/queue.ts'
import { telegramUpdates } from './tables.ts'

/** NOTIFY channel of new updates in the inbox. */
export const INBOX_CHANNEL = 'telegram_updates'

/** Lease of an update, in case its worker dies. */
export const LEASE_MS = 30_000
/** Longest delay of an update that is returned to the inbox. */
export const PAUSE_MS_MAX = 2 * LEASE_MS

/**
 * Queue of unhandled updates: the oldest of each chat key, unless another update of the key is in progress.
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

/**
 * Identifies one claim of an update by the number of its attempt. If a worker's lease ended and another worker
 * claimed the update, the first one's number is too low, and its writes change nothing.
 */
export type UpdateClaim = Pick<ClaimedUpdate, 'updateId' | 'attempts'>

/** The queue, without the updates on which this process works. */
export function inboxWithout(updateIds: readonly number[]): Queue<typeof telegramUpdates> {
  const { updateId } = telegramUpdates
  return { ...INBOX, where: sql`${updateId} <> all(${sql.param([...updateIds])}::bigint[])` }
}

/** A received update. */
export interface NewUpdate {
  readonly updateId: number
  /** Updates of one key are handled one after another. */
  readonly chatKey: string
  readonly update: object
}

/**
 * Inserts updates and wakes the workers; known updates are skipped.
 *
 * Chats are handled round-robin: a chat with many updates delays another chat by at most one update. A
 * chat's next update gets the turn after its last open update; a chat without open updates gets the current
 * turn.
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
  // One statement, and therefore one transaction, because Telegram waits for it.
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
  claims: readonly UpdateClaim[],
  leasedUntil: Date,
): Promise<void> {
  if (claims.length === 0) return
  await db.execute(sql`
    update telegram_updates u set leased_until = ${leasedUntil}
    from unnest(
      ${sql.param(claims.map(({ updateId }) => updateId))}::bigint[],
      ${sql.param(claims.map(({ attempts }) => attempts))}::int[]) as claim (update_id, attempts)
    where u.update_id = claim.update_id and u.attempts = claim.attempts and u.handled_at is null`)
}

/** Result of finishing an update. */
export interface ClosedUpdate {
  /** Whether this claim was the last of the update; also true when the call is repeated. */
  readonly isLast: boolean
  /** Whether another update waited when the statement began. One that another worker has is not counted. */
  readonly isOtherWaiting: boolean
}

/** Finishes an update: deletes its content and keeps its id. */
export async function closeUpdate(
  db: Db,
  claim: UpdateClaim,
  handledAt: Date,
): Promise<ClosedUpdate> {
  const { leasedUntil, handledAt: doneAt, updateId } = telegramUpdates
  const isWaiting = and(
    isNull(doneAt),
    ne(updateId, claim.updateId),
    or(isNull(leasedUntil), lte(leasedUntil, handledAt)),
  )
  const [row] = await db
    .update(telegramUpdates)
    .set({ handledAt, update: null, leasedUntil: null })
    .where(isOf(claim))
    .returning({
      isOtherWaiting: sql<boolean>`exists (select from ${telegramUpdates} where ${isWaiting})`,
    })
  return { isLast: row !== undefined, isOtherWaiting: row?.isOtherWaiting ?? true }
}

/** Releases an update, which is due again from `dueAt` on, unless another worker has it now. */
export async function returnUpdate(
  db: Db,
  claim: UpdateClaim,
  input: { readonly dueAt: Date; readonly attempts: number },
): Promise<void> {
  await db
    .update(telegramUpdates)
    .set({ leasedUntil: input.dueAt, attempts: input.attempts })
    .where(and(isOf(claim), isNull(telegramUpdates.handledAt)))
}

function isOf({ updateId, attempts }: UpdateClaim) {
  return and(eq(telegramUpdates.updateId, updateId), eq(telegramUpdates.attempts, attempts))
}

/** Deletes updates that were handled before `before`. */
export async function deleteHandled(db: Db, before: Date): Promise<void> {
  await db
    .delete(telegramUpdates)
    .where(and(isNotNull(telegramUpdates.handledAt), lt(telegramUpdates.handledAt, before)))
}
