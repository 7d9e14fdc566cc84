import { asc, desc, eq, gt, type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { EntrySum } from './rules.ts'
import { accounts, ledgerProofs } from './tables.ts'

/** The balance and the number of entries of an account, which its ledger entries must prove. */
export interface AccountState {
  readonly wallet: string
  readonly balanceCredits: number
  readonly entryCount: number
  readonly createdAt: Date
}

/** At most `limit` accounts of wallets above `after`, ordered by wallet. */
export function listAccountStates(db: Db, after: string, limit: number): Promise<AccountState[]> {
  const { wallet, balanceCredits, entryCount, createdAt } = accounts
  return db
    .select({ wallet, balanceCredits, entryCount, createdAt })
    .from(accounts)
    .where(gt(wallet, after))
    .orderBy(asc(wallet))
    .limit(limit)
}

/** State of the wallet's account; undefined if it has none. */
export async function findAccountState(db: Db, wallet: string): Promise<AccountState | undefined> {
  const { balanceCredits, entryCount, createdAt } = accounts
  const [row] = await db
    .select({ wallet: accounts.wallet, balanceCredits, entryCount, createdAt })
    .from(accounts)
    .where(eq(accounts.wallet, wallet))
  return row
}

/** A position in the ledger, ordered by wallet, then by position: all entries up to it have been read. */
export interface ProofPosition {
  readonly wallet: string
  readonly position: number
}

/** Sum of some consecutive entries of a wallet. The totals are of its entries before `totalsUntil`. */
export type WalletEntrySum = EntrySum & {
  readonly wallet: string
  /** Credits that were bought, or granted as a bonus. */
  readonly sold: number
  /** Credits that were spent, without those that were refunded. */
  readonly spent: number
  /** Number of top-ups. */
  readonly topups: number
}

/** A row of `sumEntries`; the driver returns `bigint` and `numeric` as text. */
interface LinkRow extends Record<string, unknown> {
  readonly wallet: string
  readonly first: string
  readonly last: string
  readonly entries: string
  readonly total: string
  readonly start: string
  readonly end: string
  readonly broken: string
  readonly sold: string
  readonly spent: string
  readonly topups: string
}

/**
 * Sums at most `limit` entries that follow a position, and returns one sum for each wallet, ordered by wallet.
 *
 * @param upTo the last wallet whose entries are summed; undefined for all wallets
 * @param claims accounts; later entries of their wallets than `entryCount` are left out
 * @param totalsUntil end of the time of the entries whose credits and top-ups are totalled; exclusive
 */
export async function sumEntries(
  db: Db,
  after: ProofPosition,
  upTo: string | undefined,
  claims: readonly AccountState[],
  limit: number,
  totalsUntil: Date,
): Promise<WalletEntrySum[]> {
  const known = {
    wallets: sql.param(claims.map(({ wallet }) => wallet)),
    counts: sql.param(claims.map(({ entryCount }) => entryCount)),
  }
  const isWithin = upTo === undefined ? sql`true` : sql`e.wallet <= ${upTo}`
  const rows = await db.execute<LinkRow>(sql`
    with batch as (
      select e.wallet, e.position, e.delta_credits as delta, e.balance_after_credits as after,
        case when e.created_at < ${totalsUntil} then e.type end as counted
      from ledger_entries e
      left join unnest(${known.wallets}::text[], ${known.counts}::bigint[]) as k(wallet, entries)
        on k.wallet = e.wallet
      where (e.wallet, e.position) > (${after.wallet}, ${after.position}::bigint) and ${isWithin}
        and (k.entries is null or e.position <= k.entries)
      order by e.wallet, e.position
      limit ${limit}
    ), linked as (
      select *, lag(position) over chain as previous, lag(after) over chain as before
      from batch window chain as (partition by wallet order by position)
    )
    select wallet, min(position) as first, max(position) as last, count(*) as entries,
      sum(delta) as total,
      (array_agg(after - delta order by position))[1] as start,
      (array_agg(after order by position desc))[1] as "end",
      count(*) filter (where previous is not null
        and (position <> previous + 1 or after <> before + delta)) as broken,
      coalesce(sum(delta) filter (where ${isSoldCondition(sql`counted`)}), 0) as sold,
      coalesce(-sum(delta) filter (where ${isSpentCondition(sql`counted`)}), 0) as spent,
      count(*) filter (where counted = 'topup') as topups
    from linked group by wallet order by wallet`)
  return rows.map(({ wallet, total, start, end, ...row }) => ({
    wallet,
    first: Number(row.first),
    last: Number(row.last),
    entries: Number(row.entries),
    totalCredits: Number(total),
    startCredits: Number(start),
    endCredits: Number(end),
    broken: Number(row.broken),
    sold: Number(row.sold),
    spent: Number(row.spent),
    topups: Number(row.topups),
  }))
}

/** SQL condition on the type of an entry: its credits were bought, or granted as a bonus. */
export function isSoldCondition(type: SQL): SQL {
  return sql`${type} in ('topup', 'bonus')`
}

/** SQL condition on the type of an entry: it spends credits, or refunds spent ones with the opposite sign. */
export function isSpentCondition(type: SQL): SQL {
  return sql`${type} in ('usage', 'subscription', 'refund')`
}

/** A stored proof; its properties are explained in `tables.ts`. */
export type ProofRow = typeof ledgerProofs.$inferSelect

/** Whether the proof of a UTC day (`YYYY-MM-DD`) is stored. */
export async function hasProof(db: Db, on: string): Promise<boolean> {
  const rows = await db
    .select({ on: ledgerProofs.on })
    .from(ledgerProofs)
    .where(eq(ledgerProofs.on, on))
  return rows.length > 0
}

/** Stores a proof, unless the day already has one. */
export async function insertProof(db: Db, proof: ProofRow): Promise<void> {
  await db.insert(ledgerProofs).values(proof).onConflictDoNothing()
}

/** The proof of the newest day; undefined before the first proof. */
export async function findLastProof(db: Db): Promise<ProofRow | undefined> {
  const [row] = await db.select().from(ledgerProofs).orderBy(desc(ledgerProofs.on)).limit(1)
  return row
}
