import { type Address, storedAddress } from '#src/kernel/units.ts'

/** The voters of a record. Its keys are checksummed: they are addresses of policies, or were decoded with the state. */
export function votersOf(record: Readonly<Record<Address, unknown>>): Address[] {
  return Object.keys(record).map(storedAddress)
}

/** Deletes the entries of all voters that are not kept. */
export function keepVoters(record: Record<Address, unknown>, kept: ReadonlySet<Address>): void {
  for (const voter of votersOf(record)) if (!kept.has(voter)) delete record[voter]
}
