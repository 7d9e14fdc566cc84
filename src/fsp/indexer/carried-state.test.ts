import { getAddress } from 'viem/utils'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Address, Hash } from '#src/kernel/units.ts'
import { ROUND_CHECKS } from '../protocol/verdict.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { AccountOwners } from './account-owners.ts'
import {
  addBlock,
  addUncertainBlock,
  CarriedState,
  EMPTY_STATE,
  forgetOtherProviders,
  recordContracts,
} from './carried-state.ts'
import { countRound } from './epoch-state.ts'
import { addValidatorPoll, takeNodePolls } from './poll-state.ts'
import { currentSilenceOf, longestEndedSilenceOf, sendersOf } from './silence-state.ts'

const [ALPHA, BRAVO, SIGNER, SENDER] = [1, 2, 3, 4].map((n) =>
  getAddress(`0x${`${n}`.repeat(40)}`),
) as [Address, Address, Address, Address]
const OWNERS: AccountOwners = { bySigningPolicy: new Map([[SIGNER, ALPHA]]), byAccount: new Map() }
const DAY = 86_400

const TX: Hash = `0x${'e'.repeat(64)}`
const update = (sender: Address | null, feedsSent: number | null = 9) => ({
  signingPolicy: SIGNER,
  tx: TX,
  sender,
  feedsSent,
})

function block(number: number, isUpdated = false): ProtocolBlock {
  const at = 1_790_000_000 + number
  return {
    ref: { number, hash: `0x${'0'.repeat(64)}`, at: new Date(at * 1000) },
    number,
    at,
    submissions: [],
    finalised: [],
    requests: [],
    fastUpdates: isUpdated ? [update(SENDER)] : [],
    refusedUpdates: [],
    registrations: [],
    calls: [],
    claims: [],
  }
}

function remembered(
  over: Partial<Parameters<typeof forgetOtherProviders>[1]> = {},
): Parameters<typeof forgetOtherProviders>[1] {
  const providers = new Set([ALPHA, BRAVO])
  return {
    members: providers,
    active: providers,
    watched: providers,
    nodeIds: undefined,
    nowSeconds: 1_790_000_000,
    ...over,
  }
}

const state = (): CarriedState => structuredClone(EMPTY_STATE)
const pass = (to: CarriedState, blocks: number) => {
  for (let number = 0; number < blocks; number += 1) addBlock(to, block(number), OWNERS)
}

test('the silence of fast updates grows with the blocks read, and an update resets it to zero', () => {
  const carried = state()
  currentSilenceOf(carried, ALPHA, 100, 1.5)
  pass(carried, 50)
  const after = currentSilenceOf(carried, ALPHA, 100, 1.5)
  expect(after).toMatchObject({ blocks: 50, lastUpdateBlock: null })
  expect(after.exponent).toBeCloseTo(-100 * 50 * Math.log1p(-1.5 / 4096), 9)
  addBlock(carried, block(51, true), OWNERS)
  expect(currentSilenceOf(carried, ALPHA, 100, 1.5)).toMatchObject({
    blocks: 0,
    lastUpdateBlock: 51,
  })
})

test('blocks in which a provider is in no policy do not count as silence', () => {
  const carried = state()
  currentSilenceOf(carried, ALPHA, 100, 1.5)
  pass(carried, 1000)
  forgetOtherProviders(carried, remembered({ active: new Set([BRAVO]) }))
  expect(currentSilenceOf(carried, ALPHA, 100, 1.5)).toMatchObject({ exponent: 0, blocks: 0 })
})

test('a move of contracts is dated by the first round after it, and not by the first reading', () => {
  const carried = state()
  recordContracts(carried, { VoterRegistry: [ALPHA], Relay: [ALPHA] }, 100)
  expect(carried.contractsMovedAt).toBeNull()
  recordContracts(carried, { VoterRegistry: [BRAVO, ALPHA], Relay: [ALPHA] }, 190)
  recordContracts(carried, { VoterRegistry: [BRAVO, ALPHA], Relay: [ALPHA] }, 280)
  expect(carried.contractsMovedAt).toBe(190)
})

