import { and, asc, eq, gt, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { accounts } from '../account/tables.ts'
import { billingPauses, capacityChanges, subscriptions, trialAccounts, trials } from './tables.ts'

export type TrialRow = typeof trials.$inferSelect
export type SubscriptionRow = typeof subscriptions.$inferSelect
export type NewTrial = Omit<TrialRow, 'lastAppliedPause'>

/** The wallet's trial, running or ended. */
export async function findTrial(db: Db, wallet: Address): Promise<TrialRow | undefined> {
  const [row] = await db.select().from(trials).where(eq(trials.wallet, wallet))
  return row
}

/** Whether the wallet has had a trial, or one of these Telegram accounts, for any wallet. */
export async function isTrialUsed(
  db: Db,
  wallet: Address,
  telegramUserIds: readonly number[],
): Promise<boolean> {
  const ids = sql.param([...telegramUserIds])
  const [row] = await db.execute<{ used: boolean }>(sql`
    select exists (select from ${trials} where ${trials.wallet} = ${wallet})
      or exists (select from ${trialAccounts}
        where ${trialAccounts.telegramUserId} = any(${ids}::bigint[])) as used`)
  return row?.used === true
}

/**
 * Records that these Telegram accounts had the trial of this wallet.
 * @returns false when one of the accounts had a trial before
 */
export async function insertTrialAccounts(
  db: Db,
  wallet: Address,
  telegramUserIds: readonly number[],
): Promise<boolean> {
  if (telegramUserIds.length === 0) return true
  const inserted = await db
    .insert(trialAccounts)
    .values(telegramUserIds.map((telegramUserId) => ({ telegramUserId, wallet })))
    .onConflictDoNothing()
    .returning({ wallet: trialAccounts.wallet })
  return inserted.length === telegramUserIds.length
}

/**
 * Stores a trial.
 * @returns false when this wallet or Telegram account has had a trial
 */
export async function insertTrial(db: Db, trial: NewTrial): Promise<boolean> {
  const inserted = await db
    .insert(trials)
    .values(trial)
    .onConflictDoNothing()
    .returning({ wallet: trials.wallet })
  return inserted.length > 0
}

/** Ends the reminders of a trial. */
export async function endTrialReminders(db: Db, wallet: Address): Promise<void> {
  await db.update(trials).set({ remindAt: null }).where(eq(trials.wallet, wallet))
}

/** Updates the given columns of a wallet's trial. */
export async function updateTrial(
  db: Db,
  wallet: Address,
  changes: Partial<Pick<TrialRow, 'startedAt' | 'endsAt' | 'remindAt' | 'lastAppliedPause'>>,
): Promise<void> {
  await db.update(trials).set(changes).where(eq(trials.wallet, wallet))
}

/** Records the start of a pause of billing, unless one is open. */
export async function beginBillingPause(db: Db, offAt: Date): Promise<void> {
  // Two concurrent inserts have the same number, so the second is skipped.
  await db.execute(sql`
    insert into ${billingPauses} (number, off_at)
    select coalesce(max(number), 0) + 1, ${offAt.toISOString()}::timestamptz from ${billingPauses}
    having coalesce(bool_and(on_at is not null), true)
    on conflict do nothing`)
}

/** Whether a pause of billing is open. */
export async function isBillingPaused(db: Db): Promise<boolean> {
  const rows = await db
    .select({ number: billingPauses.number })
    .from(billingPauses)
    .where(isNull(billingPauses.onAt))
    .limit(1)
  return rows.length > 0
}

/**
 * Ends the open pause of billing.
 * @returns its start; undefined if none was open
 */
export async function endBillingPause(db: Db, onAt: Date): Promise<Date | undefined> {
  const [ended] = await db
    .update(billingPauses)
    .set({ onAt: sql`greatest(${billingPauses.offAt}, ${onAt.toISOString()}::timestamptz)` })
    .where(isNull(billingPauses.onAt))
    .returning({ offAt: billingPauses.offAt })
  return ended?.offAt
}

/**
 * Records a change of capacity at `at` for wallets with watches and neither a running term nor, at `offAt`,
 * a trial.
 */
export async function insertFreeCapacityChanges(
  db: Db,
  { offAt, at }: { readonly offAt: Date; readonly at: Date },
): Promise<void> {
  await db.execute(sql`
    insert into ${capacityChanges} (wallet, at)
    select wallet, ${at.toISOString()}::timestamptz from ${accounts}
    where occupied_slots > 0
      and not exists (select from ${subscriptions} where ${subscriptions.wallet} = ${accounts.wallet}
        and ${subscriptions.status} in ('active', 'grace'))
      and not exists (select from ${trials} where ${trials.wallet} = ${accounts.wallet}
        and ${trials.endsAt} > ${offAt.toISOString()}::timestamptz)
    on conflict do nothing`)
}

/** A pause that has ended. */
export interface EndedBillingPause {
  readonly number: number
  readonly offAt: Date
  readonly onAt: Date
}

/** Ended pauses that are not applied to everything yet, in order. */
export async function listUnappliedPauses(db: Db): Promise<EndedBillingPause[]> {
  const rows = await db
    .select()
    .from(billingPauses)
    .where(isNull(billingPauses.appliedAt))
    .orderBy(asc(billingPauses.number))
  return rows.flatMap(({ number, offAt, onAt }) => (onAt === null ? [] : [{ number, offAt, onAt }]))
}

/** Marks the pauses up to the number `upTo` as applied to every term and trial. */
export async function markPausesApplied(db: Db, upTo: number, appliedAt: Date): Promise<void> {
  await db
    .update(billingPauses)
    .set({ appliedAt })
    .where(and(lte(billingPauses.number, upTo), isNull(billingPauses.appliedAt)))
}

/**
 * Wallets after `after` with a subscription or a trial that a pause was not applied to, ordered by address.
 */
export async function listWalletsWithUnappliedPause(
  db: Db,
  pause: number,
  { after, limit }: { readonly after: Address | undefined; readonly limit: number },
): Promise<Address[]> {
  const behind = sql`wallet > ${after ?? ''}`
  const rows = await db.execute<{ wallet: string }>(sql`
    (select distinct wallet from ${subscriptions}
      where last_applied_pause < ${pause} and status in ('active', 'grace') and ${behind}
      order by wallet limit ${limit})
    union
    (select wallet from ${trials}
      where last_applied_pause < ${pause} and ${behind}
      order by wallet limit ${limit})
    order by wallet limit ${limit}`)
  return rows.map(({ wallet }) => storedAddress(wallet))
}

/** A position in a list of wallets with due rows. */
export interface DuePosition {
  /** Due time as PostgreSQL writes it, exact to the microsecond. */
  readonly at: string
  readonly wallet: Address
}

/** Wallets with a reminder due by `now`, in order after `after`; at most one row per wallet and time. */
export async function listWalletsToRemind(
  db: Db,
  now: Date,
  { after, limit }: { readonly after: DuePosition | undefined; readonly limit: number },
): Promise<DuePosition[]> {
  const rows = await db.execute<DueRow>(sql`
    (select remind_at as at, wallet from ${subscriptions}
      where remind_at <= ${now.toISOString()}::timestamptz ${isBehind(sql`remind_at`, after)}
      order by remind_at, wallet limit ${limit})
    union
    (select remind_at as at, wallet from ${trials}
      where remind_at <= ${now.toISOString()}::timestamptz ${isBehind(sql`remind_at`, after)}
      order by remind_at, wallet limit ${limit})
    order by at, wallet limit ${limit}`)
  return rows.map(toPlace)
}

export async function insertSubscription(
  db: Db,
  values: typeof subscriptions.$inferInsert,
): Promise<SubscriptionRow> {
  const [inserted] = await db.insert(subscriptions).values(values).returning()
  if (inserted === undefined) throw new Error('a subscription was not inserted')
  return inserted
}

/** Subscriptions of the wallet with an id above `after`, ordered by id, including ended ones. */
export function listSubscriptions(
  db: Db,
  wallet: Address,
  after: number,
  limit: number,
): Promise<SubscriptionRow[]> {
  return db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.wallet, wallet), gt(subscriptions.id, after)))
    .orderBy(asc(subscriptions.id))
    .limit(limit)
}

