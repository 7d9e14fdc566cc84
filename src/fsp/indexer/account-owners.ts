import type { Address } from '#src/kernel/units.ts'
import type { TransactionPart } from './observation-model.ts'

/** Owners of accounts. */
export interface AccountOwners {
  /** Identity by signing policy address. */
  readonly bySigningPolicy: ReadonlyMap<Address, Address>
  /** Identity address and role by account in lower case. */
  readonly byAccount: ReadonlyMap<
    string,
    { readonly voter: Address; readonly role: TransactionPart['role'] }
  >
}
