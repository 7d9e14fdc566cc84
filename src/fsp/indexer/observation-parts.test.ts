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
  }))
  const weights = { weightSum: 400, weightSumWithKeys: 200 }
  const policy = { rewardEpoch, startRound, fixedAt, providers, ...weights }
  return { ...policy, ...indexPolicy(policy) }
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

test('the weight for fast updates is the share among providers with a key for them', () => {
  const found = silenceOfMember(going(policyOf(453, FIRST + 10, null)), inForce, ALPHA, undefined)
  expect(found?.part).toMatchObject({ sortitionWeight: 2048, weightShare: 0.25 })
})

test.each([
  ['after the end of a round is not part of its record', NOW + 1, null],
  ['at the end of a round is part of its record', NOW, 453],
] as const)('a signing policy that was fixed %s', (_when, fixedAt, epoch) => {
  const ref = { number: 1, hash: `0x${'0'.repeat(64)}` as const, at: new Date(NOW * 1000) }
  const at = { block: ref, system: undefined, policy: inForce, rewards: undefined, peak: undefined }
  const { policy } = watchedPartsOf(going(policyOf(453, FIRST + 10, fixedAt)), ALPHA, at)
  expect(policy?.next?.epoch ?? null).toBe(epoch)
})
