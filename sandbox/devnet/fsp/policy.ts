import type { Behaviour } from './behaviours.ts'
import type { SigningPolicy } from './encode.ts'
import type { ProviderAccounts } from './provider.ts'

/** State of a provider in the simulation. */
export interface SimulatedProviderState {
  readonly name: string
  /** Stake in whole FLR. */
  readonly stake: number
  /** Whether it pre-registers. */
  readonly preRegisters: boolean
  readonly behaviours: Set<Behaviour>
  /** Present accounts. A policy has the accounts at the time of the registration. */
  accounts: ProviderAccounts
}

/** A provider in a policy. */
export interface PolicyMember {
  readonly provider: SimulatedProviderState
  readonly accounts: ProviderAccounts
  readonly index: number
  readonly weight: number
}

/** A signing policy with its members. */
export interface KnownPolicy extends SigningPolicy {
  readonly members: readonly PolicyMember[]
}

/** Finds the providers of a policy by their signing-policy addresses. */
export function withMembers(
  policy: SigningPolicy,
  registered: readonly {
    readonly provider: SimulatedProviderState
    readonly accounts: ProviderAccounts
  }[],
): KnownPolicy {
  const members = policy.voters.flatMap(({ address, weight }, index) => {
    const provider = registered.find(
      ({ accounts }) => accounts.signingPolicy.address.toLowerCase() === address.toLowerCase(),
    )
    return provider === undefined ? [] : [{ ...provider, index, weight }]
  })
  return { ...policy, members }
}
