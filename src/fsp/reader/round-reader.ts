import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { Policies, PoliciesQuery } from './policies.ts'
import { createPolicyReader } from './policies.ts'
import { readStates, type StatesQuery, type SystemState } from './provider-states.ts'
import { createBlockReader, type ProtocolBlock } from './round-blocks.ts'

/** Reads voting rounds. Every method rejects as those of `Chain` do. */
export interface RoundReader {
  /** undefined where there is no such protocol. */
  policies(
    block: BlockRef,
    signal?: AbortSignal,
    query?: PoliciesQuery,
  ): Promise<Policies | undefined>
  /**
   * Blocks from `from` on, as many as one step may have, complete or not at all.
   *
   * @param watched accounts whose calls are looked at, lower case; others' submissions are believed
   */
  span(
    range: { readonly from: number; readonly to: number; readonly after?: Hash | undefined },
    watched: ReadonlySet<string>,
    signal?: AbortSignal,
  ): Promise<{ readonly blocks: readonly ProtocolBlock[]; readonly upTo: number }>
  /** Addresses that VoterRegistry and Relay have or had, newest first: to be stored for later processes. */
  contracts(): Readonly<Record<string, readonly Address[]>>
  /** How providers stand at the end of a block, in one request. */
  states(query: StatesQuery, signal?: AbortSignal): Promise<SystemState>
}

/** Contracts whose former addresses go on to matter: for reward epochs, and rounds, that began with them. */
const MOVING = ['VoterRegistry', 'Relay'] as const

/** Reads voting rounds, the contracts found through the registry. */
export function createRoundReader(source: ChainAccess): RoundReader {
  const { contracts } = source
  const policies = createPolicyReader(source)
  const blocks = createBlockReader(source)
  return {
    policies: (block, signal, query) => policies.read(block, signal, query),
    span: (range, watched, signal) => blocks.read(range, watched, signal),
    contracts: () => {
      const seen = contracts.seen()
      return Object.fromEntries(MOVING.map((name) => [name, seen.get(name) ?? []]))
    },

    states: (query, signal) => readStates(source, query, signal),
  }
}
