/**
 * State carried from round to round, stored with the progress of reading. Each part is explained, and moved past a
 * block, in the file of its owner; only this file and the session know all of them.
 */
import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { AccountOwners } from './account-owners.ts'
import { keepVoters } from './by-voter.ts'
import { CallState, EMPTY_CALLS, nextCalls } from './call-state.ts'
import { EMPTY_EPOCH, EpochState, forgetEpochCounts, nextEpochUpdates } from './epoch-state.ts'
import {
  EMPTY_LONG_UPDATES,
  forgetRefusedUpdates,
  LongUpdateState,
  nextLongUpdates,
} from './long-updates.ts'
import { EMPTY_POLLS, forgetPolls, PollState } from './poll-state.ts'
import {
  discardRegistrations,
  EMPTY_REGISTRATIONS,
  nextRegistrations,
  RegistrationState,
} from './registration-state.ts'
import {
  EMPTY_SILENCE,
  forgetSilence,
  nextSilence,
  restartSilence,
  SilenceState,
} from './silence-state.ts'

export const CarriedState = z.object({
  ...SilenceState.shape,
  ...LongUpdateState.shape,
  ...RegistrationState.shape,
  ...CallState.shape,
  ...PollState.shape,
  ...EpochState.shape,
  /** Current and former addresses of voter registries and Relays, by registry name. */
  contracts: z.record(z.string(), z.array(Address)),
  /** Time of the first round since the last move of one of them, epoch seconds; null if none was seen. */
  contractsMovedAt: z.int().nullable(),
})
export type CarriedState = z.output<typeof CarriedState>

/** State before the first block. */
export const EMPTY_STATE: CarriedState = {
  ...EMPTY_SILENCE,
  ...EMPTY_LONG_UPDATES,
  ...EMPTY_REGISTRATIONS,
  ...EMPTY_CALLS,
  ...EMPTY_POLLS,
  ...EMPTY_EPOCH,
  contracts: {},
  contractsMovedAt: null,
}

/** Adds a block: accepted fast updates, their senders, and calls of watched providers. */
export function addBlock(state: CarriedState, block: ProtocolBlock, owners: AccountOwners): void {
  nextSilence(state, block, owners)
  nextLongUpdates(state, block, owners)
  nextEpochUpdates(state, block, owners)
  nextRegistrations(state, block)
  nextCalls(state, block, owners)
}

/**
 * Adds a block whose content is uncertain: restarts all silences and discards the registrations
 * read from events, so that nothing in the block counts against a provider.
 */
export function addUncertainBlock(state: CarriedState): void {
  restartSilence(state)
  discardRegistrations(state)
}

/** Goes on after blocks that were not read: what their events may have changed is not known. */
export function skipBlocks(state: CarriedState): void {
  state.readSince = null
  discardRegistrations(state)
}

/** Notes the current contracts, and when one of them moved. */
export function recordContracts(
  state: CarriedState,
  contracts: Readonly<Record<string, readonly Address[]>>,
  atSeconds: number,
): void {
  const isMoved = Object.entries(contracts).some(([name, [current]]) => {
    const before = state.contracts[name]?.[0]
    return before !== undefined && current !== undefined && before !== current
  })
  if (isMoved) state.contractsMovedAt = atSeconds
  state.contracts = Object.fromEntries(
    Object.entries(contracts).map(([name, all]) => [name, [...all]]),
  )
}

/** Providers and nodes whose state is kept after a round is stored. */
export interface RetainedProviders {
  /** Members of any known signing policy. */
  readonly members: ReadonlySet<Address>
  /** Members of the policy of the round. */
  readonly active: ReadonlySet<Address>
  /** Watched providers. */
  readonly watched: ReadonlySet<Address>
  /** Validators of the watched providers; undefined if they are not known now. */
  readonly nodeIds: ReadonlySet<string> | undefined
  readonly nowSeconds: number
}

/** Deletes the state of all other providers and nodes, so that the state stays small. */
export function forgetOtherProviders(state: CarriedState, retained: RetainedProviders): void {
  const { members, watched, nodeIds } = retained
  forgetSilence(state, retained)
  forgetRefusedUpdates(state, members)
  forgetEpochCounts(state, members)
  keepVoters(state.registrations, new Set([...members, ...watched]))
  keepVoters(state.calls, watched)
  forgetPolls(state, nodeIds)
}
