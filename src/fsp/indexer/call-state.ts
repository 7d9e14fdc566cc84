/** Calls of the accounts of watched providers since the last round. */
import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { AccountOwners } from './account-owners.ts'
import { functionNameOf, isBenignFailure } from './called-functions.ts'
import { TransactionPart } from './observation-model.ts'

export const CallState = z.object({
  /** By identity: calls since the last round. */
  calls: z.record(Address, z.array(TransactionPart)),
})
export type CallState = z.output<typeof CallState>

/** State before the first block. */
export const EMPTY_CALLS: CallState = { calls: {} }

/** Adds a block: its calls from accounts with an owner. */
export function nextCalls(state: CallState, block: ProtocolBlock, owners: AccountOwners): void {
  for (const call of block.calls) {
    const owner = owners.byAccount.get(call.from.toLowerCase())
    if (owner === undefined) continue
    const { voter, role } = owner
    const recorded = {
      ...call,
      role,
      isBenign: isBenignFailure(call),
      function: functionNameOf(call.selector),
    }
    state.calls[voter] = [...(state.calls[voter] ?? []), TransactionPart.parse(recorded)]
  }
}

/** Returns the calls since the last round and resets the list. */
export function takeCalls(state: CallState, voter: Address): TransactionPart[] {
  const calls = state.calls[voter] ?? []
  delete state.calls[voter]
  return calls
}
