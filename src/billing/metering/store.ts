import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { deleteInBatches } from '#src/db/delete-in-batches.ts'
import { FREE_TIER_DAILY_CALLS } from '../price-list.ts'
import { usageReferencePrefix } from './rules.ts'
import { freeCalls } from './tables.ts'

/** The limit, inlined into statements as a constant. */
const LIMIT = sql.raw(String(FREE_TIER_DAILY_CALLS))

/** Free calls made on a UTC day (`YYYY-MM-DD`). */
export async function countFreeCalls(db: Db, subject: string, day: string): Promise<number> {
  const [row] = await db
    .select({ calls: freeCalls.calls })
    .from(freeCalls)
    .where(and(eq(freeCalls.subject, subject), eq(freeCalls.day, day)))
  return Math.min(row?.calls ?? 0, FREE_TIER_DAILY_CALLS)
}

/** Calls of one token for one price. */
export interface TokenCharge {
  /** SHA-256 of the token. */
  readonly hash: string
  readonly calls: number
  readonly priceCredits: number
  /**
   * Id of the batch. The references of its ledger entries contain the id.
   * @see usageReferencePrefix
   */
  readonly batch: string
  /** Note of the ledger entries. */
  readonly note: string
}

/** Result of a row. */
export interface TokenChargeResult {
  readonly tokenId: number
  readonly lastUsedAt: Date | null
  readonly wallet: string
  /**
   * Undefined if nothing was changed: another transaction held the lock of the account, or an earlier row
   * has the same wallet.
   */
  readonly charge: SettledCalls | undefined
}

/** Settlement of the calls of a row. */
export interface SettledCalls {
  readonly balanceBeforeCredits: number
  /** Number of calls counted as free on this day, including these calls; null when none were left. */
  readonly counted: number | null
  readonly free: number
  readonly paid: number
}

interface FoundRow extends Record<string, unknown> {
  readonly row: string
  readonly id: number
  readonly used_at: Date | null
  readonly wallet: string
  readonly balance: string | null
  readonly counted: number | null
  readonly free: number | null
  readonly paid: number | null
}

/**
 * Settles rows in one statement. For each row: finds the wallet by the token, takes free calls while there
 * are any, and pays the rest as far as the balance allows, with one ledger entry per paid call. Long
 * because it is a single SQL statement.
 *
 * An account is locked before it is read, so concurrent statements never take the same free call or credit
 * twice. With `isPatient` the statement waits for locked accounts, otherwise it skips them. If a wallet has
 * two rows, the second is skipped.
 *
 * Two statements cannot wait for each other. Of accounts, the one that does not wait skips locked ones, and the patient one
 * has only one. Of wallets without an account, rows of free calls are locked in the order of the wallets.
 *
 * @returns one result for each row, undefined where the token is not active
 */
