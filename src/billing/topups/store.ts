import { and, asc, desc, eq, getTableColumns, gt, isNull, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { deleteInBatches } from '#src/db/delete-in-batches.ts'
import type { Address } from '#src/kernel/units.ts'
import type { AssetKey } from '../price-list.ts'
import type { PaymentRefusal } from './model.ts'
import { notifyTopups, type PaymentRow } from './payment-store.ts'
import type { OpenQuotes } from './rules.ts'
import {
  topupPayments,
  topupPurchases,
  topupSubmissions,
  topups,
  unmatchedPayments,
} from './tables.ts'

export type TopupRow = typeof topups.$inferSelect
export type SubmissionRow = typeof topupSubmissions.$inferSelect

export type PurchaseRow = typeof topupPurchases.$inferSelect

/** A payment of a top-up, with the reason if it is unmatched. */
export interface PaymentOfTopup {
  readonly payment: PaymentRow
  readonly reason: PaymentRefusal | null
}

/** A top-up with its purchase and its payments, as one statement sees them. */
export interface TopupRecord {
  readonly topup: TopupRow
  readonly purchase: PurchaseRow | undefined
  /** Oldest first. */
  readonly payments: readonly PaymentOfTopup[]
}

/**
 * Stores a quote.
 * @returns false when the handle or the destination tag is taken
 */
export async function insertTopup(db: Db, topup: TopupRow): Promise<boolean> {
  const inserted = await db
    .insert(topups)
    .values(topup)
    .onConflictDoNothing()
    .returning({ handle: topups.handle })
  return inserted.length > 0
}

/** The top-up of a handle; with `wallet`, only if it belongs to that wallet. */
export async function findTopup(
  db: Db,
  handle: string,
  wallet?: Address,
): Promise<TopupRow | undefined> {
  const [row] = await db
    .select()
    .from(topups)
    .where(and(eq(topups.handle, handle), wallet && eq(topups.wallet, wallet)))
  return row
}

/** Like `findTopup`, but locks the row (`FOR UPDATE`). */
export async function lockTopup(tx: Db, handle: string): Promise<TopupRow | undefined> {
  const [row] = await tx.select().from(topups).where(eq(topups.handle, handle)).for('update')
  return row
}

/** Quotes of a wallet that have not expired at `now`, newest first. */
export function listOpenQuotes(
  db: Db,
  { wallet, now, limit }: { readonly wallet: Address; readonly now: Date; readonly limit: number },
): Promise<TopupRow[]> {
  return db
    .select()
    .from(topups)
    .where(
      and(eq(topups.wallet, wallet), gt(topups.expiresAt, now), isNull(topups.authorizationNonce)),
    )
    .orderBy(desc(topups.createdAt))
    .limit(limit)
}

/** A quote, with a payment for it if one is recorded. */
export interface QuoteWithPayment {
  readonly handle: string
  readonly wallet: string
  /** Contract of a token; null for coins. */
  readonly token: string | null
  readonly payTo: string
  readonly contractPayTo: string | null
  readonly amountUnits: bigint
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Way, transaction, asset and amount of the recorded payment; null if there is none. */
  readonly payment: Pick<
    typeof topupPayments.$inferSelect,
    'way' | 'txHash' | 'asset' | 'amountUnits'
  > | null
}

/** Quotes of these wallets that were created after `since`: one row for each payment, or one row without a payment. */
export function listQuotesWithPayments(
  db: Db,
  wallets: readonly Address[],
  since: Date,
): Promise<QuoteWithPayment[]> {
  return db
    .select({
      handle: topups.handle,
      wallet: topups.wallet,
      token: topups.token,
      payTo: topups.payTo,
      contractPayTo: topups.contractPayTo,
      amountUnits: topups.amountUnits,
      createdAt: topups.createdAt,
      expiresAt: topups.expiresAt,
      payment: {
        way: topupPayments.way,
        txHash: topupPayments.txHash,
        asset: topupPayments.asset,
        amountUnits: topupPayments.amountUnits,
      },
    })
    .from(topups)
    .leftJoin(topupPayments, eq(topupPayments.handle, topups.handle))
    .where(
      and(
        sql`${topups.wallet} = any(${sql.param([...wallets])}::text[])`,
        gt(topups.createdAt, since),
      ),
    )
}

/** The quote that replaced another one. */
export async function findRenewal(db: Db, handle: string): Promise<TopupRow | undefined> {
  const [row] = await db.select().from(topups).where(eq(topups.renews, handle))
  return row
}

/**
 * Amounts that may still be paid for open quotes of an asset: all quotes of this wallet, and the largest
 * quote of every other wallet, so that no wallet can exhaust the cap by many quotes. Quotes with payments
 * count as holdings.
 */
export async function sumOpenQuotes(
  db: Db,
  {
    asset,
    wallet,
    now,
  }: { readonly asset: AssetKey; readonly wallet: Address; readonly now: Date },
): Promise<OpenQuotes> {
  const [row] = await db.execute<{ own: string; payers: string; others: string }>(sql`
    with open as (
      select wallet, sum(amount_units) as total, max(amount_units) as largest from topups t
      where asset = ${asset} and expires_at > ${now}
        and not exists (select from topup_payments p where p.handle = t.handle)
      group by wallet
    ), judged as (
      select *, wallet = ${wallet} as is_own, exists (
        select from ledger_entries e
        where e.wallet = open.wallet and e.type = 'topup' and e.type <> 'usage') as is_payer
      from open
    )
    select coalesce(sum(total) filter (where is_own), 0) as own,
      coalesce(sum(largest) filter (where not is_own and is_payer), 0) as payers,
      coalesce(sum(largest) filter (where not is_own and not is_payer), 0) as others
    from judged`)
  return {
    own: BigInt(row?.own ?? 0),
    payers: BigInt(row?.payers ?? 0),
    others: BigInt(row?.others ?? 0),
  }
}

/** The top-up of a destination tag. */
export async function findTopupByTag(db: Db, tag: number): Promise<TopupRow | undefined> {
  const [row] = await db.select().from(topups).where(eq(topups.destinationTag, tag))
  return row
}

/** Submitted transactions of a top-up without a payment, oldest first. */
export function listSubmittedTransactions(db: Db, handle: string): Promise<SubmissionRow[]> {
  return db
    .select()
    .from(topupSubmissions)
    .where(eq(topupSubmissions.handle, handle))
    .orderBy(asc(topupSubmissions.submittedAt), asc(topupSubmissions.txHash))
}

/** A submitted transaction of a top-up without a payment so far. */
export async function findSubmission(
  db: Db,
  of: Pick<SubmissionRow, 'handle' | 'txHash'>,
): Promise<SubmissionRow | undefined> {
  const [row] = await db.select().from(topupSubmissions).where(sameSubmission(of))
  return row
}

/**
 * Stores the state of a submitted transaction. A transaction that is submitted again keeps its first time.
 */
export async function saveSubmission(db: Db, submission: SubmissionRow): Promise<void> {
  const { state, reason, checkedAt } = submission
  await db
    .insert(topupSubmissions)
    .values(submission)
    .onConflictDoUpdate({
      target: [topupSubmissions.handle, topupSubmissions.txHash],
      set: { state, reason, checkedAt },
    })
  await deleteExcess(db, submission)
  await notifyTopups(db, [submission])
}

/**
 * Maximum number of submitted transactions that are unknown or contain no payment: per top-up, and per
 * wallet.
 */
const IDLE_PER_HANDLE = 10
const IDLE_PER_WALLET = 50

/**
 * Deletes the oldest submitted transactions beyond the limits; pending transactions and the given
 * transaction stay.
 */
async function deleteExcess(
  db: Db,
  { handle, wallet, txHash }: Pick<SubmissionRow, 'handle' | 'wallet' | 'txHash'>,
): Promise<void> {
  for (const [column, value, limit] of [
    [topupSubmissions.handle, handle, IDLE_PER_HANDLE],
    [topupSubmissions.wallet, wallet, IDLE_PER_WALLET],
  ] as const) {
    await db.execute(sql`
      delete from ${topupSubmissions} where (handle, tx_hash) in (
        select handle, tx_hash from ${topupSubmissions}
        where ${column} = ${value} and not (state = 'submitted' and reason is null)
        order by (handle, tx_hash) = (${handle}, ${txHash}) desc, submitted_at desc, tx_hash
        offset ${limit})`)
  }
}

/** Deletes transactions that were submitted before the instant. */
export async function deleteSubmissionsBefore(db: Db, instant: Date): Promise<void> {
  const before = sql`${instant.toISOString()}::timestamptz`
  await deleteInBatches(async (limit) => {
    const gone = await db.execute(sql`
      delete from ${topupSubmissions} where (handle, tx_hash) in (
        select handle, tx_hash from ${topupSubmissions}
        where submitted_at < ${before} order by submitted_at limit ${limit})
      returning handle`)
    return gone.length
  })
}

/** Deletes quotes that expired before the instant and have no payments, and their purchases. */
export async function deleteUnpaidQuotes(db: Db, instant: Date): Promise<void> {
  const before = sql`${instant.toISOString()}::timestamptz`
  await deleteInBatches(async (limit) => {
    const gone = await db.execute(sql`
      with quotes as (
        delete from ${topups} where handle in (
          select handle from ${topups} t
          where expires_at < ${before}
            and not exists (select from ${topupPayments} p where p.handle = t.handle)
            and not exists (select from ${topupSubmissions} s where s.handle = t.handle)
          order by expires_at limit ${limit})
        returning handle
      ), purchases as (
        delete from ${topupPurchases} where handle in (select handle from quotes)
      )
      select handle from quotes`)
    return gone.length
  })
}

/** Makes the service look again for a submitted transaction that it had given up. */
export async function retrySubmission(
  db: Db,
  of: Pick<SubmissionRow, 'handle' | 'txHash'>,
  at: Date,
): Promise<void> {
  await db
    .update(topupSubmissions)
    .set({ submittedAt: at })
    .where(and(sameSubmission(of), eq(topupSubmissions.state, 'dropped')))
}

/** Deletes a submitted transaction whose payments are stored, or that pays another top-up. */
export async function deleteSubmission(
  db: Db,
  of: Pick<SubmissionRow, 'handle' | 'txHash'>,
): Promise<void> {
  await db.delete(topupSubmissions).where(sameSubmission(of))
}

/** Submitted transactions to look for: first one of each wallet, the longest unchecked first. */
export async function listWaitingSubmissions(db: Db, limit: number): Promise<SubmissionRow[]> {
  const waiting = db.$with('waiting').as(
    db
      .select({
        ...getTableColumns(topupSubmissions),
        turn: sql<number>`row_number() over (
          partition by ${topupSubmissions.wallet} order by ${topupSubmissions.checkedAt})`.as(
          'turn',
        ),
      })
      .from(topupSubmissions)
      .where(eq(topupSubmissions.state, 'submitted')),
  )
  return await db
    .with(waiting)
    .select()
    .from(waiting)
    .orderBy(asc(waiting.turn), asc(waiting.checkedAt))
    .limit(limit)
}

/** An unmatched payment with what is known of it. */
export interface UnmatchedPayment {
  readonly payment: PaymentRow
  readonly reason: PaymentRefusal
  readonly foundAt: Date
}

/** Unmatched payments, oldest first. */
export async function listUnmatched(db: Db, limit: number): Promise<UnmatchedPayment[]> {
  return await db
    .select({
      payment: getTableColumns(topupPayments),
      reason: unmatchedPayments.reason,
      foundAt: unmatchedPayments.foundAt,
    })
    .from(unmatchedPayments)
    .innerJoin(topupPayments, isSamePayment())
    .orderBy(asc(unmatchedPayments.foundAt))
    .limit(limit)
}

function isSamePayment() {
  return and(
    eq(unmatchedPayments.txHash, topupPayments.txHash),
    eq(unmatchedPayments.logIndex, topupPayments.logIndex),
  )
}

/** Number of payments that wait for an operator. */
export async function countUnmatched(db: Db): Promise<number> {
  return await db.$count(unmatchedPayments)
}

/** Deletes the mark that a payment is unmatched. @returns false if it had none */
export async function deleteUnmatched(
  tx: Db,
  { txHash, logIndex }: Pick<PaymentRow, 'txHash' | 'logIndex'>,
): Promise<boolean> {
  const { txHash: hash, logIndex: index } = unmatchedPayments
  const gone = await tx
    .delete(unmatchedPayments)
    .where(and(eq(hash, txHash), eq(index, logIndex)))
    .returning()
  return gone.length > 0
}

/**
 * Gives the wallet's top-ups and the payers of their payments another name, and deletes the transactions that it named.
 *
 * Authorizations that can still be paid keep the name by which the chain tells their transfer. Without it the transfer
 * would never be credited.
 */
export async function renameTopups(db: Db, wallet: Address, pseudonym: Address): Promise<void> {
  await db.execute(sql`
    with renamed as (
      update topups set wallet = ${pseudonym}
      where wallet = ${wallet} and authorization_block is null
      returning handle
    )
    update topup_payments set payer = ${pseudonym} where handle in (select handle from renamed)`)
  await db
    .update(topupPurchases)
    .set({
      wallet: pseudonym,
      doneAt: sql`coalesce(${topupPurchases.doneAt}, ${topupPurchases.createdAt})`,
    })
    .where(eq(topupPurchases.wallet, wallet))
  await db.delete(topupSubmissions).where(eq(topupSubmissions.wallet, wallet))
}

/** Stores an unmatched payment. */
export async function insertUnmatched(
  db: Db,
  payment: typeof unmatchedPayments.$inferInsert,
): Promise<void> {
  await db.insert(unmatchedPayments).values(payment)
}

function sameSubmission({ handle, txHash }: Pick<SubmissionRow, 'handle' | 'txHash'>) {
  return and(eq(topupSubmissions.handle, handle), eq(topupSubmissions.txHash, txHash))
}

/** The record of a handle; with `wallet`, only if the top-up belongs to that wallet. */
export async function findRecord(
  db: Db,
  handle: string,
  wallet?: Address,
): Promise<TopupRecord | undefined> {
  const rows = await db
    .select({
      topup: topups,
      purchase: topupPurchases,
      payment: topupPayments,
      reason: unmatchedPayments.reason,
    })
    .from(topups)
    .leftJoin(topupPurchases, eq(topupPurchases.handle, topups.handle))
    .leftJoin(topupPayments, eq(topupPayments.handle, topups.handle))
    .leftJoin(
      unmatchedPayments,
      and(
        eq(unmatchedPayments.txHash, topupPayments.txHash),
        eq(unmatchedPayments.logIndex, topupPayments.logIndex),
      ),
    )
    .where(and(eq(topups.handle, handle), wallet && eq(topups.wallet, wallet)))
    .orderBy(asc(topupPayments.blockNumber), asc(topupPayments.logIndex))
  const [first] = rows
  if (first === undefined) return undefined
  return {
    topup: first.topup,
    purchase: first.purchase ?? undefined,
    payments: rows.flatMap(({ payment, reason }) => (payment === null ? [] : { payment, reason })),
  }
}

export async function insertPurchase(
  db: Db,
  row: Omit<PurchaseRow, 'subscriptionId' | 'reason' | 'doneAt'>,
): Promise<PurchaseRow | undefined> {
  const [inserted] = await db.insert(topupPurchases).values(row).returning()
  return inserted
}

/** The pending purchase of a top-up, locked (`FOR UPDATE`). */
export async function lockPendingPurchase(
  tx: Db,
  handle: string,
): Promise<PurchaseRow | undefined> {
  const [row] = await tx.select().from(topupPurchases).where(isWaiting(handle)).for('update')
  return row
}

/**
 * Records that a purchase was made.
 *
 * @param done `handle`: the top-up whose payment paid for it
 */
export async function markPurchaseDone(
  tx: Db,
  handle: string,
  done: Pick<PurchaseRow, 'handle' | 'subscriptionId' | 'doneAt'>,
): Promise<void> {
  await tx
    .update(topupPurchases)
    .set({ ...done, reason: null })
    .where(eq(topupPurchases.handle, handle))
}

/** Records why a purchase could not be made. */
export async function markPurchaseRefused(tx: Db, handle: string, reason: string): Promise<void> {
  await tx.update(topupPurchases).set({ reason }).where(eq(topupPurchases.handle, handle))
}

/** Moves a pending purchase to another top-up. @returns the moved purchase; undefined if none was pending */
export async function movePendingPurchase(
  tx: Db,
  from: string,
  to: string,
): Promise<PurchaseRow | undefined> {
  const [moved] = await tx
    .update(topupPurchases)
    .set({ handle: to })
    .where(isWaiting(from))
    .returning()
  return moved
}

function isWaiting(handle: string) {
  return and(eq(topupPurchases.handle, handle), isNull(topupPurchases.subscriptionId))
}
