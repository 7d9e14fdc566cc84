import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { PoliciesQuery, PolicySnapshot } from './policies.ts'
import { createPolicyReader } from './policies.ts'
import type { EpochPolicyReader } from './policy-of-epoch.ts'
import {
  readNewestSettings,
  readStates,
  type StatesQuery,
  type SystemState,
  type UpdateSettings,
} from './provider-states.ts'
import { createBlockReader, type ProtocolBlock } from './round-blocks.ts'

/** Reads voting rounds. Methods reject with the errors of `Chain`. */
export interface RoundReader {
  /** The policies; undefined on a chain without the protocol. */
  policies(
    block: BlockRef,
    signal?: AbortSignal,
    query?: PoliciesQuery,
  ): Promise<PolicySnapshot | undefined>
  /**
   * Blocks from `from` on, as many as one step allows, each complete.
   *
   * @param watched accounts whose calls are recorded, lower case; submissions of other accounts are read
   * from the block only
   */
  span(
    range: { readonly from: number; readonly to: number; readonly after?: Hash | undefined },
    watched: ReadonlySet<string>,
    signal?: AbortSignal,
  ): Promise<{ readonly blocks: readonly ProtocolBlock[]; readonly upTo: number }>
  /**
   * Current and former addresses of VoterRegistry, Relay and Submission, to be stored for later processes.
   */
  contracts(): Readonly<Record<string, readonly Address[]>>
  /**
   * States of providers at the end of a block; undefined if no endpoint that answers still has the state of the block.
   */
  states(query: StatesQuery, signal?: AbortSignal): Promise<SystemState | undefined>
  /** Settings of fast updates at the newest block, of an endpoint that has the given block. */
  newestSettings(block: number, signal?: AbortSignal): Promise<UpdateSettings>
}

/** Contracts whose former addresses stay relevant for the reward epochs and rounds that began with them. */
const MOVING = ['VoterRegistry', 'Relay', 'Submission'] as const

/** Creates a reader of voting rounds; the contracts are found through the registry. */
export function createRoundReader(source: ChainAccess, ofEpoch: EpochPolicyReader): RoundReader {
  const { contracts } = source
  const policies = createPolicyReader(source, ofEpoch)
  const blocks = createBlockReader(source)
  return {
    policies: (block, signal, query) => policies.read(block, signal, query),
    span: (range, watched, signal) => blocks.read(range, watched, signal),
    contracts: () => {
      const seen = contracts.seen()
      return Object.fromEntries(MOVING.map((name) => [name, seen.get(name) ?? []]))
    },

    states: (query, signal) => readStates(source, query, signal),
    newestSettings: (block, signal) => readNewestSettings(source, block, signal),
  }
}
