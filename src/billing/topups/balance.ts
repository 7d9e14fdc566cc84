/** Coins that reached us without a transaction to us, as from a contract wallet: the balance tells of them. */
import type { Payment } from '#src/chain/chain.ts'
import { transact } from '#src/db/connection.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { findCursor, saveBalance } from './cursor-store.ts'
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
  const explained = await readForwarded(deps, payTo, { after, upTo }, signal)
  const amounts = [...plain.map(({ amountUnits }) => amountUnits), ...explained.values()]
  const paid = amounts.reduce((sum, amount) => sum + amount, 0n)
  if (units === before + paid) return saveBalance(db, balance)
  const span = { from: after + 1, to: upTo, before, after: units, explained }
  const found = await chain.internalTransfers(payTo, span, signal)
  await transact(db, async (tx) => {
    await recordPayments(deps, tx, found, clock.now())
    await saveBalance(tx, balance)
  })
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
  const explained = await readForwarded(deps, payTo, { after: block - 1, upTo: block }, signal)
  const span = { from: block, to: block, before, after, explained }
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

/** What the router forwarded to the address, by block: its events tell of that. */
async function readForwarded(
  { db, chain, billing }: Deps,
  payTo: Address,
  range: { readonly after: number; readonly upTo: number },
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<number, bigint>> {
  const { router } = billing.payments
  const forwarded = new Map<number, bigint>()
  const rows = await listCoinPayments(db, 'router', range)
  if (rows.length === 0 || router === undefined) return forwarded
  const state = await chain.routerState(router, [], signal)
  if (state === undefined || storedAddress(state.treasury) !== payTo) return forwarded
  for (const { blockNumber, amountUnits } of rows) {
    forwarded.set(blockNumber, (forwarded.get(blockNumber) ?? 0n) + amountUnits)
  }
  return forwarded
}
