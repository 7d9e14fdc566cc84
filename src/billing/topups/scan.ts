/**
 * Finding payments: blocks and ledgers are read up to the tip. Blocks that no endpoint can read are gaps: later blocks are
 * read, and the gaps are retried until they can be read.
 */
import { transact } from '#src/db/connection.ts'
import { isSharedFailure } from '#src/db/isolate.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { followAuthorizations } from './authorizations.ts'
import {
  type CursorRow,
  countFailedRead,
  deferGap,
  deleteFailedReadCounts,
  deleteGap,
  findPaymentCursor,
  insertPaymentCursor,
  listDueGaps,
  listOpenPayments,
  lockPaymentCursor,
  movePaymentCursor,
  notifyOpenFlarePayments,
  type PaymentPosition,
  recordGap,
  saveTip,
} from './payment-store.ts'
import { recordPayments } from './payments.ts'
import { type FollowDeps, isChainUnavailable, startSettling } from './settle.ts'
import { compareBalance } from './unexplained.ts'

/** Maximum number of blocks of one reading; halved after each failed reading, then raised again. */
const SPAN_MAX = 1000
/** Maximum number of readings of one pass, for example after a long stop. */
const READINGS_PER_PASS = 10

const PAYMENTS_PER_PAGE = 100
/** Accepted difference between the host's clock and the XRP Ledger's. */
const XRPL_CLOCK_TOLERANCE_MS = 600_000

/** Failed readings after which a block becomes a gap. */
const TRIES = 10
/** Maximum number of gaps retried in one pass. */
const GAPS_PER_PASS = 20
/** Bounds of the interval between two readings of a gap, which doubles each time. */
const AGAIN_MIN_MS = 10_000
/** Longest wait for the next reading of a gap. */
export const AGAIN_MAX_MS = HOUR_MS

/** The steps of a pass, in order. */
const TURNS = [
  ...[beginComparing, readFlare, readGaps, readXrpl, followAuthorizations],
  ...[settlePages, compareBalance],
] as const

/**
 * Runs one pass: reads payments since the last pass, settles payments that are deep enough, and then
 * compares balances. Payments that the comparison finds are settled by the next pass. After a failure the
 * next pass continues from the stored state.
 *
 * @throws the first failure, after every step has run
 */
export async function settlePayments(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  for (const turn of TURNS) {
    if (signal.aborted) break
    try {
      await turn(deps, signal)
    } catch (error) {
      // Without a database no other step can succeed.
      if (isSharedFailure(error) && !isChainUnavailable(error)) throw error
      failures.push(error)
    }
  }
  if (failures.length === 0) return
  throw failures.find((error) => !isChainUnavailable(error)) ?? failures[0]
}

/** Starts the comparison of balances of a new payment address, before its blocks are read. */
async function beginComparing(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const cursor = await findPaymentCursor(deps.db, 'flare')
  if (cursor?.balanceOf !== deps.billing.payments.nativePayTo) await compareBalance(deps, signal)
}

/** Starts reading payments of a chain, before the first payment can be made. */
export async function beginPaymentScan(
  { db, chain, clock, confirmations }: FollowDeps,
  which: CursorRow['chain'],
  signal?: AbortSignal,
): Promise<CursorRow> {
  const savedCursor = await findPaymentCursor(db, which)
  if (savedCursor !== undefined) return savedCursor
  const block = which === 'flare' ? await chain.confirmedBlock(confirmations, signal) : undefined
  const position = block?.number ?? null
  await insertPaymentCursor(db, { chain: which, position, tip: position, sinceAt: clock.now() })
  const cursor = await findPaymentCursor(db, which)
  if (cursor === undefined) throw new Error('a payment cursor was neither found nor created')
  return cursor
}

/**
 * Reads blocks up to the tip. An unreadable block is retried, and recorded as a gap after ten tries unless
 * it may still be replaced. The cursor stays behind the tip by the confirmations, so that blocks that may
 * still be replaced are read again.
 */