export async function chargeTokens(
  db: Db,
  rows: readonly TokenCharge[],
  options: {
    /** Builds the query for `id`, `wallet` and `last_used_at` of the active token with a hash. */
    readonly activeToken: (hash: SQL) => SQL
    readonly at: Date
    readonly day: string
    readonly isPatient: boolean
  },
): Promise<readonly (TokenChargeResult | undefined)[]> {
  const { activeToken, day, isPatient } = options
  const at = sql`${options.at}::timestamptz`
  const column = (values: readonly unknown[]) => sql.param(values)
  // Plain SQL, because every metered call runs this query. Tokens are looked up one by one, so that
  // PostgreSQL can reuse one plan, whatever the number of rows.
  const settledRows = await db.execute<FoundRow>(sql`
    with asked as (
      select * from unnest(
        ${column(rows.map(({ hash }) => hash))}::text[],
        ${column(rows.map(({ calls }) => calls))}::int[],
        ${column(rows.map(({ priceCredits }) => priceCredits))}::int[],
        ${column(rows.map(({ batch }) => usageReferencePrefix(batch)))}::text[],
        ${column(rows.map(({ note }) => note))}::text[]
      ) with ordinality as asked (hash, calls, price, reference, note, row)
    ), caller as materialized (
      select asked.*, id, wallet, last_used_at as used_at,
        row_number() over (partition by wallet order by row) as turn
      from asked cross join lateral (${activeToken(sql`asked.hash`)} limit 1) as token
    ), account as materialized (
      select wallet, balance_credits as balance, entry_count as entries, last_entry_at from accounts
      where wallet = any(array(select wallet from caller))
      for update ${isPatient ? sql`` : sql`skip locked`}
    ), payer as materialized (
      select caller.*, coalesce(balance, 0) as balance, entries, last_entry_at
      from caller left join account using (wallet)
      where turn = 1 and (account.wallet is not null
        or not exists (select from accounts where accounts.wallet = caller.wallet))
    ), counted as (
      insert into free_calls (subject, day, calls)
      select wallet, ${day}::date, calls from payer
      where not exists (select from free_calls as known where known.subject = wallet
        and known.day = ${day}::date and known.calls >= ${LIMIT})
      order by wallet
      on conflict (subject, day) do update set calls = free_calls.calls + excluded.calls
        where free_calls.calls < ${LIMIT}
      returning subject as wallet, calls as counted
    ), charge as materialized (
      select payer.*, counted, free, least(calls - free, balance / price)::int as paid
      from payer left join counted using (wallet) cross join lateral (
        select case when counted is null then 0
          else least(calls, ${LIMIT} + calls - counted) end as free) as gratis
    ), entry as (
      insert into ledger_entries (wallet, position, type, delta_credits, balance_after_credits,
        reference, note, created_at)
      select wallet, entries + number, 'usage', -price, balance - number * price,
        reference || number, note, greatest(${at}, last_entry_at)
      from charge cross join generate_series(1, paid) as number
    ), changed as (
      update accounts set balance_credits = balance - paid * price, entry_count = entries + paid,
        last_entry_at = greatest(${at}, charge.last_entry_at)
      from charge where accounts.wallet = charge.wallet and paid > 0
    )
    select caller.row, caller.id, caller.used_at, caller.wallet, balance, counted, free, paid
    from caller left join charge on charge.row = caller.row`)
  const charged = new Map(
    settledRows.map((foundRow) => [Number(foundRow.row), toCharged(foundRow)]),
  )
  return rows.map((_, index) => charged.get(index + 1))
}

function toCharged({
  id,
  used_at,
  wallet,
  balance,
  counted,
  free,
  paid,
}: FoundRow): TokenChargeResult {
  const isDone = balance !== null && free !== null && paid !== null
  return {
    tokenId: id,
    lastUsedAt: used_at,
    wallet,
    charge: isDone ? { balanceBeforeCredits: Number(balance), counted, free, paid } : undefined,
  }
}

/**
 * Takes free calls of a subject while there are any.
 *
 * @returns the new count, including these calls; undefined when none were left
 */
export async function takeFreeCalls(
  db: Db,
  subject: string,
  day: string,
  calls: number,
): Promise<number | undefined> {
  const [counted] = await db.execute<{ calls: number }>(sql`
    insert into free_calls (subject, day, calls)
    select ${subject}::text, ${day}::date, ${calls}::int
    where not exists (select from free_calls
      where subject = ${subject} and day = ${day}::date and calls >= ${LIMIT})
    on conflict (subject, day) do update set calls = free_calls.calls + excluded.calls
      where free_calls.calls < ${LIMIT}
    returning calls`)
  return counted?.calls
}

/** Subtracts a call from the count of free calls. @returns the new count */
export async function refundFreeCall(db: Db, subject: string, day: string): Promise<number> {
  const [counted] = await db
    .update(freeCalls)
    .set({ calls: sql`greatest(0, least(${freeCalls.calls}, ${LIMIT}) - 1)` })
    .where(and(eq(freeCalls.subject, subject), eq(freeCalls.day, day)))
    .returning({ calls: freeCalls.calls })
  return counted?.calls ?? 0
}

/** Deletes the counts of days before `day`. */
export async function deleteFreeCallsBefore(db: Db, day: string): Promise<void> {
  await deleteInBatches(async (limit) => {
    const gone = await db.execute(sql`
      delete from ${freeCalls} where (subject, day) in (
        select subject, day from ${freeCalls} where day < ${day} order by day limit ${limit})
      returning subject`)
    return gone.length
  })
}

/** Notifies the channel `ledger` of wallets with new entries. */
export async function notifyLedger(db: Db, wallets: readonly string[]): Promise<void> {
  await db.execute(sql`
    select pg_notify('ledger', wallet) from unnest(${sql.param(wallets)}::text[]) as notified(wallet)`)
}

/** Deletes the counts of a wallet's free calls. */
export async function deleteFreeCalls(db: Db, subject: string): Promise<void> {
  await db.delete(freeCalls).where(eq(freeCalls.subject, subject))
}
