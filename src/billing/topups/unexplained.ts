/**
 * Detection of coins received without a transaction to the service's address, for example from a contract
 * wallet: only the balance shows such coins.
 */
import { zeroAddress } from 'viem'
import { OTHER_LOG_INDEX } from '#src/chain/chain.ts'
import { transact } from '#src/db/connection.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import {
  findFirstGap,
  findPaymentCursor,
  listCoinPayments,
  lockPaymentCursor,
  saveExplainedBalance,
  savePayment,
} from './payment-store.ts'
import type { FollowDeps } from './settle.ts'

/**
 * Maximum number of blocks compared in one step, and the minimum: the number that a comparison waits for, and to which
 * a step is reduced when the balance differs.
 */
const STEP_MAX = 1000
const STEP_MIN = 30
/** Maximum number of steps of one pass. */
const STEPS_PER_PASS = 40

/** The blocks after `after`, up to `upTo`. */
interface Range {
  readonly after: number
  readonly upTo: number
}

/**
 * Compares the balance of the address for plain transfers with the recorded payments, over the blocks read
 * since the last comparison. A surplus is recorded as one payment of way `internal`, which settles as
 * unmatched and names the blocks. The first comparison starts with the current balance.
 *
 * Each step is saved with its payment; the next pass continues after it. Blocks whose state is pruned are
 * compared together with the blocks after them. While an endpoint refuses, the comparison waits.
 *
 * @throws AppError upstream `dependency_unavailable`
 */
export async function compareBalance(deps: FollowDeps, signal: AbortSignal): Promise<void> {
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
 * @returns `odd` if the balance differs and a smaller step says better in which blocks; then nothing was saved
 */
async function compareStep(
  deps: FollowDeps,
  size: number,
  signal: AbortSignal,
): Promise<'done' | 'odd' | 'saved'> {
  const { db, chain, billing } = deps
  const payTo = billing.payments.nativePayTo
  const cursor = await findPaymentCursor(db, 'flare')
  if (payTo === undefined || cursor?.position == null) return 'done'
  const { balanceOf, balanceBlock: after, balanceUnits: before } = cursor
  if (balanceOf !== payTo || after === null || before === null) {
    await beginAt(deps, payTo, cursor.position, signal)
    return 'done'
  }
  // An unreadable block may contain payments, so the comparison stops before it.
  const gap = await findFirstGap(db)
  const last = gap === undefined ? cursor.position : Math.min(cursor.position, gap - 1)
  if (last - after < STEP_MIN) return 'done'
  const end = await readEnd(
    deps,
    payTo,
    { after, upTo: Math.min(last, after + size) },
    last,
    signal,
  )
  if (end === undefined) return 'done'
  const range = { after, upTo: end.block }
  const plain = sum(await listCoinPayments(db, 'native', range))
  const forwarded = await sumForwarded(deps, payTo, range, signal)
  const compared = { payTo, range, units: end.units }
  if (end.units === before + plain + forwarded) {
    await saveStep(deps, compared, 0n, signal)
    return 'saved'
  }
  if (size > STEP_MIN) return 'odd'
  // The address may have paid, too: its own transactions and their fees are read from the blocks.
  const own = await chain.ownTransfers(payTo, { from: after + 1, to: end.block }, signal)
  await saveStep(deps, compared, end.units - before - own - forwarded, signal)
  return 'saved'
}

/**
 * The balance at the end of a range; where the state is pruned, that at the end of `last`. Undefined while no endpoint
 * has either.
 */
async function readEnd(
  { chain, quarantine }: FollowDeps,
  payTo: Address,
  { after, upTo }: Range,
  last: number,
  signal: AbortSignal,
): Promise<{ readonly block: number; readonly units: bigint } | undefined> {
  for (const block of new Set([upTo, last])) {
    const units = await chain.balanceAt(payTo, block, signal)
    if (units !== undefined) return { block, units }
  }
  const problem = new Error(`no endpoint has the state of block ${last}; its balance is unknown`)
  quarantine.add('balance-comparison', after, problem)
  return undefined
}

/** Saves a step with its surplus, unless another process has saved it. */
async function saveStep(
  { db, chain, clock }: FollowDeps,
  {
    payTo,
    range: { after, upTo },
    units,
  }: { readonly payTo: Address; readonly range: Range; readonly units: bigint },
  surplus: bigint,
  signal: AbortSignal,
): Promise<void> {
  const block = surplus > 0n ? await chain.blockAt(upTo, signal) : undefined
  if (surplus > 0n && block === undefined) return
  await transact(db, async (tx) => {
    if ((await lockPaymentCursor(tx, 'flare'))?.balanceBlock !== after) return
    if (block !== undefined) {
      // No transaction is named: whoever looks for it has the blocks.
      await savePayment(tx, {
        txHash: block.hash,
        logIndex: OTHER_LOG_INDEX,
        way: 'internal',
        handle: null,
        reference: `blocks ${after + 1} to ${upTo}`,
        payer: zeroAddress,
        asset: 'FLR',
        amountUnits: surplus,
        blockNumber: block.number,
        blockHash: block.hash,
        blockAt: block.at,
        seenAt: clock.now(),
      })
    }
    await saveExplainedBalance(tx, { balanceOf: payTo, balanceBlock: upTo, balanceUnits: units })
  })
}

/** Sets the start of the comparison: `position`, or the newest confirmed block where its state is pruned. */
async function beginAt(
  deps: FollowDeps,
  payTo: Address,
  position: number,
  signal: AbortSignal,
): Promise<void> {
  const { db, chain, log, confirmations } = deps
  let at = position
  let balanceUnits = await chain.balanceAt(payTo, at, signal)
  if (balanceUnits === undefined) {
    at = (await chain.confirmedBlock(confirmations, signal)).number
    balanceUnits = await chain.balanceAt(payTo, at, signal)
    const fields = { fromBlock: position, toBlock: at }
    log.warn(fields, 'state is pruned: comparing balances begins at the newest confirmed block')
  }
  if (balanceUnits === undefined) return
  await saveExplainedBalance(db, { balanceOf: payTo, balanceBlock: at, balanceUnits })
}

/**
 * Whether an address received coins in a block without a transaction to it; false where the state is pruned.
 *
 * @throws AppError upstream `dependency_unavailable`
 */
export async function hasUnexplainedCoins(
  deps: FollowDeps,
  payTo: Address,
  block: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const { chain } = deps
  const before = await chain.balanceAt(payTo, block - 1, signal)
  const after = await chain.balanceAt(payTo, block, signal)
  if (before === undefined || after === undefined) return false
  const own = await chain.ownTransfers(payTo, { from: block, to: block }, signal)
  const forwarded = await sumForwarded(deps, payTo, { after: block - 1, upTo: block }, signal)
  return after > before + own + forwarded
}

function sum(rows: readonly { readonly amountUnits: bigint }[]): bigint {
  return rows.reduce((total, { amountUnits }) => total + amountUnits, 0n)
}

/** Coins that the router forwarded to the address, according to its events. */
async function sumForwarded(
  { db, chain, billing }: FollowDeps,
  payTo: Address,
  range: Range,
  signal: AbortSignal | undefined,
): Promise<bigint> {
  const { router } = billing.payments
  const rows = await listCoinPayments(db, 'router', range)
  if (rows.length === 0 || router === undefined) return 0n
  const state = await chain.routerState(router, [], signal)
  return state !== undefined && storedAddress(state.treasury) === payTo ? sum(rows) : 0n
}
