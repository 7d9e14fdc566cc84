import { concatHex, encodeAbiParameters, type Hex } from 'viem'
import { keccakOfHex } from '#src/chain/blocks/keccak.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { ProviderAccounts } from './provider.ts'

/** Rewards of each provider per epoch, in wei. */
const REWARD_WEI = { fee: 1500n * 10n ** 18n, direct: 250n * 10n ** 18n } as const

/** A provider's own claim in an epoch. */
export interface ProviderClaim {
  readonly owner: Address
  readonly claimType: number
  readonly amount: bigint
}

/** A provider's own claims in an epoch: its fee by its identity, direct rewards by its signer. */
export function ownRewardClaims({
  identity,
  signingPolicy,
}: ProviderAccounts): readonly ProviderClaim[] {
  return [
    { owner: signingPolicy.address, claimType: 0, amount: REWARD_WEI.direct },
    { owner: identity.address, claimType: 1, amount: REWARD_WEI.fee },
  ]
}

/** The rewards of an epoch with their proofs, as they are published, and the root that is voted on. */
export interface RewardTree {
  readonly root: Hash
  readonly claims: readonly (ProviderClaim & { readonly proof: readonly Hash[] })[]
}

const BODY = [
  { type: 'uint24' },
  { type: 'bytes20' },
  { type: 'uint120' },
  { type: 'uint8' },
] as const

/** Builds the tree of an epoch's rewards; the members' own are all that there are. */
export function rewardTree(
  epoch: number,
  members: readonly { readonly accounts: ProviderAccounts }[],
): RewardTree {
  const claims = members.flatMap(({ accounts }) => ownRewardClaims(accounts))
  const leaves = claims.map(({ owner, amount, claimType }) =>
    keccakOfHex(encodeAbiParameters(BODY, [epoch, owner, amount, claimType])),
  )
  const levels = levelsOf(leaves)
  return {
    root: levels.at(-1)?.[0] ?? keccakOfHex('0x'),
    claims: claims.map((claim, place) => ({
      ...claim,
      proof: levels.slice(0, -1).flatMap((level, depth) => level[(place >> depth) ^ 1] ?? []),
    })),
  }
}

/** The levels of a tree from its leaves up; one without a neighbour moves up as it is. */
function levelsOf(leaves: readonly Hash[]): readonly (readonly Hash[])[] {
  const levels = [leaves]
  for (let level = leaves; level.length > 1; ) {
    const pairs = level.filter((_, place) => place % 2 === 0)
    const current = level
    level = pairs.map((left, place) => {
      const right = current[2 * place + 1]
      return right === undefined ? left : pairHash(left, right)
    })
    levels.push(level)
  }
  return levels
}

function pairHash(hash: Hex, otherHash: Hex): Hash {
  return keccakOfHex(concatHex(hash < otherHash ? [hash, otherHash] : [otherHash, hash]))
}