test('the counts of a reward epoch begin with its first round, and no round counts twice', () => {
  const carried = state()
  const record = { c: 'g'.repeat(ROUND_CHECKS.length), a: [60, 63] as [number, number] }
  const records = new Map([[ALPHA, record]])
  const count = (round: number, rewardEpoch: number) => {
    carried.recentUpdates = { [ALPHA]: 2, [BRAVO]: 3 }
    const epoch = { firstRound: 10 * rewardEpoch, endRound: 10 * rewardEpoch + 10 }
    const weights = new Map([[ALPHA, 0.25]])
    return countRound(carried, records, { round, rewardEpoch, ...epoch, weights }).get(ALPHA)
  }
  expect(count(17, 1)).toEqual([
    [10, 20, 1],
    [60, 63, 1],
    [1, 1, 1],
    [2, 5, 250_000],
  ])
  expect(count(18, 1)).toEqual([
    [10, 20, 2],
    [120, 126, 2],
    [2, 2, 2],
    [4, 10, 250_000],
  ])
  expect(count(18, 1)).toBeUndefined()
  expect(count(20, 2)).toEqual([
    [20, 30, 1],
    [60, 63, 1],
    [1, 1, 1],
    [2, 5, 250_000],
  ])
})

test('the end of a validator’s stake stays known after it left', () => {
  const carried = state()
  addValidatorPoll(carried, { 'NodeID-A': { connected: true, endsAt: 1_790_000_060 } })
  for (const isListed of [true, false]) {
    addValidatorPoll(carried, { 'NodeID-A': null })
    expect(takeNodePolls(carried, ['NodeID-A'], 452)).toMatchObject([
      { isListed, endsAt: 1_790_000_060 },
    ])
  }
})

test('state of providers in no policy is deleted', () => {
  const carried = state()
  currentSilenceOf(carried, ALPHA, 1, 1.5)
  currentSilenceOf(carried, BRAVO, 1, 1.5)
  for (let n = 0; n < 3; n += 1) addBlock(carried, block(1, true), OWNERS)
  carried.calls[BRAVO] = []
  carried.refused = { [ALPHA]: 1, [BRAVO]: 1 }
  carried.refusals = { [ALPHA]: [], [BRAVO]: [] }
  addValidatorPoll(carried, { 'NodeID-A': null, 'NodeID-B': null })
  forgetOtherProviders(
    carried,
    remembered({ watched: new Set([ALPHA]), nodeIds: new Set(['NodeID-A']) }),
  )
  expect(Object.keys(carried.silence)).toEqual([BRAVO, ALPHA].toSorted())
  expect(carried.calls).toEqual({})
  expect(Object.keys(carried.polls)).toEqual(['NodeID-A'])
  expect(carried.senders).toEqual({ [ALPHA]: { [SENDER]: 1_790_000_001 } })
  forgetOtherProviders(
    carried,
    remembered({ members: new Set([BRAVO]), nowSeconds: 1_790_000_001 + DAY + 1 }),
  )
  expect(carried.senders).toEqual({})
  expect(Object.keys(carried.silence)).toEqual([BRAVO])
  expect(carried.refused).toEqual({ [BRAVO]: 1 })
  expect(carried.refusals).toEqual({ [BRAVO]: [] })
})

test('a silence that an update ends before the round is judged is kept until then', () => {
  const carried = state()
  addBlock(carried, block(0, true), OWNERS)
  currentSilenceOf(carried, ALPHA, 100, 1.5)
  pass(carried, 30)
  addBlock(carried, block(31, true), OWNERS)
  addBlock(carried, block(32, true), OWNERS)
  const peak = longestEndedSilenceOf(carried, ALPHA, 100, 1.5)
  expect(peak).toMatchObject({ blocks: 30, lastUpdateBlock: 0, block: 31 })
  expect(peak?.exponent).toBeCloseTo(-100 * 30 * Math.log1p(-1.5 / 4096))
  expect(currentSilenceOf(carried, ALPHA, 100, 1.5).blocks).toBe(0)
})

test('an update of any sender ends the silence, and an unknown sender is not recorded', () => {
  const carried = state()
  pass(carried, 5)
  addBlock(carried, { ...block(6), fastUpdates: [update(null)] }, OWNERS)
  expect(carried.silence[ALPHA]).toMatchObject({ lastUpdateBlock: 6, blocks: 0 })
  expect(carried.senders).toEqual({})
})

