import { getAddress } from 'viem/utils'
import { expect, test } from 'vitest'
import type { Address } from '#src/kernel/units.ts'
import { indexPolicy } from '../protocol/policy.ts'
import { EMPTY_STATE } from './carried-state.ts'
import { type KnownPolicies, silenceOfMember, watchedPartsOf } from './observation-parts.ts'

const [ALPHA, BRAVO] = [1, 2].map((n) => getAddress(`0x${`${n}`.repeat(40)}`)) as [Address, Address]
const FIRST = 1_519_400
const CLOCK = {
  firstRoundAtSeconds: 1_658_430_000,
  roundSeconds: 90,
  firstEpochRound: 0,
  roundsPerEpoch: 3360,
}
const NOW = CLOCK.firstRoundAtSeconds + FIRST * 90

function policyOf(rewardEpoch: number, startRound: number, fixedAt: number | null) {
  const providers = [ALPHA, BRAVO].map((voter) => ({
    voter,
    submit: voter,
    submitSignatures: voter,
    signingPolicy: voter,
    weight: 100,
    sortitionWeight: voter === ALPHA ? 2048 : null,
  }))
  return indexPolicy({ rewardEpoch, startRound, fixedAt, providers, weightSum: 400 })
}

const inForce = policyOf(452, FIRST - 10, null)

function going(next: ReturnType<typeof policyOf>) {
  const schedule = {
    registrationSeconds: 1800,
    preparationSeconds: 7200,
    rewardExpirySeconds: null,
  }
  const policies: KnownPolicies = {
    clock: CLOCK,
    currentEpoch: 452,
    policies: [inForce, next],
    registrations: [],
    schedule,
  }
  const owners = { bySigningPolicy: new Map(), byAccount: new Map() }
  const state = { ...structuredClone(EMPTY_STATE), sampleSize: 1.5 }
  return { state, policies, owners, blockSeconds: 1.2 }
}

test('only a provider that can take part in fast updates has a silence, and only if their number is known', () => {
  const next = policyOf(453, FIRST + 10, null)
  const found = silenceOfMember(going(next), inForce, ALPHA, 1.5)
  expect(found?.part).toMatchObject({ sortitionWeight: 2048, weightShare: 0.25, sampleSize: 1.5 })
  expect(silenceOfMember(going(next), inForce, BRAVO, 1.5)).toBeUndefined()
  expect(silenceOfMember(going(next), inForce, ALPHA, null)).toBeUndefined()
})

test.each([
  ['after the end of a round is not part of its record', NOW + 1, null],
  ['at the end of a round is part of its record', NOW, 453],
] as const)('a signing policy that was fixed %s', (_when, fixedAt, epoch) => {
  const ref = { number: 1, hash: `0x${'0'.repeat(64)}` as const, at: new Date(NOW * 1000) }
  const nothing = { system: undefined, rewards: undefined, earned: undefined, peak: undefined }
  const at = { block: ref, policy: inForce, ...nothing }
  const { policy } = watchedPartsOf(going(policyOf(453, FIRST + 10, fixedAt)), ALPHA, at)
  expect(policy?.next?.epoch ?? null).toBe(epoch)
})
