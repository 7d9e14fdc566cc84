/** Rows of `recipients` that follow a provider without a wallet. */
import { and, asc, eq, gt, isNotNull, ne, type SQL } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { NewRecipientRow } from './store.ts'
import { recipients } from './tables.ts'

/** A stored follower. */
export type FollowerRow = Pick<
  typeof recipients.$inferSelect,
  'id' | 'wallet' | 'name' | 'follows' | 'status' | 'locale'
>

const columns = {
  id: recipients.id,
  wallet: recipients.wallet,
  name: recipients.name,
  follows: recipients.follows,
  status: recipients.status,
  locale: recipients.locale,
}

/** What a chat follows. */
export async function findFollower(db: Db, chatId: number): Promise<FollowerRow | undefined> {
  const [row] = await db
    .select(columns)
    .from(recipients)
    .where(and(eq(recipients.chatId, chatId), isNotNull(recipients.follows)))
  return row
}

/**
 * Inserts a follower.
 * @returns false without any effect if the chat follows something already
 */
export async function insertFollower(db: Db, values: NewRecipientRow): Promise<boolean> {
  const inserted = await db
    .insert(recipients)
    .values({ ...values, switchedAt: values.createdAt })
    .onConflictDoNothing()
    .returning({ id: recipients.id })
  return inserted.length > 0
}

/** Whether a chat follows the provider of this wallet. */
export async function hasFollowers(db: Db, wallet: Address): Promise<boolean> {
  const rows = await db
    .select({ id: recipients.id })
    .from(recipients)
    .where(and(eq(recipients.wallet, wallet), isNotNull(recipients.follows)))
    .limit(1)
  return rows.length > 0
}

/** Chats with an id above `after` that follow a provider and do not let the bot write any more, by the id of the recipient. */
export function listLostFollowers(
  db: Db,
  { after, limit }: { readonly after: number; readonly limit: number },
) {
  return db
    .select({ id: recipients.id, chatId: recipients.chatId })
    .from(recipients)
    .where(and(isLost(), gt(recipients.id, after)))
    .orderBy(asc(recipients.id))
    .limit(limit)
}

function isLost(): SQL | undefined {
  return and(isNotNull(recipients.follows), ne(recipients.status, 'active'))
}
