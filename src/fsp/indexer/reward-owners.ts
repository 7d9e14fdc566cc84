import type { Address } from '#src/kernel/units.ts'
import type { Policy } from '../protocol/policy.ts'

/** Type of claims whose beneficiary is a signing key; the beneficiary of others is an identity. */
const DIRECT = 0

type Members = Pick<Policy, 'rewardEpoch' | 'providers'>

/** The identity of the provider to which an own claim belongs; undefined: to none that is known. */
export type RewardOwner = (claim: {
  readonly beneficiary: Address
  readonly claimType: number
}) => Address | undefined

/**
 * Owners of the claims of a reward epoch; undefined while its policy is not known. A signing key that changes while an
 * epoch ends is paid under the key of a neighbouring epoch: what is registered there counts where the epoch itself
 * names nobody, unless the two neighbours contradict each other.
 */
export function rewardOwner(epoch: number, policies: readonly Members[]): RewardOwner | undefined {
  const membersOf = (of: number) =>
    policies.find(({ rewardEpoch }) => rewardEpoch === of)?.providers ?? []
  const own = membersOf(epoch)
  if (own.length === 0) return undefined
  const owners = new Map(
    own.flatMap(({ voter, signingPolicy }) => [
      [signingPolicy, voter] as const,
      [voter, voter] as const,
    ]),
  )
  const [before, after] = [epoch - 1, epoch + 1].map(
    (of) => new Map(membersOf(of).map(({ voter, signingPolicy }) => [signingPolicy, voter])),
  )
  return ({ beneficiary, claimType }) => {
    const owner = owners.get(beneficiary)
    if (owner !== undefined || claimType !== DIRECT) return owner
    const [then, next] = [before?.get(beneficiary), after?.get(beneficiary)]
    return then === undefined || next === undefined || then === next ? (then ?? next) : undefined
  }
}
