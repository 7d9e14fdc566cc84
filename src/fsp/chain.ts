import type { Chain } from '#src/chain/chain.ts'
import { createHoldingsReader, type HoldingsReader } from './reader/holdings.ts'
import { createEpochPolicyReader } from './reader/policy-of-epoch.ts'
import { createRoundReader, type RoundReader } from './reader/round-reader.ts'
import { createSigningProtocol, type SigningProtocol } from './reader/signing-protocol.ts'

/** The chain, with readers of the Flare Systems Protocol on it. */
export interface FspChain extends Chain {
  /** Reader of reward epochs, voters and votes. */
  readonly protocol: SigningProtocol
  /** Reader of voting rounds: blocks, policies, states of providers. */
  readonly rounds: RoundReader
  /** Reader of what an account delegates, stakes and may claim. */
  readonly holdings: HoldingsReader
}

/** Adds the readers of the protocol to a chain. */
export function withFsp(chain: Chain): FspChain {
  const ofEpoch = createEpochPolicyReader(chain.access)
  return {
    ...chain,
    protocol: createSigningProtocol(chain.access, ofEpoch),
    rounds: createRoundReader(chain.access, ofEpoch),
    holdings: createHoldingsReader(chain.access),
  }
}
