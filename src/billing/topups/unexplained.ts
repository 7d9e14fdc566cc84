/**
 * Detection of coins received without a transaction to the service's address, for example from a contract
 * wallet: only the balance shows such coins.
 */
import type { Payment } from '#src/chain/chain.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import type { PaymentSetup } from './model.ts'
import {
  type CursorRow,
  findFirstGap,
  findPaymentCursor,
  listCoinPayments,
  lockPaymentCursor,
  saveExplainedBalance,
} from './payment-store.ts'
import { recordPayments } from './payments.ts'
import type { SettleDeps } from './settle.ts'

interface Deps extends SettleDeps {
  readonly confirmations: number
  readonly billing: SettleDeps['billing'] & { readonly payments: PaymentSetup }
}

/**
 * Maximum number of blocks compared in one step, and the minimum: the number that a comparison waits for, and to which
 * a step is reduced when the balance differs.
 */
const STEP_MAX = 1000
const STEP_MIN = 30
/** Maximum number of steps of one pass. */
const STEPS_PER_PASS = 40

/**
 * Compares the balance of the address for plain transfers with the recorded payments, over the blocks read
 * since the last comparison. A surplus is recorded as a payment of way `internal`, which settles as
 * unmatched. The first comparison starts with the current balance.
 *
 * Each step is saved with its payments; the next pass continues after it. Blocks whose state is pruned are
 * compared together with the blocks after them. While an endpoint refuses, the comparison waits.
 *
 * @throws AppError upstream `dependency_unavailable`
 */
export async function compareBalance(deps: Deps, signal: AbortSignal): Promise<void> {
  let size = STEP_MAX
  for (let step = 0; step < STEPS_PER_PASS && !signal.aborted; step += 1) {
    const outcome = await compareStep(deps, size, signal)
    if (outcome === 'done') return
    size = outcome === 'odd' ? STEP_MIN : Math.min(size * 2, STEP_MAX)
  }
}

/**
 * Compares one step.
 *
 * @returns `odd` if the balance differs and the range is too large to check its blocks one by one; then nothing was
 * saved
 */
async function compareStep(
  deps: Deps,
  size: number,
  signal: AbortSignal,
): Promise<'done' | 'odd' | 'saved'> {
  const { db, chain, clock, log, billing } = deps
  const payTo = billing.payments.nativePayTo
  const cursor = await findPaymentCursor(db, 'flare')
  if (payTo === undefined || cursor?.position == null) return 'done'
  const { balanceOf, balanceBlock: after, balanceUnits: before, balanceAssumed } = cursor
  if (balanceOf !== payTo || after === null || before === null) {
    await beginAt(deps, payTo, cursor.position, signal)
    return 'done'
  }
  // An unreadable block may contain payments, so the comparison stops before it.
  const gap = await findFirstGap(db)
  const last = gap === undefined ? cursor.position : Math.min(cursor.position, gap - 1)
  if (last - after < STEP_MIN) return 'done'
  const upTo = Math.min(last, after + size)
  const units = await chain.balanceAt(payTo, upTo, signal)
  const balance = { balanceOf: payTo, balanceBlock: upTo }
  const plain = await listCoinPayments(db, 'native', { after, upTo })
  const known = await listCoinPayments(db, 'internal', { after, upTo })
  const forwarded = await readForwarded(deps, payTo, { after, upTo }, signal)
  const explained = byBlock([...forwarded, ...known])
  if (units === before + sum(plain) + sum([...forwarded, ...known])) {
    await saveStep(deps, after, { ...balance, balanceUnits: units, balanceAssumed: false })
    return 'saved'
  }
  if (upTo - after > STEP_MIN) return 'odd'
  if (units === undefined && !balanceAssumed) {
    const fields = { fromBlock: after + 1, toBlock: upTo }
    log.warn(
      fields,
      'state is pruned: the balance is compared at the oldest block that has a state',
    )
  }
  const span = { from: after + 1, to: upTo, before, after: units, explained }
  const transfers = await chain.internalTransfers(
    payTo,
    { ...span, isAssumed: balanceAssumed },
    signal,
  )
  const saved = { balanceUnits: transfers.balance, balanceAssumed: transfers.isAssumed }
  await saveStep(deps, after, { ...balance, ...saved }, async (tx) => {
    // If payments of transactions that were submitted meanwhile are already recorded, the next pass
    // compares again.
    const now = await listCoinPayments(tx, 'internal', { after, upTo })
    if (now.length !== known.length || sum(now) !== sum(known)) return false
    await recordPayments(deps, tx, transfers.transfers, clock.now())
    return true
  })
  return 'saved'
}

