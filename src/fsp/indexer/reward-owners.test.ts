import { getAddress } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import type { Address } from '#src/kernel/units.ts'
import { rewardOwner } from './reward-owners.ts'

const address = (digit: string) => getAddress(`0x${digit.repeat(40)}`)
const [ALPHA, BRAVO] = [address('a'), address('b')]
const [KEY, OLD_KEY, NEW_KEY, OTHER_KEY] = ['1', '2', '3', '4'].map(address) as [
  Address,
  Address,
  Address,
  Address,
]

function policy(rewardEpoch: number, ...members: readonly (readonly [Address, Address])[]) {
  const providers = members.map(([voter, signingPolicy]) => ({
    ...{ voter, signingPolicy, submit: voter, submitSignatures: voter, weight: 1 },
  }))
  return { rewardEpoch, providers }
}

const POLICIES = [
  policy(248, [ALPHA, OLD_KEY], [BRAVO, OTHER_KEY]),
  policy(249, [ALPHA, KEY], [BRAVO, OTHER_KEY]),
  policy(250, [ALPHA, NEW_KEY], [BRAVO, OTHER_KEY]),
]
const ownerOf = (beneficiary: Address, claimType = 0, policies = POLICIES) =>
  rewardOwner(249, policies)?.({ beneficiary, claimType })

describe('a claim of a reward epoch belongs to the provider', () => {
  test('whose identity or signing key of the epoch it names', () => {
    expect(ownerOf(KEY)).toBe(ALPHA)
    expect(ownerOf(ALPHA)).toBe(ALPHA)
    expect(ownerOf(BRAVO, 1)).toBe(BRAVO)
  })

  test('whose signing key of the epoch before or after it names, if it is direct', () => {
    expect(ownerOf(OLD_KEY)).toBe(ALPHA)
    expect(ownerOf(NEW_KEY)).toBe(ALPHA)
    expect(ownerOf(OLD_KEY, 1)).toBeUndefined()
    expect(ownerOf(NEW_KEY, 1)).toBeUndefined()
  })

  test('that has the key in the epoch itself, whoever has it in a neighbouring one', () => {
    const handedOver = [
      policy(248, [BRAVO, KEY]),
      policy(249, [ALPHA, KEY]),
      policy(250, [BRAVO, KEY]),
    ]
    expect(ownerOf(KEY, 0, handedOver)).toBe(ALPHA)
  })
})

describe('a claim of a reward epoch belongs to nobody', () => {
  test('whose key has one owner before and another after the epoch', () => {
    const disputed = [
      policy(248, [ALPHA, OLD_KEY]),
      policy(249, [ALPHA, KEY]),
      policy(250, [BRAVO, OLD_KEY]),
    ]
    expect(ownerOf(OLD_KEY, 0, disputed)).toBeUndefined()
  })

  test('whose key is registered two epochs away', () => {
    const far = [
      policy(247, [ALPHA, OLD_KEY]),
      policy(249, [ALPHA, KEY]),
      policy(251, [ALPHA, NEW_KEY]),
    ]
    expect(ownerOf(OLD_KEY, 0, far)).toBeUndefined()
    expect(ownerOf(NEW_KEY, 0, far)).toBeUndefined()
  })

  test('whose policy is not known', () => {
    expect(rewardOwner(251, POLICIES)).toBeUndefined()
  })
})
