import { and, asc, eq, gt, isNotNull, isNull, lte, min, ne, not, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { TOPUPS_CHANNEL } from './model.ts'
import { paymentCursors, paymentGaps, topupPayments } from './tables.ts'

export type PaymentRow = typeof topupPayments.$inferSelect
export type NewPayment = Omit<
  PaymentRow,
  'settledAt' | 'confirmations' | 'credits' | 'bonusCredits'
>

/** Key of a payment: its transaction and the index of its event. */
type PaymentId = Pick<PaymentRow, 'txHash' | 'logIndex'>

/** Stores a payment. A payment that is known and not settled moves to the given block. */
export async function savePayment(db: Db, payment: NewPayment): Promise<void> {
  const { seenAt: _, txHash: _hash, logIndex: _index, ...facts } = payment
  await db
    .insert(topupPayments)
    .values(payment)
    .onConflictDoUpdate({
      target: [topupPayments.txHash, topupPayments.logIndex],
      set: facts,
      setWhere: isNull(topupPayments.settledAt),
    })
}

/** Payments of a transaction, settled or not, in order. */
export function listPaymentsInTransaction(db: Db, txHash: string): Promise<PaymentRow[]> {
  return listPaymentsFrom(db, { txHash, authorized: undefined })
}

/**
 * Sum of the payments of a top-up in blocks up to `until`, without the given payment.
 *
 * @param only `credited`: settled with credits; `all`: also payments that are not settled yet
 */
export async function sumPaid(
  db: Db,
  { handle, txHash, logIndex, asset }: PaymentRow,
  until: Date,
  only: 'credited' | 'all',
): Promise<bigint> {
  const table = topupPayments
  const [row] = await db
    .select({ units: sql<string>`coalesce(sum(${table.amountUnits}), 0)` })
    .from(table)
    .where(
      and(
        eq(table.handle, handle ?? ''),
        eq(table.asset, asset),
        lte(table.blockAt, until),
        not(and(eq(table.txHash, txHash), eq(table.logIndex, logIndex)) ?? sql`false`),
        only === 'credited' ? isNotNull(table.credits) : undefined,
      ),
    )
  return BigInt(row?.units ?? 0)
}

/** Amounts of the FLR payments of one kind (`way`) in the blocks after `after`, up to `upTo`. */
export function listCoinPayments(
  db: Db,
  way: 'native' | 'router',
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<{ amountUnits: bigint }[]> {
  const { blockNumber, amountUnits, asset } = topupPayments
  return db
    .select({ amountUnits })
    .from(topupPayments)
    .where(
      and(
        eq(topupPayments.way, way),
        eq(asset, 'FLR'),
        gt(blockNumber, after),
        lte(blockNumber, upTo),
      ),
    )
}

/** Position of a payment in the order in which payments were seen. */
export type PaymentPosition = PaymentId & Pick<PaymentRow, 'seenAt'>

/** Payments that are not settled, in the order in which they were seen, after the given position. */
export function listOpenPayments(
  db: Db,
  after: PaymentPosition | undefined,
  limit: number,
): Promise<PaymentRow[]> {
  const { seenAt, txHash, logIndex, settledAt } = topupPayments
  const place = sql`(${seenAt}, ${txHash}, ${logIndex})`
  const behind =
    after &&
    sql`${place} > (${after.seenAt.toISOString()}::timestamptz, ${after.txHash}, ${after.logIndex}::integer)`
  return db
    .select()
    .from(topupPayments)
    .where(and(isNull(settledAt), behind))
    .orderBy(asc(seenAt), asc(txHash), asc(logIndex))
    .limit(limit)
}

/** Where a payment comes from: its transaction, or the authorization of its top-up. */
export interface PaymentOrigin {
  readonly txHash: string
  /** Handle of the top-up of an authorization, which is used once in whatever transaction; undefined for other payments. */
  readonly authorized: string | undefined
}

function isFrom({ txHash, authorized }: PaymentOrigin) {
  const { way, handle } = topupPayments
  if (authorized === undefined) return eq(topupPayments.txHash, txHash)
  return and(eq(handle, authorized), eq(way, 'authorization'))
}

/** Payments of one origin, settled or not, in order. */
export function listPaymentsFrom(db: Db, origin: PaymentOrigin): Promise<PaymentRow[]> {
  return db.select().from(topupPayments).where(isFrom(origin)).orderBy(asc(topupPayments.logIndex))
}

/** Deletes payments of one origin that are not settled and are stored with another block than `blockHash`. */
export async function deleteMovedPayments(
  db: Db,
  origin: PaymentOrigin,
  blockHash: string,
): Promise<PaymentRow[]> {
  const isOpen = isNull(topupPayments.settledAt)
  return await db
    .delete(topupPayments)
    .where(and(isFrom(origin), ne(topupPayments.blockHash, blockHash), isOpen))
    .returning()
}

/** Deletes the payments of a transaction that are not settled. */
export async function deleteOpenPayments(db: Db, txHash: string): Promise<PaymentRow[]> {
  return await db
    .delete(topupPayments)
    .where(and(eq(topupPayments.txHash, txHash), isNull(topupPayments.settledAt)))
    .returning()
}

/**
 * Settles a payment that is in the given block, once; a concurrent call waits.
 *
 * @returns false when the payment is already settled, or has moved to another block
 */
export async function markPaymentSettled(
  db: Db,
  { txHash, logIndex, blockHash }: PaymentId & Pick<PaymentRow, 'blockHash'>,
  settled: Pick<PaymentRow, 'settledAt' | 'confirmations' | 'credits' | 'bonusCredits'>,
): Promise<boolean> {
  const changed = await db
    .update(topupPayments)
    .set(settled)
    .where(
      and(
        eq(topupPayments.txHash, txHash),
        eq(topupPayments.logIndex, logIndex),
        eq(topupPayments.blockHash, blockHash),
        isNull(topupPayments.settledAt),
      ),
    )
    .returning({ handle: topupPayments.handle })
  await notifyTopups(db, changed)
  return changed.length > 0
}

/** The payment with this key; undefined if none was seen. */
export async function findPayment(
  db: Db,
  { txHash, logIndex }: PaymentId,
): Promise<PaymentRow | undefined> {
  const [row] = await db
    .select()
    .from(topupPayments)
    .where(and(eq(topupPayments.txHash, txHash), eq(topupPayments.logIndex, logIndex)))
  return row
}

/** Writes the credits of a payment that an operator matched with a wallet. */
export async function saveMatch(
  tx: Db,
  { txHash, logIndex }: PaymentId,
  credits: number,
): Promise<void> {
  const changed = await tx
    .update(topupPayments)
    .set({ credits, bonusCredits: 0 })
    .where(and(eq(topupPayments.txHash, txHash), eq(topupPayments.logIndex, logIndex)))
    .returning({ handle: topupPayments.handle })
  await notifyTopups(tx, changed)
}

/** Notifies of changed payments of these top-ups, on commit. */
export async function notifyTopups(
  db: Db,
  changed: readonly { readonly handle: string | null }[],
): Promise<void> {
  const handles = new Set(changed.flatMap(({ handle }) => handle ?? []))
  if (handles.size === 0) return
  await db.execute(sql`
    select pg_notify(${TOPUPS_CHANNEL}, handle)
    from unnest(${sql.param([...handles])}::text[]) as notified(handle)`)
}

/** Notifies of all payments on Flare that are not settled, because a new block gives each a further confirmation. */
export async function notifyOpenFlarePayments(db: Db): Promise<void> {
  const { handle, settledAt, way } = topupPayments
  const open = await db
    .selectDistinct({ handle })
    .from(topupPayments)
    .where(and(isNull(settledAt), ne(way, 'xrpl')))
  await notifyTopups(db, open)
}

export type CursorRow = typeof paymentCursors.$inferSelect
export type PaymentChain = CursorRow['chain']

/** Read position of a chain; undefined before the first reading. */
export async function findPaymentCursor(
  db: Db,
  chain: PaymentChain,
): Promise<CursorRow | undefined> {
  const [row] = await db.select().from(paymentCursors).where(eq(paymentCursors.chain, chain))
  return row
}

/** Like `findPaymentCursor`, but locks the row (`FOR UPDATE`). */
export async function lockPaymentCursor(
  tx: Db,
  chain: PaymentChain,
): Promise<CursorRow | undefined> {
  const { chain: name } = paymentCursors
  const [row] = await tx.select().from(paymentCursors).where(eq(name, chain)).for('update')
  return row
}

/** Stores the first read position of a chain, unless there is one. */
export async function insertPaymentCursor(
  db: Db,
  cursor: typeof paymentCursors.$inferInsert,
): Promise<void> {
  await db.insert(paymentCursors).values(cursor).onConflictDoNothing()
}

/** Moves the read position forward; never back. */
export async function movePaymentCursor(
  db: Db,
  chain: PaymentChain,
  position: number,
): Promise<void> {
  await db
    .update(paymentCursors)
    .set({ position: sql`greatest(${paymentCursors.position}, ${position}::bigint)` })
    .where(eq(paymentCursors.chain, chain))
}

/**
 * Stores the newest block seen.
 * @returns whether it changed
 */
export async function saveTip(db: Db, chain: PaymentChain, tip: number): Promise<boolean> {
  const isOther = sql`${paymentCursors.tip} is distinct from ${tip}::bigint`
  const changed = await db
    .update(paymentCursors)
    .set({ tip })
    .where(and(eq(paymentCursors.chain, chain), isOther))
    .returning({ chain: paymentCursors.chain })
  return changed.length > 0
}

/** Stores an address's balance at the end of a block up to which payments explain the whole balance. */
export async function saveExplainedBalance(
  db: Db,
  balance: {
    readonly balanceOf: string
    readonly balanceBlock: number
    readonly balanceUnits: bigint
  },
): Promise<void> {
  await db.update(paymentCursors).set(balance).where(eq(paymentCursors.chain, 'flare'))
}

export type GapRow = typeof paymentGaps.$inferSelect

/**
 * Counts a failed reading of a block.
 * @returns the number of failed readings, including this one
 */
export async function countFailedRead(db: Db, blockNumber: number, at: Date): Promise<number> {
  const [row] = await db
    .insert(paymentGaps)
    .values({ blockNumber, tries: 1, firstFailedAt: at })
    .onConflictDoUpdate({
      target: paymentGaps.blockNumber,
      set: { tries: sql`${paymentGaps.tries} + 1` },
    })
    .returning({ tries: paymentGaps.tries })
  return row?.tries ?? 1
}

/** Records a gap: the scan continues after the block, which is read again at `nextTryAt`. */
export async function recordGap(
  db: Db,
  blockNumber: number,
  times: { readonly recordedAt: Date; readonly nextTryAt: Date },
): Promise<void> {
  await db.update(paymentGaps).set(times).where(eq(paymentGaps.blockNumber, blockNumber))
}

/** Sets the next reading of a recorded gap. */
export async function deferGap(db: Db, blockNumber: number, nextTryAt: Date): Promise<void> {
  await db
    .update(paymentGaps)
    .set({ nextTryAt, tries: sql`${paymentGaps.tries} + 1` })
    .where(eq(paymentGaps.blockNumber, blockNumber))
}

/** Recorded gaps due by `now`, the longest due first. */
export function listDueGaps(db: Db, now: Date, limit: number): Promise<GapRow[]> {
  const { nextTryAt, blockNumber } = paymentGaps
  return db
    .select()
    .from(paymentGaps)
    .where(lte(nextTryAt, now))
    .orderBy(asc(nextTryAt), asc(blockNumber))
    .limit(limit)
}

/** The lowest recorded gap; undefined when there is none. */
export async function findFirstGap(db: Db): Promise<number | undefined> {
  const { blockNumber, recordedAt } = paymentGaps
  const [row] = await db
    .select({ first: min(blockNumber) })
    .from(paymentGaps)
    .where(isNotNull(recordedAt))
  return row?.first ?? undefined
}

/** Deletes a gap that has been read. */
export async function deleteGap(db: Db, blockNumber: number): Promise<void> {
  await db.delete(paymentGaps).where(eq(paymentGaps.blockNumber, blockNumber))
}

/** Deletes the counts of failed readings of blocks up to `upTo` that have been read. */
export async function deleteFailedReadCounts(db: Db, upTo: number): Promise<void> {
  const { blockNumber, recordedAt } = paymentGaps
  await db.delete(paymentGaps).where(and(lte(blockNumber, upTo), isNull(recordedAt)))
}
