/** Deletion of a wallet from the books: what the law lets one keep is kept without its name. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { Address } from '#src/kernel/units.ts'
import { renameAccount } from './account/store.ts'
import { deleteFreeCalls } from './metering/store.ts'
import { forgetSubscriptions } from './subscriptions/store.ts'
import { renameTopups } from './topups/store.ts'

const ADDRESS_BYTES = 20

/**
 * Gives the wallet's ledger, top-ups and subscriptions the name of a random address, of which nobody has the key and which
 * is stored nowhere else. Entries, amounts and transactions stay, so that the books add up and a payment cannot be credited
 * twice; notes, terms, counts of free calls and the trial go. The account must be locked.
 *
 * @returns the name in the books
 */
export async function forgetInBooks(tx: Db, wallet: Address): Promise<Address> {
  const pseudonym = z.decode(Address, `0x${randomBytes(ADDRESS_BYTES).toString('hex')}`)
  await forgetSubscriptions(tx, wallet, pseudonym)
  await renameTopups(tx, wallet, pseudonym)
  await renameAccount(tx, wallet, pseudonym)
  await deleteFreeCalls(tx, wallet)
  return pseudonym
}