test("a sender that front-runs a few updates is not recorded as the provider's account", () => {
  const carried = state()
  const sentBy = (sender: Address) => ({
    ...block(carried.blocksRead),
    fastUpdates: [update(sender)],
  })
  const accounts = () => sendersOf(carried, ALPHA, 1_790_000_000).toSorted()
  addBlock(carried, sentBy(BRAVO), OWNERS)
  addBlock(carried, sentBy(BRAVO), OWNERS)
  expect(accounts()).toEqual([])
  for (let n = 0; n < 20; n += 1) addBlock(carried, sentBy(SENDER), OWNERS)
  addBlock(carried, sentBy(BRAVO), OWNERS)
  addBlock(carried, sentBy(BRAVO), OWNERS)
  expect(accounts()).toEqual([SENDER])
})

test('a new account of a provider counts once it sends a fifth of the recent updates', () => {
  const carried = state()
  const send = (sender: Address, times: number) => {
    for (let n = 0; n < times; n += 1) {
      const fastUpdates = [update(sender)]
      addBlock(carried, { ...block(carried.blocksRead), fastUpdates }, OWNERS)
    }
  }
  send(SENDER, 5000)
  send(BRAVO, 10)
  expect(carried.senders[ALPHA]).not.toHaveProperty(BRAVO)
  send(BRAVO, 50)
  expect(carried.senders[ALPHA]).toHaveProperty(BRAVO)
})

test('a provider is registered or not by its last registration or removal', () => {
  const carried = state()
  const registration = { voter: ALPHA, epoch: 7, isRegistered: true }
  addBlock(carried, { ...block(1), registrations: [registration] }, OWNERS)
  expect(carried.registrations[ALPHA]).toEqual({ epoch: 7, isRegistered: true })
  addBlock(
    carried,
    { ...block(2), registrations: [{ ...registration, isRegistered: false }] },
    OWNERS,
  )
  expect(carried.registrations[ALPHA]).toEqual({ epoch: 7, isRegistered: false })
  expect(carried.registrationMoments[ALPHA]).toMatchObject({ epoch: 7, block: 1 })
})

test('a stored state that lacks a property is refused', () => {
  const stored = CarriedState.encode(EMPTY_STATE)
  expect(CarriedState.parse(stored)).toEqual(EMPTY_STATE)
  for (const property of Object.keys(stored)) {
    const { [property]: _missing, ...damaged } = z.looseObject({}).parse(stored)
    expect(CarriedState.safeParse(damaged).success, property).toBe(false)
  }
})

test('an uncertain block ends every silence, because its content is unknown', () => {
  const carried = state()
  currentSilenceOf(carried, ALPHA, 100, 1.5)
  pass(carried, 50)
  addUncertainBlock(carried)
  expect(currentSilenceOf(carried, ALPHA, 100, 1.5)).toMatchObject({ exponent: 0, blocks: 0 })
  expect(carried.registrationsSince).toBeNull()
})

test.each([
  ['failed', 'Relay', false],
  ['succeeded', 'Relay', true],
  ['unknown', 'Relay', true],
  ['contradicted', 'Relay', true],
  ['contradicted', 'FtsoV2', true],
  ['succeeded', 'Submission', false],
] as const)('a call failed without a reason: if its replay %s, at the contract %s, it counts as a lost race: %s', (replay, contract, isRace) => {
  const carried = state()
  const hex = (digit: string) => `0x${digit.repeat(64)}` as const
  const account = { voter: ALPHA, role: 'submit' as const }
  const owners: AccountOwners = {
    bySigningPolicy: new Map(),
    byAccount: new Map([[SENDER.toLowerCase(), account]]),
  }
  const call = {
    tx: hex('a'),
    from: SENDER,
    to: BRAVO,
    contract,
    selector: '0x12345678' as const,
    block: 1,
    ok: false,
    gasUsed: 1,
    gasLimit: 2,
    reason: null,
    replay,
  }
  addBlock(carried, { ...block(1), calls: [call] }, owners)
  expect(carried.calls[ALPHA]).toMatchObject([{ isBenign: isRace }])
})
