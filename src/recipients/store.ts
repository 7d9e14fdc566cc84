import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { CHANNEL_KEYS, REGISTRY as CHANNELS, type ChannelKey } from '#src/channels/index.ts'
import { valueArray } from '#src/db/arrays.ts'
import { batchedRead } from '#src/db/batched-read.ts'
import type { Db } from '#src/db/connection.ts'
import type { SealedColumn } from '#src/db/reseal.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Address } from '#src/kernel/units.ts'
import type { RecipientCandidate } from './rules.ts'
import { notificationSettings, recipients } from './tables.ts'

/** A stored recipient, with its destination sealed. */
export type RecipientRow = typeof recipients.$inferSelect

/** The column with sealed destinations. */
export const SEALED_DESTINATIONS: Omit<SealedColumn, 'purpose'> = {
  table: recipients,
  key: [recipients.id],
  sealed: recipients.destination,
}
export type NewRecipientRow = Omit<typeof recipients.$inferInsert, 'switchedAt'>
type Changes = Partial<Omit<NewRecipientRow, 'id' | 'wallet' | 'own' | 'channel'>> & {
  readonly updatedAt: Date
}

const NAMED = eq(recipients.own, false)

/** Named recipients of the wallet with an id above `after`, by id. */
export function listNamed(
  db: Db,
  wallet: Address,
  page: { readonly after: number; readonly limit: number },
): Promise<RecipientRow[]> {
  return db
    .select()
    .from(recipients)
    .where(and(eq(recipients.wallet, wallet), NAMED, gt(recipients.id, page.after)))
    .orderBy(asc(recipients.id))
    .limit(page.limit)
}

export function findNamed(db: Db, wallet: Address, id: number): Promise<RecipientRow | undefined> {
  return findOne(db, and(eq(recipients.wallet, wallet), NAMED, eq(recipients.id, id)))
}

/** Any recipient, named or not, of any wallet. */
export function findRecipientRow(db: Db, id: number): Promise<RecipientRow | undefined> {
  return findOne(db, eq(recipients.id, id))
}

/** Any recipient of the wallet, named or not. */
export function findOfWallet(
  db: Db,
  wallet: Address,
  id: number,
): Promise<RecipientRow | undefined> {
  return findOne(db, and(eq(recipients.wallet, wallet), eq(recipients.id, id)))
}

/** Every recipient of the wallet, named or not, by id. */
export function listOfWallet(db: Db, wallet: Address): Promise<RecipientRow[]> {
  return db
    .select()
    .from(recipients)
    .where(eq(recipients.wallet, wallet))
    .orderBy(asc(recipients.id))
}

export function findOwnChannel(
  db: Db,
  wallet: Address,
  channel: ChannelKey,
): Promise<RecipientRow | undefined> {
  return findOne(
    db,
    and(eq(recipients.wallet, wallet), eq(recipients.own, true), eq(recipients.channel, channel)),
  )
}

export function findChat(
  db: Db,
  wallet: Address,
  chatId: number,
): Promise<RecipientRow | undefined> {
  return findOne(db, and(eq(recipients.wallet, wallet), eq(recipients.chatId, chatId)))
}

async function findOne(db: Db, where: SQL | undefined): Promise<RecipientRow | undefined> {
  const [row] = await db.select().from(recipients).where(where).limit(1)
  return row
}

const LINKED = CHANNEL_KEYS.filter((key) => CHANNELS[key].kind === 'link')

/** The wallet's own destinations and its linked chats: active ones first, then the oldest. */
export function listOwnChannelsAndChats(db: Db, wallet: Address): Promise<RecipientRow[]> {
  return db
    .select()
    .from(recipients)
    .where(
      and(
        eq(recipients.wallet, wallet),
        or(eq(recipients.own, true), inArray(recipients.channel, LINKED)),
      ),
    )
    .orderBy(desc(sql`${recipients.status} = 'active'`), asc(recipients.id))
}

/**
 * Active private chats of the wallet, and its active mailboxes that are an own channel or a default, by id. Followers
 * are not told of one another.
 */
export function listNoticeReaders(db: Db, wallet: Address): Promise<RecipientRow[]> {
  const isPrivateChat = and(inArray(recipients.channel, LINKED), gt(recipients.chatId, 0))
  const isMailbox = and(
    eq(recipients.channel, 'email'),
    or(eq(recipients.own, true), eq(recipients.isDefault, true)),
  )
  return db
    .select()
    .from(recipients)
    .where(
      and(
        eq(recipients.wallet, wallet),
        eq(recipients.status, 'active'),
        isNull(recipients.follows),
        or(isPrivateChat, isMailbox),
      ),
    )
    .orderBy(asc(recipients.id))
}

export async function countNamed(db: Db, wallet: Address): Promise<number> {
  const [row] = await db
    .select({ named: count() })
    .from(recipients)
    .where(and(eq(recipients.wallet, wallet), NAMED))
  return row?.named ?? 0
}

/** Selects the ids that are named recipients of the wallet. */
export async function listKnownIds(
  db: Db,
  wallet: Address,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await db
    .select({ id: recipients.id })
    .from(recipients)
    .where(and(eq(recipients.wallet, wallet), NAMED, isOneOf(ids)))
  return rows.map(({ id }) => id)
}

export async function insertRow(db: Db, values: NewRecipientRow): Promise<RecipientRow> {
  const [row] = await db
    .insert(recipients)
    .values({ ...values, switchedAt: values.createdAt })
    .returning()
  if (row === undefined) throw new Error('a recipient was not inserted')
  return row
}

export async function updateRow(db: Db, id: number, changes: Changes): Promise<RecipientRow> {
  const [row] = await db
    .update(recipients)
    .set({ ...changes, ...switchedAtChange(changes) })
    .where(eq(recipients.id, id))
    .returning()
  if (row === undefined) throw new Error('a recipient was gone before it was updated')
  return row
}

