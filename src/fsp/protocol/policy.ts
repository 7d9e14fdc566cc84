import type { Address } from '#src/kernel/units.ts'

/** A provider in the signing policy of one reward epoch. */
export interface PolicyProvider {
  /** The identity address, which is the target of watches. */
  readonly voter: Address
  /** Sends submit1 and submit2; part of the commit's hash. */
  readonly submit: Address
  /** Sends submitSignatures. */
  readonly submitSignatures: Address
  /** Signs results. */
  readonly signingPolicy: Address
  /** Normalized weight. The sum of a policy's weights is less than 65536. */
  readonly weight: number
}

/** The signing policy of one reward epoch. */
export interface Policy {
  readonly rewardEpoch: number
  /** The epoch's first voting round. */
  readonly startRound: number
  readonly providers: readonly PolicyProvider[]
}

/** A policy with its addresses indexed. */
export interface IndexedPolicy extends Policy {
  /** Index of a provider by its submit address in lower case. */
  readonly bySubmit: ReadonlyMap<string, number>
  /** Index of a provider by its submitSignatures address in lower case. */
  readonly bySubmitSignatures: ReadonlyMap<string, number>
}

/** Indexes a policy, once for all rounds of its epoch. */
export function indexPolicy<P extends Policy>(policy: P): P & IndexedPolicy {
  const index = (read: (provider: PolicyProvider) => Address) =>
    new Map(policy.providers.map((provider, position) => [read(provider).toLowerCase(), position]))
  return {
    ...policy,
    bySubmit: index(({ submit }) => submit),
    bySubmitSignatures: index(({ submitSignatures }) => submitSignatures),
  }
}

/** The policy of a voting round: the last policy that has begun by that round. */
export function policyOfRound<P extends Pick<Policy, 'startRound'>>(
  policies: readonly P[],
  round: number,
): P | undefined {
  return policies
    .filter(({ startRound }) => startRound <= round)
    .reduce<P | undefined>(
      (last, policy) => (last === undefined || policy.startRound > last.startRound ? policy : last),
      undefined,
    )
}