/** Subscriptions of the wallet that have not ended, ordered by id. */
export function listRunning(db: Db, wallet: Address): Promise<SubscriptionRow[]> {
  return db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.wallet, wallet), isRunning()))
    .orderBy(asc(subscriptions.id))
}

/** Subscriptions of the wallet that have ended. */
export function listExpired(db: Db, wallet: Address): Promise<SubscriptionRow[]> {
  return db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.wallet, wallet), eq(subscriptions.status, 'expired')))
}

/** Subscriptions of the wallet that have not ended, ordered by id, locked until the transaction ends. */
export function lockRunning(db: Db, wallet: Address): Promise<SubscriptionRow[]> {
  return db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.wallet, wallet), isRunning()))
    .orderBy(asc(subscriptions.id))
    .for('update')
}

/** Whether the wallet has this subscription, ended or not. */
export async function hasSubscription(db: Db, wallet: Address, id: number): Promise<boolean> {
  const rows = await db
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(eq(subscriptions.wallet, wallet), eq(subscriptions.id, id)))
  return rows.length > 0
}

/** Wallets with subscriptions due by `now`, the longest due first, after `after`. */
export async function listDueWallets(
  db: Db,
  now: Date,
  { after, limit }: { readonly after: DuePosition | undefined; readonly limit: number },
): Promise<DuePosition[]> {
  const rows = await db.execute<DueRow>(sql`
    select due_at as at, wallet from ${subscriptions}
    where due_at <= ${now.toISOString()}::timestamptz ${isBehind(sql`due_at`, after)}
    order by due_at, wallet limit ${limit}`)
  return rows.map(toPlace)
}

