import { createHash } from 'node:crypto'
import { and, asc, eq, gt, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { stamp } from '#src/db/later-times.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { accounts } from '../account/tables.ts'
import { GRACE_MS, RENEWAL_TRIES } from './rules.ts'
import {
  billingPauses,
  capacityChanges,
  spentTrials,
  subscriptions,
  trialAccounts,
  trials,
} from './tables.ts'

export type TrialRow = typeof trials.$inferSelect
export type SubscriptionRow = typeof subscriptions.$inferSelect

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
  return row?.used === true || (await isTrialSpent(db, wallet, telegramUserIds))
}

/** Whether a deleted account of this wallet, or of one of these Telegram accounts, has had a trial. */
export async function isTrialSpent(
  db: Db,
  wallet: Address,
  telegramUserIds: readonly number[],
): Promise<boolean> {
  const [row] = await db
    .select()
    .from(spentTrials)
    .where(inArray(spentTrials.digest, digestsOf(wallet, telegramUserIds)))
    .limit(1)
  return row !== undefined
}

function digestsOf(wallet: Address, telegramUserIds: readonly number[]): string[] {
  return [`wallet ${wallet}`, ...telegramUserIds.map((id) => `telegram ${id}`)].map((name) =>
    createHash('sha256').update(name).digest('hex'),
  )
}

/**
 * Gives the wallet's subscriptions another name and ends them, and deletes its trial. Whether it had one stays as a digest.
 */
export async function forgetSubscriptions(
  db: Db,
  wallet: Address,
  pseudonym: Address,
): Promise<void> {
  await db
    .update(subscriptions)
    .set({ wallet: pseudonym, status: 'expired', autoRenew: false, dueAt: null, remindAt: null })
    .where(eq(subscriptions.wallet, wallet))
  await db.delete(capacityChanges).where(eq(capacityChanges.wallet, wallet))
  const had = await db.delete(trials).where(eq(trials.wallet, wallet)).returning()
  const accountsOfTrial = await db
    .delete(trialAccounts)
    .where(eq(trialAccounts.wallet, wallet))
    .returning({ id: trialAccounts.telegramUserId })
  if (had.length === 0 && accountsOfTrial.length === 0) return
  const ids = accountsOfTrial.map(({ id }) => id)
  await db
    .insert(spentTrials)
    .values(digestsOf(wallet, ids).map((digest) => ({ digest })))
    .onConflictDoNothing()
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
export async function insertTrial(db: Db, trial: TrialRow): Promise<boolean> {
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

/**
 * Records the start of a pause of billing, unless one is open. It is not before the end of the one before, so that no
 * time is in both.
 */
export async function beginBillingPause(db: Db, offAt: Date): Promise<void> {
  // Two concurrent inserts have the same number, so the second is skipped.
  await db.execute(sql`
    insert into ${billingPauses} (number, off_at)
    select coalesce(max(number), 0) + 1, greatest(${stamp(offAt)}, max(on_at)) from ${billingPauses}
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
 * Locks the open pause of billing until the transaction ends.
 * @returns its start; undefined if none is open
 */
export async function lockOpenPause(tx: Db): Promise<Date | undefined> {
  const [open] = await tx
    .select({ offAt: billingPauses.offAt })
    .from(billingPauses)
    .where(isNull(billingPauses.onAt))
    .for('update')
  return open?.offAt
}

/** Ends the open pause of billing. */
export async function endBillingPause(tx: Db, onAt: Date): Promise<void> {
  await tx.update(billingPauses).set({ onAt }).where(isNull(billingPauses.onAt))
}

/** A time span in which billing was off. */
interface BillingPause {
  readonly offAt: Date
  readonly onAt: Date
}

/**
 * Moves every running term by the part of the pause in which it ran. A term that was due before is due at the end of the
 * pause, so that time that has passed is not charged; one that is not renewed keeps its slots for the grace then. Each
 * value is computed from the row itself, so that a change that this statement waits for is not lost.
 */
export async function extendTerms(tx: Db, pause: BillingPause): Promise<void> {
  const moved = sql`extract(epoch from pause.on_at - least(greatest(pause.off_at, created_at), due_at))`
  const isOver = sql`(due_at <= pause.off_at and not (auto_renew and failed_renewals < ${RENEWAL_TRIES}))`
  const grace = sql`case when ${isOver} then ${GRACE_MS / 1000}::numeric else 0 end`
  const extended = seconds(sql`${moved} + ${grace}`)
  // The reminders of a term that was over are used up, so its new end is announced once more.
  const last = sql`case when status = 'active' and ${isOver} then ends_at - ${seconds(sql`${DAY_MS / 1000}`)} end`
  await tx.execute(sql`
    update ${subscriptions} set starts_at = starts_at + ${seconds(moved)}, ends_at = ends_at + ${extended},
      due_at = due_at + ${extended}, remind_at = coalesce(remind_at, ${last}) + ${extended}
    from ${asRow(pause)} where status in ('active', 'grace') and created_at < pause.on_at`)
}

/**
 * Moves every trial that had not ended by the part of the pause in which it ran, and records that the capacity of its
 * wallet changes at the new end.
 */
export async function extendTrials(tx: Db, pause: BillingPause): Promise<void> {
  const moved = seconds(sql`extract(epoch from pause.on_at - greatest(pause.off_at, started_at))`)
  await tx.execute(sql`
    with moved as (
      update ${trials} set started_at = started_at + ${moved}, ends_at = ends_at + ${moved},
        remind_at = remind_at + ${moved}
      from ${asRow(pause)} where ends_at > pause.off_at and started_at < pause.on_at
      returning wallet, ends_at
    )
    insert into ${capacityChanges} (wallet, at) select wallet, ends_at from moved on conflict do nothing`)
}

function asRow({ offAt, onAt }: BillingPause): SQL {
  return sql`(values (${stamp(offAt)}, ${stamp(onAt)})) as pause (off_at, on_at)`
}

/** Records a change of capacity for every wallet with watches, and wakes the job that adjusts them. */
export async function insertCapacityChangesOfAll(tx: Db, at: Date): Promise<void> {
  await tx.execute(sql`
    with added as (
      insert into ${capacityChanges} (wallet, at)
      select wallet, ${stamp(at)} from ${accounts} where occupied_slots > 0
      on conflict do nothing
    )
    select pg_notify('capacity', '')`)
}

/** A length of time without days, which the time zone of the session could make longer or shorter. */
function seconds(length: SQL): SQL {
  return sql`make_interval(secs => (${length})::float8)`
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
