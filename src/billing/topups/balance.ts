/** Coins that reached us without a transaction to us, as from a contract wallet: the balance tells of them. */
import type { Payment } from '#src/chain/chain.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { type CursorRow, findCursor, lockCursor, saveBalance } from './cursor-store.ts'
import type { PaymentSetup } from './model.ts'
import { listCoinPayments } from './payment-store.ts'
import { recordPayments, type SettleDeps } from './payments.ts'

interface Deps extends SettleDeps {
  readonly billing: { readonly payments: PaymentSetup }
}

/**
 * Compares the balance of the address for plain transfers with the payments that were found, over the blocks
 * read since the last comparison. What transactions do not explain is recorded as a payment of way
 * `internal`, which settles as unmatched. Begins with the balance it finds.
 *
 * @throws AppError upstream `dependency_unavailable`
 */
export async function compareBalance(deps: Deps, signal: AbortSignal): Promise<void> {
  const { db, chain, clock, billing } = deps
  const payTo = billing.payments.nativePayTo
  const cursor = await findCursor(db, 'flare')
  if (payTo === undefined || cursor?.position == null) return
  const upTo = cursor.position
  const { balanceOf, balanceBlock: after, balanceUnits: before } = cursor
  if (balanceOf === payTo && after !== null && upTo <= after) return
  const units = await readBalance(deps, payTo, upTo, signal)
  if (units === undefined) return
  const balance = { balanceOf: payTo, balanceBlock: upTo, balanceUnits: units }
  if (balanceOf !== payTo || after === null || before === null) return saveBalance(db, balance)
  const plain = await listCoinPayments(db, 'native', { after, upTo })
  const known = await listCoinPayments(db, 'internal', { after, upTo })
  const forwarded = await readForwarded(deps, payTo, { after, upTo }, signal)
  const explained = byBlock([...forwarded, ...known])
  if (units === before + sum(plain) + sum([...forwarded, ...known])) return saveBalance(db, balance)
  const span = { from: after + 1, to: upTo, before, after: units, explained }
  const found = await chain.internalTransfers(payTo, span, signal)
  await transact(db, async (tx) => {
    // What somebody has named meanwhile is recorded already: then the next pass compares anew.
    const isSame = (await lockCursor(tx, 'flare'))?.balanceBlock === after
    const now = await listCoinPayments(tx, 'internal', { after, upTo })
    if (!isSame || now.length !== known.length || sum(now) !== sum(known)) return
    await recordPayments(deps, tx, found, clock.now())
    await saveBalance(tx, balance)
  })
}

/**
 * Records coins that reached us by a transaction that was named, in the caller's transaction. Of a block whose
 * balance was compared already everything is recorded, perhaps together with what came in the blocks around it.
 */
export async function recordNamed(
  deps: Pick<SettleDeps, 'log' | 'clock'>,
  tx: Db,
  payTo: Address,
  found: readonly Payment[],
): Promise<void> {
  const cursor = await lockCursor(tx, 'flare')
  const isNew = found.filter(({ block }) => !isCompared(cursor, payTo, block.number))
  await recordPayments(deps, tx, isNew, deps.clock.now())
}

function isCompared(cursor: CursorRow | undefined, payTo: Address, block: number): boolean {
  return cursor?.balanceOf === payTo && block <= (cursor.balanceBlock ?? -1)
}

/** Coins that reached an address in one block without a transaction to it; none where the state is gone. */
export async function internalTransfersAt(
  deps: Deps,
  payTo: Address,
  block: number,
  signal?: AbortSignal,
): Promise<readonly Payment[]> {
  const before = await readBalance(deps, payTo, block - 1, signal)
  const after = await readBalance(deps, payTo, block, signal)
  if (before === undefined || after === undefined) return []
  const forwarded = await readForwarded(deps, payTo, { after: block - 1, upTo: block }, signal)
  const span = { from: block, to: block, before, after, explained: byBlock(forwarded) }
  return deps.chain.internalTransfers(payTo, span, signal)
}

async function readBalance(
  { chain }: Deps,
  payTo: Address,
  number: number,
  signal: AbortSignal | undefined,
): Promise<bigint | undefined> {
  const block = await chain.blockAt(number, signal)
  if (block === undefined) return undefined
  const [units] = await chain.balances([{ address: payTo, asset: 'FLR' }], block, signal)
  return units
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

/** What the router forwarded to the address: its events tell of that. */
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
