import { and, count, desc, eq, gte, lt, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { AccountQuery } from './model.ts'
import { accounts, ledgerEntries } from './tables.ts'

export type AccountRow = typeof accounts.$inferSelect

/** The wallet's account, if it has one. */
export async function findAccount(db: Db, wallet: Address): Promise<AccountRow | undefined> {
  const [found] = await db.select().from(accounts).where(eq(accounts.wallet, wallet))
  return found
}

/** Makes the account if it is missing. */
export async function ensureAccount(db: Db, wallet: Address, createdAt: Date): Promise<void> {
  await db
    .insert(accounts)
    .values({ wallet, balanceCredits: 0, occupiedSlots: 0, createdAt })
    .onConflictDoNothing()
}

/** Writes which terms the wallet accepted, and when; the same version keeps its first time. */
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
      balanceCredits: 0,
      occupiedSlots: 0,
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

/** Takes one slot if fewer than `capacity` are taken. @returns whether it did */
export async function occupySlot(db: Db, wallet: Address, capacity: number): Promise<boolean> {
  const taken = await db
    .update(accounts)
    .set({ occupiedSlots: sql`${accounts.occupiedSlots} + 1` })
    .where(and(eq(accounts.wallet, wallet), lt(accounts.occupiedSlots, capacity)))
    .returning({ wallet: accounts.wallet })
  return taken.length > 0
}

/** Gives one slot back. */
export async function releaseSlot(db: Db, wallet: Address): Promise<void> {
  await db
    .update(accounts)
    .set({ occupiedSlots: sql`${accounts.occupiedSlots} - 1` })
    .where(eq(accounts.wallet, wallet))
}

export type LedgerRow = typeof ledgerEntries.$inferSelect

/** Entries of the wallet, newest first, after the given place. */
export function listLedger(
  db: Db,
  wallet: Address,
  { type, from, to }: Pick<AccountQuery, 'type' | 'from' | 'to'>,
  after: { readonly createdAt: Date; readonly id: number } | undefined,
  limit: number,
): Promise<LedgerRow[]> {
  const { createdAt, id } = ledgerEntries
  return db
    .select()
    .from(ledgerEntries)
    .where(
      and(
        eq(ledgerEntries.wallet, wallet),
        type && eq(ledgerEntries.type, type),
        from && gte(createdAt, from),
        to && lt(createdAt, to),
        after &&
          or(lt(createdAt, after.createdAt), and(eq(createdAt, after.createdAt), lt(id, after.id))),
      ),
    )
    .orderBy(desc(createdAt), desc(id))
    .limit(limit)
}

/** Totals over all wallets, for the public figures. */
export async function sumAccounts(db: Db) {
  const [accountsRow] = await db.select({ wallets: count() }).from(accounts)
  const { type, deltaCredits } = ledgerEntries
  const [ledger] = await db
    .select({
      sold: sql`coalesce(sum(${deltaCredits}) filter (where ${type} in ('topup', 'bonus')), 0)`.mapWith(
        Number,
      ),
      spent:
        sql`coalesce(-sum(${deltaCredits}) filter (where ${type} in ('usage', 'subscription', 'refund')), 0)`.mapWith(
          Number,
        ),
      topups: sql`count(*) filter (where ${type} = 'topup')`.mapWith(Number),
    })
    .from(ledgerEntries)
  return {
    wallets: accountsRow?.wallets ?? 0,
    creditsSold: ledger?.sold ?? 0,
    creditsSpent: ledger?.spent ?? 0,
    topups: ledger?.topups ?? 0,
  }
}
