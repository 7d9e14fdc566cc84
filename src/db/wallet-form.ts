import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/**
 * Condition of a table's check: the wallet is written in its one form, with the checksum of EIP-55. A second row of the same
 * wallet in lower case, as many tools print it, would have a balance of its own.
 *
 * The pattern decides nearly always. Only what is in one case costs a hash: `is_checksummed` of the first migration.
 */
export function hasWalletForm(wallet: PgColumn): SQL {
  return sql`${wallet} ~ '^0x((?=.*[a-f])(?=.*[A-F])[0-9a-fA-F]{40}|[0-9]{40})$' or is_checksummed(${wallet})`
}
