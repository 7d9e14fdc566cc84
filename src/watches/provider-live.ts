/** The state of a provider at the newest confirmed block. */
import type { FspChain } from '#src/fsp/chain.ts'
import type { VotingAddresses } from '#src/fsp/indexer/observation-model.ts'
import { expectedEpochStart } from '#src/fsp/protocol/epochs.ts'
import type { Address } from '#src/kernel/units.ts'

interface Deps {
  readonly chain: FspChain
  readonly confirmations: number
}

/**
 * Reads the provider from the chain; undefined on a chain without the protocol.
 *
 * @param providerAddress any address of the provider
 * @throws AppError upstream
 */
export async function readLiveProvider(
  { chain, confirmations }: Deps,
  providerAddress: Address,
  signal: AbortSignal | undefined,
): Promise<LiveProviderFields | undefined> {
  const block = await chain.confirmedBlock(confirmations, signal)
  const policies = await chain.rounds.policies(block, signal)
  if (policies === undefined) return undefined
  const identity = await chain.protocol.identityOf(providerAddress, signal)
  const { currentEpoch } = policies
  const currentPolicy = policies.policies.find(({ rewardEpoch }) => rewardEpoch === currentEpoch)
  const query = {
    currentEpoch,
    voters: [identity],
    members: new Map(currentPolicy?.providers.map((provider) => [provider.voter, provider])),
    extra: new Map(),
    block,
  }
  const system = await chain.rounds.states(query, signal)
  const state = system?.providers.get(identity)
  const member = currentPolicy?.providers.find(({ voter }) => voter === identity)
  const { firstRoundAtSeconds, roundSeconds } = policies.clock
  return {
    provider: identity,
    rewardEpoch: currentEpoch,
    addresses: member ?? state?.addresses ?? null,
    isRegisteredNext: system?.registration ? (state?.isRegisteredNext ?? null) : null,
    registrationOpensAt: new Date(
      (expectedEpochStart(policies.clock, currentEpoch + 1) -
        policies.schedule.preparationSeconds) *
        1000,
    ),
    isMember: currentPolicy === undefined ? null : member !== undefined,
    weight:
      member === undefined || currentPolicy === undefined
        ? null
        : member.weight / currentPolicy.weightSum,
    currentRound: Math.floor((block.at.getTime() / 1000 - firstRoundAtSeconds) / roundSeconds),
    balances: [...(state?.balancesWei ?? [])].map(([address, balanceWei]) => ({
      role: roleOf(state?.addresses ?? null, address),
      address,
      balanceWei,
    })),
  }
}

/** The fields of a provider's view that are read from the chain. */
export interface LiveProviderFields {
  readonly provider: Address
  readonly addresses: VotingAddresses | null
  readonly weight: number | null
  readonly balances: { role: string; address: Address; balanceWei: bigint }[]
  readonly rewardEpoch: number
  readonly isRegisteredNext: boolean | null
  readonly isMember: boolean | null
  readonly registrationOpensAt: Date
  readonly currentRound: number
}

function roleOf(addresses: VotingAddresses | null, account: Address): string {
  const roles = Object.entries(addresses ?? {})
  return roles.find(([, address]) => address === account)?.[0] ?? 'signingPolicy'
}