/** Saves a step, unless another process has saved it or `record` returns false. */
async function saveStep(
  { db }: Deps,
  after: number,
  balance: Parameters<typeof saveExplainedBalance>[1],
  record?: (tx: Db) => Promise<boolean>,
): Promise<void> {
  await transact(db, async (tx) => {
    if ((await lockPaymentCursor(tx, 'flare'))?.balanceBlock !== after) return
    if (record !== undefined && !(await record(tx))) return
    await saveExplainedBalance(tx, balance)
  })
}

/** Sets the start of the comparison: `position`, or the oldest block after it whose state is available. */
async function beginAt(
  deps: Deps,
  payTo: Address,
  position: number,
  signal: AbortSignal,
): Promise<void> {
  const { db, chain, log, confirmations } = deps
  const read = (number: number) => chain.balanceAt(payTo, number, signal)
  let at = position
  let balanceUnits = await read(at)
  if (balanceUnits === undefined) {
    let pruned = at
    at = (await chain.confirmedBlock(confirmations, signal)).number
    balanceUnits = await read(at)
    while (balanceUnits !== undefined && at - pruned > 1) {
      const middle = Math.floor((pruned + at) / 2)
      const units = await read(middle)
      if (units === undefined) pruned = middle
      else [at, balanceUnits] = [middle, units]
    }
    const fields = { fromBlock: position, toBlock: at }
    log.warn(
      fields,
      'state is pruned: comparing balances begins at the oldest block that has a state',
    )
  }
  if (balanceUnits === undefined) return
  const balance = { balanceOf: payTo, balanceBlock: at, balanceUnits, balanceAssumed: false }
  await saveExplainedBalance(db, balance)
}

/**
 * Records coins that a submitted transaction brought without a plain transfer, in the caller's database transaction.
 * Skips blocks whose balance has been compared: their payments are already recorded, perhaps together with those of
 * neighbouring blocks.
 */
export async function recordSubmittedTransfers(
  deps: Pick<SettleDeps, 'log' | 'clock'>,
  tx: Db,
  payTo: Address,
  payments: readonly Payment[],
): Promise<void> {
  const cursor = await lockPaymentCursor(tx, 'flare')
  const isNew = payments.filter(({ block }) => !isCompared(cursor, payTo, block.number))
  await recordPayments(deps, tx, isNew, deps.clock.now())
}

function isCompared(cursor: CursorRow | undefined, payTo: Address, block: number): boolean {
  return cursor?.balanceOf === payTo && block <= (cursor.balanceBlock ?? -1)
}

/**
 * Coins that an address received in one block without a transaction to it; none where the state is pruned.
 */
export async function internalTransfersAt(
  deps: Deps,
  payTo: Address,
  block: number,
  signal?: AbortSignal,
): Promise<readonly Payment[]> {
  const { chain } = deps
  const before = await chain.balanceAt(payTo, block - 1, signal)
  const after = await chain.balanceAt(payTo, block, signal)
  if (before === undefined || after === undefined) return []
  const forwarded = await readForwarded(deps, payTo, { after: block - 1, upTo: block }, signal)
  const span = { from: block, to: block, before, after, explained: byBlock(forwarded) }
  return (await chain.internalTransfers(payTo, span, signal)).transfers
}

interface CoinPayment {
  readonly blockNumber: number
  readonly amountUnits: bigint
}

function sum(rows: readonly CoinPayment[]): bigint {
  return rows.reduce((total, { amountUnits }) => total + amountUnits, 0n)
}

function byBlock(rows: readonly CoinPayment[]): ReadonlyMap<number, bigint> {
  const totals = new Map<number, bigint>()
  for (const { blockNumber, amountUnits } of rows) {
    totals.set(blockNumber, (totals.get(blockNumber) ?? 0n) + amountUnits)
  }
  return totals
}

/** Coins that the router forwarded to the address, according to its events. */
async function readForwarded(
  { db, chain, billing }: Deps,
  payTo: Address,
  range: { readonly after: number; readonly upTo: number },
  signal: AbortSignal | undefined,
): Promise<readonly CoinPayment[]> {
  const { router } = billing.payments
  const rows = await listCoinPayments(db, 'router', range)
  if (rows.length === 0 || router === undefined) return []
  const state = await chain.routerState(router, [], signal)
  return state !== undefined && storedAddress(state.treasury) === payTo ? rows : []
}
