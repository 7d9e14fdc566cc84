import { randomUUID } from 'node:crypto'
import type { Service } from '#src/app.ts'
import { credit, debit } from '#src/billing/account/service.ts'
import { transact } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'

type App = Pick<Service['app'], 'db' | 'clock'>

/**
 * Credits the wallet like a paid top-up.
 * @returns the balance
 */
export async function giveCredits(
  { db, clock }: App,
  wallet: Address,
  amountCredits: number,
): Promise<number> {
  const entry = { wallet, type: 'topup', amountCredits, at: clock.now() } as const
  const reference = `test:${randomUUID()}`
  const { balanceCredits } = await transact(db, (tx) => credit(tx, { ...entry, reference }))
  return balanceCredits
}

/**
 * Debits the wallet like a metered call.
 * @throws Error when the balance is too low
 */
export async function spendCredits(
  { db, clock }: App,
  wallet: Address,
  amountCredits: number,
): Promise<number> {
  const entry = { wallet, type: 'usage', amountCredits, at: clock.now() } as const
  const reference = `test:${randomUUID()}`
  const spent = await transact(db, (tx) => debit(tx, { ...entry, reference }))
  if (!spent.ok) throw new Error('the wallet has fewer credits')
  return spent.balanceCredits
}