/**
 * The column `switchedAt` of an update: the time of the update if it changes the status, otherwise the stored time.
 * Empty for an update without a status.
 */
export function switchedAtChange({ status, updatedAt }: Pick<Changes, 'status' | 'updatedAt'>): {
  readonly switchedAt?: SQL
} {
  if (status === undefined) return {}
  const { switchedAt } = recipients
  return {
    switchedAt: sql`case when ${recipients.status} = ${status} then ${switchedAt}
      else ${updatedAt}::timestamptz end`,
  }
}

/** Writes the wallet's language and time zone to its own channels. */
export async function updateOwnChannels(
  db: Db,
  wallet: Address,
  reader: { readonly locale: Locale; readonly timezone: string; readonly updatedAt: Date },
): Promise<void> {
  await db
    .update(recipients)
    .set(reader)
    .where(and(eq(recipients.wallet, wallet), eq(recipients.own, true)))
}

/**
 * Stores why the last attempt to send the confirmation e-mail of a mailbox failed.
 *
 * @param statusReason null if it did not fail
 */
export async function saveUnconfirmable(
  db: Db,
  id: number,
  statusReason: string | null,
  at: Date,
): Promise<void> {
  const failed = statusReason === null ? {} : { lastFailureAt: at, updatedAt: at }
  await db
    .update(recipients)
    .set({ statusReason, ...failed })
    .where(and(eq(recipients.id, id), eq(recipients.status, 'pending')))
}

export async function deleteRow(db: Db, id: number): Promise<void> {
  await db.delete(recipients).where(eq(recipients.id, id))
}

/** A candidate with its wallet. */
export type WalletCandidate = RecipientCandidate & { readonly wallet: Address }

const candidateColumns = {
  id: recipients.id,
  wallet: recipients.wallet,
  channel: recipients.channel,
  partitionKey: recipients.partitionKey,
  locale: recipients.locale,
  timezone: recipients.timezone,
  isGroup: sql<boolean>`coalesce(${recipients.chatId} < 0, false)`,
  isFollower: sql<boolean>`${recipients.follows} is not null`,
  mutedUntil: recipients.mutedUntil,
  status: recipients.status,
  minSeverity: recipients.minSeverity,
  byDefault: sql<boolean>`${recipients.own} or ${recipients.isDefault}`,
}

const isOfWallet = (wallets: readonly Address[]) =>
  sql`${recipients.wallet} = any(${valueArray(wallets, 'text')})`

/** Every recipient of these wallets, with the data that `chooseRecipients` needs; by id. */
export async function listCandidates(
  db: Db,
  wallets: readonly Address[],
): Promise<WalletCandidate[]> {
  return db
    .select(candidateColumns)
    .from(recipients)
    .where(isOfWallet(wallets))
    .orderBy(asc(recipients.id))
}

/** A candidate, with the minimum severity that the wallet's settings have for people; null without settings. */
export type SettledCandidate = WalletCandidate & { readonly minSeverityOfPeople: Severity | null }

/** The recipients of a wallet, by id. */
interface Addressees {
  readonly candidates: readonly SettledCandidate[]
}

const findAddresseesOfWallet = batchedRead(
  (wallet: Address) => wallet,
  async (db, wallets): Promise<ReadonlyMap<string, Addressees>> => {
    const rows = await db
      .select({
        ...candidateColumns,
        minSeverityOfPeople: sql<Severity | null>`${notificationSettings.settings} ->> 'minSeverity'`,
      })
      .from(recipients)
      .leftJoin(notificationSettings, eq(notificationSettings.wallet, recipients.wallet))
      .where(isOfWallet(wallets))
      .orderBy(asc(recipients.id))
    const byWallet = Map.groupBy(rows, ({ wallet }) => wallet)
    return new Map([...byWallet].map(([wallet, candidates]) => [wallet, { candidates }]))
  },
)

/** Every recipient of a wallet, by id, with what decides whether an alert reaches it. Concurrent calls share a statement. */
export async function listSettledCandidates(
  db: Db,
  wallet: Address,
): Promise<readonly SettledCandidate[]> {
  return (await findAddresseesOfWallet(db, wallet))?.candidates ?? []
}

/** Whether an active recipient of the wallet is a default, or its own channel. */
export async function hasActiveDefault(db: Db, wallet: Address): Promise<boolean> {
  const isDefault = or(eq(recipients.own, true), eq(recipients.isDefault, true))
  const row = await findOne(
    db,
    and(eq(recipients.wallet, wallet), eq(recipients.status, 'active'), isDefault),
  )
  return row !== undefined
}

/** A recipient, locked until the transaction ends. */
export async function lockRow(db: Db, id: number): Promise<RecipientRow | undefined> {
  const [row] = await db.select().from(recipients).where(eq(recipients.id, id)).for('no key update')
  return row
}

export function listRows(db: Db, ids: readonly number[]): Promise<RecipientRow[]> {
  return db.select().from(recipients).where(isOneOf(ids)).orderBy(asc(recipients.id))
}

/** Telegram accounts that linked a chat to a wallet. */
export async function listLinkers(db: Db, wallet: Address): Promise<number[]> {
  const rows = await db
    .selectDistinct({ linkedBy: recipients.linkedBy })
    .from(recipients)
    .where(and(eq(recipients.wallet, wallet), isNotNull(recipients.linkedBy)))
  return rows.flatMap(({ linkedBy }) => linkedBy ?? [])
}

function isOneOf(ids: readonly number[]): SQL {
  return sql`${recipients.id} = any(${valueArray(ids, 'int')})`
}
