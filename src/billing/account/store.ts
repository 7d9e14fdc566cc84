import { and, asc, count, desc, eq, gt, gte, lt, min, ne, or, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Db } from '#src/db/connection.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import type { AccountQuery, LedgerType } from './model.ts'
import { isSoldCondition, isSpentCondition } from './proof-store.ts'
import { accounts, ledgerEntries } from './tables.ts'

const EMPTY = { balanceCredits: 0, occupiedSlots: 0, entryCount: 0 } as const

export type AccountRow = typeof accounts.$inferSelect

/** The wallet's account; undefined if it has none. */
export async function findAccount(db: Db, wallet: Address): Promise<AccountRow | undefined> {
  const [row] = await db.select().from(accounts).where(eq(accounts.wallet, wallet))
  return row
}

/** Locks the wallet's account until the transaction ends. */
export async function lockAccount(db: Db, wallet: Address): Promise<void> {
  await db
    .select({ wallet: accounts.wallet })
    .from(accounts)
    .where(eq(accounts.wallet, wallet))
    .for('update')
}

/** Creates the account if it is missing. */
export async function ensureAccount(db: Db, wallet: Address, createdAt: Date): Promise<void> {
  await db
    .insert(accounts)
    .values({ wallet, ...EMPTY, createdAt })
    .onConflictDoNothing()
}

/** Records the accepted terms with the time; a version that is accepted again keeps its first time. */
export async function saveTerms(
  db: Db,
  wallet: Address,
  version: string,
  acceptedAt: Date,
): Promise<void> {
  await db
    .insert(accounts)
    .values({
      wallet,
      ...EMPTY,
      termsVersion: version,
      termsAcceptedAt: acceptedAt,
      createdAt: acceptedAt,
    })
    .onConflictDoUpdate({
      target: accounts.wallet,
      set: { termsVersion: version, termsAcceptedAt: acceptedAt },
      setWhere: sql`${accounts.termsVersion} is distinct from ${version}`,
    })
}

/**
 * Takes one slot if fewer than `capacity` are taken.
 * @returns false if none was free
 */
export async function occupySlot(db: Db, wallet: Address, capacity: number): Promise<boolean> {
  const taken = await db
    .update(accounts)
    .set({ occupiedSlots: sql`${accounts.occupiedSlots} + 1` })
    .where(and(eq(accounts.wallet, wallet), lt(accounts.occupiedSlots, capacity)))
    .returning({ wallet: accounts.wallet })
  return taken.length > 0
}

/** Frees one slot. */
export async function releaseSlot(db: Db, wallet: Address): Promise<void> {
  await db
    .update(accounts)
    .set({ occupiedSlots: sql`${accounts.occupiedSlots} - 1` })
    .where(eq(accounts.wallet, wallet))
}

/**
 * Gives the account and its ledger another name, without notes and terms, so that the books stay whole without the wallet.
 * The account must be locked.
 */
export async function renameAccount(db: Db, wallet: Address, pseudonym: Address): Promise<void> {
  await db
    .update(ledgerEntries)
    .set({ wallet: pseudonym, note: null })
    .where(eq(ledgerEntries.wallet, wallet))
  await db
    .update(accounts)
    .set({ wallet: pseudonym, occupiedSlots: 0, termsVersion: null, termsAcceptedAt: null })
    .where(eq(accounts.wallet, wallet))
}

/** The entry at a position of the wallet's ledger; undefined if there is none. */
export async function findEntryAt(
  db: Db,
  wallet: Address,
  position: number,
): Promise<LedgerRow | undefined> {
  const [row] = await db
    .select()
    .from(ledgerEntries)
    .where(and(eq(ledgerEntries.wallet, wallet), eq(ledgerEntries.position, position)))
  return row
}

/** A ledger entry before it is written. */
export interface NewLedgerEntry {
  readonly wallet: Address
  readonly type: LedgerType
  /** Positive: added; negative: taken. */
  readonly deltaCredits: number
  readonly reference: string
  readonly note: string | undefined
  readonly at: Date
}

/**
 * Changes the balance and writes its entry, in one statement, and notifies the channel `ledger` on commit.
 *
 * No change when the reference has an entry, or the balance would become negative. Waits for a concurrent
 * change of the account.
 *
 * @returns the balance before, and after if it changed; undefined when there is no account
 */