async function readFlare(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { db, chain, clock, confirmations } = deps
  const { router, nativePayTo: payTo } = deps.billing.payments
  if (router === undefined && payTo === undefined) return
  const cursor = await beginPaymentScan(deps, 'flare', signal)
  const tip = (await chain.confirmedBlock(1, signal)).number
  let from = (cursor.position ?? tip) + 1
  let span = SPAN_MAX
  for (let reading = 0; reading < READINGS_PER_PASS && from <= tip; reading += 1) {
    const to = Math.min(from + span - 1, tip)
    const read = await chain.paymentsBetween(from, to, { router, payTo }, signal).then(
      (payments) => ({ payments }),
      (error: unknown) => {
        if (!isChainUnavailable(error)) throw error
        return { error }
      },
    )
    if ('error' in read) {
      span = Math.max(1, Math.floor((to - from) / 4))
      if (to > from) continue
      const isDeep = from <= tip - confirmations + 1
      if (!isDeep || !(await recordUnreadable(deps, from, read.error, signal))) throw read.error
      from += 1
      continue
    }
    const { payments } = read
    const upTo = Math.min(to, tip - confirmations + 1)
    await transact(db, async (tx) => {
      await recordPayments(deps, tx, payments, clock.now())
      await movePaymentCursor(tx, 'flare', upTo)
      await deleteFailedReadCounts(tx, upTo)
    })
    from = to + 1
    span = Math.min(span * 2, SPAN_MAX)
  }
  if (await saveTip(db, 'flare', tip)) await notifyOpenFlarePayments(db)
}

/** Reads validated ledgers, which are final. Deposits before the service's first day are ignored. */
async function readXrpl(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { db, xrpl, clock } = deps
  if (xrpl === undefined) return
  const cursor = await beginPaymentScan(deps, 'xrpl', signal)
  const since = cursor.sinceAt.getTime() - XRPL_CLOCK_TOLERANCE_MS
  let position = cursor.position ?? undefined
  for (let reading = 0; reading < READINGS_PER_PASS; reading += 1) {
    const { payments, upTo } = await xrpl.deposits(position, signal)
    const ours = payments.filter(({ block }) => block.at.getTime() >= since)
    await transact(db, async (tx) => {
      await recordPayments(deps, tx, ours, clock.now())
      await movePaymentCursor(tx, 'xrpl', upTo)
    })
    if (payments.length === 0 || upTo === position) break
    position = upTo
  }
}

async function settlePages(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const settling = startSettling(deps)
  for (let after: PaymentPosition | undefined; ; ) {
    const page = await listOpenPayments(deps.db, after, PAYMENTS_PER_PAGE)
    await settling.settle(page, signal)
    after = page.at(-1)
    if (after === undefined) break
  }
  settling.end()
}

/**
 * Counts a failed reading of a block that has enough confirmations, if no endpoint can read the block. After ten failed
 * readings the block becomes a gap, in the transaction that moves the cursor past it; it is logged and counted in the
 * quarantine.
 *
 * @returns whether the cursor is at or past the block, so that the scan can go on
 */
async function recordUnreadable(
  deps: FollowDeps,
  block: number,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  const { db, chain, clock, log, quarantine } = deps
  const { router, nativePayTo: payTo } = deps.billing.payments
  if (!(await chain.isUnproven(block, { router, payTo }, signal))) return false
  const recordedAt = clock.now()
  const nextTryAt = new Date(recordedAt.getTime() + AGAIN_MIN_MS)
  const outcome = await transact(db, async (tx) => {
    const cursor = await lockPaymentCursor(tx, 'flare')
    if ((cursor?.position ?? 0) >= block) return 'passed'
    if ((await countFailedRead(tx, block, recordedAt)) < TRIES) return 'waits'
    await recordGap(tx, block, { recordedAt, nextTryAt })
    await movePaymentCursor(tx, 'flare', block)
    return 'recorded'
  })
  if (outcome === 'recorded') {
    const fields = { block, tries: TRIES, nextTryAt }
    log.error(
      fields,
      'block cannot be read for payments; later blocks are read, and this block is retried',
    )
    quarantine.add('payment-gap', block, error)
  }
  return outcome !== 'waits'
}

/** Retries due gaps. Payments of a block that can be read are recorded as usual. */
async function readGaps(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { db, chain, clock, log, quarantine } = deps
  const { router, nativePayTo: payTo } = deps.billing.payments
  const due = await listDueGaps(db, clock.now(), GAPS_PER_PASS)
  for (const { blockNumber, tries } of due) {
    if (signal.aborted) return
    try {
      const paid = await chain.paymentsBetween(blockNumber, blockNumber, { router, payTo }, signal)
      await transact(db, async (tx) => {
        await recordPayments(deps, tx, paid, clock.now())
        await deleteGap(tx, blockNumber)
      })
      log.info(
        { block: blockNumber, payments: paid.length },
        'block can be read for payments again',
      )
    } catch (error) {
      if (!isChainUnavailable(error)) throw error
      const waitMs = Math.min(AGAIN_MIN_MS * 2 ** Math.max(0, tries - TRIES + 1), AGAIN_MAX_MS)
      await deferGap(db, blockNumber, new Date(clock.now().getTime() + waitMs))
      quarantine.add('payment-gap', blockNumber, error)
    }
  }
}