/** Updates the given columns. */
export async function updateSubscription(
  db: Db,
  { wallet, id }: Pick<SubscriptionRow, 'wallet' | 'id'>,
  changes: Partial<Omit<typeof subscriptions.$inferInsert, 'id' | 'wallet'>>,
): Promise<void> {
  await db
    .update(subscriptions)
    .set(changes)
    .where(and(eq(subscriptions.wallet, wallet), eq(subscriptions.id, id)))
}

/** Records changes of the wallet's capacity at instants, and wakes the job that adjusts its watches. */
export async function insertCapacityChanges(
  db: Db,
  wallet: Address,
  ...times: readonly Date[]
): Promise<void> {
  const instants = sql.param(times.map((at) => at.toISOString()))
  await db.execute(sql`
    with added as (
      insert into ${capacityChanges} (wallet, at)
      select ${wallet}, at from unnest(${instants}::timestamptz[]) as t (at)
      on conflict do nothing
    )
    select pg_notify('capacity', '')`)
}

/** Wallets whose capacity has changed by `now`, the longest waiting first, after `after`. */
export async function listChangedWallets(
  db: Db,
  now: Date,
  { after, limit }: { readonly after: DuePosition | undefined; readonly limit: number },
): Promise<DuePosition[]> {
  const rows = await db.execute<DueRow>(sql`
    select at, wallet from ${capacityChanges}
    where at <= ${now.toISOString()}::timestamptz ${isBehind(sql`at`, after)}
    order by at, wallet limit ${limit}`)
  return rows.map(toPlace)
}

/**
 * Deletes the wallet's changes up to an instant.
 * @returns their times
 */
export async function deleteCapacityChanges(db: Db, wallet: Address, upTo: Date): Promise<Date[]> {
  const gone = await db
    .delete(capacityChanges)
    .where(and(eq(capacityChanges.wallet, wallet), lte(capacityChanges.at, upTo)))
    .returning({ at: capacityChanges.at })
  return gone.map(({ at }) => at)
}

/** Condition: the subscription has not ended. */
export function isRunning(): SQL {
  return inArray(subscriptions.status, ['active', 'grace'])
}

interface DueRow extends Record<string, unknown> {
  readonly at: string
  readonly wallet: string
}

function isBehind(time: SQL, after: DuePosition | undefined): SQL {
  if (after === undefined) return sql``
  return sql`and (${time}, wallet) > (${after.at}::timestamptz, ${after.wallet})`
}

function toPlace({ at, wallet }: DueRow): DuePosition {
  return { at, wallet: storedAddress(wallet) }
}