export async function postEntry(
  db: Db,
  { wallet, type, deltaCredits, reference, note, at }: NewLedgerEntry,
): Promise<{ beforeCredits: number; afterCredits: number | undefined } | undefined> {
  const [row] = await db.execute<{ before: string; after: string | null }>(sql`
    with account as materialized (
      select balance_credits, entry_count, last_entry_at from accounts
      where wallet = ${wallet} for update
    ), entry as (
      insert into ledger_entries (wallet, position, type, delta_credits, balance_after_credits,
        reference, note, created_at)
      select ${wallet}, entry_count + 1, ${type}, ${deltaCredits}::bigint,
        balance_credits + ${deltaCredits}::bigint, ${reference}, ${note ?? null},
        greatest(${at.toISOString()}::timestamptz, last_entry_at)
      from account where balance_credits + ${deltaCredits}::bigint >= 0
      on conflict (reference) do nothing
      returning position, balance_after_credits, created_at
    ), changed as (
      update accounts set balance_credits = entry.balance_after_credits,
        entry_count = entry.position, last_entry_at = entry.created_at
      from entry where wallet = ${wallet}
      returning pg_notify('ledger', wallet)
    )
    select account.balance_credits as before, entry.balance_after_credits as after
    from account left join entry on true left join changed on true`)
  return (
    row && {
      beforeCredits: Number(row.before),
      afterCredits: row.after === null ? undefined : Number(row.after),
    }
  )
}

/** Entries of the wallet after a position, ordered by position. */
export function listEntriesAfter(
  db: Db,
  wallet: Address,
  position: number,
  limit: number,
): Promise<LedgerRow[]> {
  return db
    .select()
    .from(ledgerEntries)
    .where(and(eq(ledgerEntries.wallet, wallet), gt(ledgerEntries.position, position)))
    .orderBy(asc(ledgerEntries.position))
    .limit(limit)
}

/** The wallets that have entries after the given positions. */
export async function listWalletsWithNewEntries(
  db: Db,
  known: readonly { readonly wallet: Address; readonly position: number }[],
): Promise<Address[]> {
  const rows = await db.execute<{ wallet: string }>(sql`
    select a.wallet from unnest(
      ${sql.param(known.map(({ wallet }) => wallet))}::text[],
      ${sql.param(known.map(({ position }) => position))}::bigint[]
    ) as k(wallet, position) join accounts a on a.wallet = k.wallet
    where a.entry_count > k.position`)
  return rows.map(({ wallet }) => storedAddress(wallet))
}

/** The entry of a reference; undefined if there is none. */
export async function findEntry(db: Db, reference: string): Promise<LedgerRow | undefined> {
  const [row] = await db.select().from(ledgerEntries).where(eq(ledgerEntries.reference, reference))
  return row
}

export type LedgerRow = typeof ledgerEntries.$inferSelect

/** Entries of the wallet, newest first, that are older than `after`. */
export function listLedger(
  db: Db,
  wallet: Address,
  { type, from, to }: Pick<AccountQuery, 'type' | 'from' | 'to'>,
  after: { readonly createdAt: Date; readonly position: number } | undefined,
  limit: number,
): Promise<LedgerRow[]> {
  const { createdAt, position } = ledgerEntries
  return db
    .select()
    .from(ledgerEntries)
    .where(
      and(
        eq(ledgerEntries.wallet, wallet),
        type && eq(ledgerEntries.type, type),
        // Repeats the condition of the partial index, so that any plan can use it.
        type && type !== 'usage' ? ne(ledgerEntries.type, 'usage') : undefined,
        from && gte(createdAt, from),
        to && lt(createdAt, to),
        after &&
          or(
            lt(createdAt, after.createdAt),
            and(eq(createdAt, after.createdAt), lt(position, after.position)),
          ),
      ),
    )
    .orderBy(desc(createdAt), desc(position))
    .limit(limit)
}

/** Sums over all wallets in a time span, for the public figures. */
export async function sumAccountsInSpan(db: Db, since: Date, until: Date | undefined) {
  const isWithin = (column: PgColumn) =>
    and(gte(column, since), until === undefined ? undefined : lt(column, until))
  const [made] = await db
    .select({ wallets: count() })
    .from(accounts)
    .where(isWithin(accounts.createdAt))
  const { type, deltaCredits: delta, createdAt } = ledgerEntries
  const [ledger] = await db
    .select({
      sold: sql`coalesce(sum(${delta}) filter (where ${isSoldCondition(sql`${type}`)}), 0)`.mapWith(
        Number,
      ),
      spent:
        sql`coalesce(-sum(${delta}) filter (where ${isSpentCondition(sql`${type}`)}), 0)`.mapWith(
          Number,
        ),
      topups: sql`count(*) filter (where ${type} = 'topup')`.mapWith(Number),
    })
    .from(ledgerEntries)
    .where(isWithin(createdAt))
  return {
    wallets: made?.wallets ?? 0,
    creditsSold: ledger?.sold ?? 0,
    creditsSpent: ledger?.spent ?? 0,
    topups: ledger?.topups ?? 0,
  }
}

/** Time of the first account or entry; undefined while there is none. */
export async function findFirstActivity(db: Db): Promise<Date | undefined> {
  const [account] = await db.select({ at: min(accounts.createdAt) }).from(accounts)
  const [entry] = await db.select({ at: min(ledgerEntries.createdAt) }).from(ledgerEntries)
  const times = [account?.at, entry?.at].flatMap((at) => (at ? [at.getTime()] : []))
  return times.length === 0 ? undefined : new Date(Math.min(...times))
}
