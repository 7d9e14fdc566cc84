import { encodeAbiParameters, type Hex, parseAbiParameters, parseSignature, sha256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getAddress } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { SignedUpdate } from '../protocol/fast-update.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { AccountOwners } from './account-owners.ts'
import { CarriedState, EMPTY_STATE } from './carried-state.ts'
import { longUpdateOf } from './long-updates.ts'
import {
  addBlock,
  addPoll,
  addUnsureBlock,
  forgetOthers,
  peakOf,
  sendersOf,
  silenceOf,
  takePolls,
} from './round-state.ts'

const [ALPHA, BRAVO, SIGNER, SENDER] = [1, 2, 3, 4].map((n) =>
  getAddress(`0x${`${n}`.repeat(40)}`),
) as [Address, Address, Address, Address]
const OWNERS: AccountOwners = { bySigningPolicy: new Map([[SIGNER, ALPHA]]), byAccount: new Map() }
const DAY = 86_400

const ACCOUNT = privateKeyToAccount(`0x${'46'.repeat(32)}`)
const SIGNED_OWNERS: AccountOwners = {
  bySigningPolicy: new Map([[ACCOUNT.address as Address, ALPHA]]),
  byAccount: new Map(),
}
const UNSIGNED = parseAbiParameters([
  'uint256, Credential, bytes',
  'struct Credential { uint256 replicate; Point gamma; uint256 c; uint256 s; }',
  'struct Point { uint256 x; uint256 y; }',
])

/** An update that ALPHA signed. */
async function signed(deltas: Hex, sortitionBlock = 1n): Promise<SignedUpdate> {
  const sortitionCredential = { replicate: 0n, gamma: { x: 1n, y: 2n }, c: 3n, s: 4n }
  const raw = sha256(encodeAbiParameters(UNSIGNED, [sortitionBlock, sortitionCredential, deltas]))
  const { v, r, s } = parseSignature(await ACCOUNT.signMessage({ message: { raw } }))
  return { sortitionBlock, sortitionCredential, deltas, signature: { v: Number(v), r, s } }
}

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
  over: Partial<Parameters<typeof forgetOthers>[1]> = {},
): Parameters<typeof forgetOthers>[1] {
  const both = new Set([ALPHA, BRAVO])
  return {
    members: both,
    active: both,
    watched: both,
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
  const one = state()
  silenceOf(one, ALPHA, 100, 1.5)
  pass(one, 50)
  const after = silenceOf(one, ALPHA, 100, 1.5)
  expect(after).toMatchObject({ blocks: 50, lastUpdateBlock: null })
  expect(after.exponent).toBeCloseTo(-100 * 50 * Math.log1p(-1.5 / 4096), 9)
  addBlock(one, block(51, true), OWNERS)
  expect(silenceOf(one, ALPHA, 100, 1.5)).toMatchObject({ blocks: 0, lastUpdateBlock: 51 })
})

test('blocks in which a provider is in no policy do not count as silence', () => {
  const one = state()
  silenceOf(one, ALPHA, 100, 1.5)
  pass(one, 1000)
  forgetOthers(one, remembered({ active: new Set([BRAVO]) }))
  expect(silenceOf(one, ALPHA, 100, 1.5)).toMatchObject({ exponent: 0, blocks: 0 })
})

test('the end of a validator’s stake stays known after it left', () => {
  const one = state()
  addPoll(one, { 'NodeID-A': { connected: true, endsAt: 1_790_000_060 } })
  for (const isListed of [true, false]) {
    addPoll(one, { 'NodeID-A': null })
    expect(takePolls(one, ['NodeID-A'])).toMatchObject([{ isListed, endsAt: 1_790_000_060 }])
  }
})

test('state of providers in no policy is deleted', () => {
  const one = state()
  silenceOf(one, ALPHA, 1, 1.5)
  silenceOf(one, BRAVO, 1, 1.5)
  for (let n = 0; n < 3; n += 1) addBlock(one, block(1, true), OWNERS)
  one.calls[BRAVO] = []
  one.refused = { [ALPHA]: 1, [BRAVO]: 1 }
  addPoll(one, { 'NodeID-A': null, 'NodeID-B': null })
  forgetOthers(one, remembered({ watched: new Set([ALPHA]), nodeIds: new Set(['NodeID-A']) }))
  expect(Object.keys(one.silence)).toEqual([BRAVO, ALPHA].toSorted())
  expect(one.calls).toEqual({})
  expect(Object.keys(one.polls)).toEqual(['NodeID-A'])
  expect(one.senders).toEqual({ [ALPHA]: { [SENDER]: 1_790_000_001 } })
  forgetOthers(one, remembered({ members: new Set([BRAVO]), nowSeconds: 1_790_000_001 + DAY + 1 }))
  expect(one.senders).toEqual({})
  expect(Object.keys(one.silence)).toEqual([BRAVO])
  expect(one.refused).toEqual({ [BRAVO]: 1 })
})

test('a silence that an update ends before the round is judged is kept until then', () => {
  const one = state()
  addBlock(one, block(0, true), OWNERS)
  silenceOf(one, ALPHA, 100, 1.5)
  pass(one, 30)
  addBlock(one, block(31, true), OWNERS)
  addBlock(one, block(32, true), OWNERS)
  const peak = peakOf(one, ALPHA, 100, 1.5)
  expect(peak).toMatchObject({ blocks: 30, lastUpdateBlock: 0, block: 31 })
  expect(peak?.exponent).toBeCloseTo(-100 * 30 * Math.log1p(-1.5 / 4096))
  expect(silenceOf(one, ALPHA, 100, 1.5).blocks).toBe(0)
})

test('an update of any sender ends the silence, and an unknown sender is not recorded', () => {
  const one = state()
  pass(one, 5)
  addBlock(one, { ...block(6), fastUpdates: [update(null)] }, OWNERS)
  expect(one.silence[ALPHA]).toMatchObject({ lastUpdateBlock: 6, blocks: 0 })
  expect(one.senders).toEqual({})
})

describe('the length of updates', () => {
  const sent = (number: number, ...feeds: readonly (number | null)[]) => ({
    ...block(number),
    fastUpdates: feeds.map((one) => update(SENDER, one)),
  })
  /** An update for 20 feeds that ALPHA signed, and that the contract refused. */
  const refused = async (deltas: Hex = `0x${'00'.repeat(4)}55`, sortitionBlock = 1n) => ({
    tx: TX,
    sender: SENDER,
    update: await signed(deltas, sortitionBlock),
  })
  /** Updates that are too long and signed by nobody. */
  const strangers = async (count: number) => {
    const signature = { v: 27, r: TX, s: TX } as const
    const strange = { ...(await signed('0xffffffffffff')), signature }
    return Array.from({ length: count }, () => ({ tx: TX, sender: BRAVO, update: strange }))
  }

  test('the longest of a round is judged when the number of feeds is known', () => {
    const one = state()
    addBlock(one, sent(1, 9, 13), OWNERS)
    addBlock(one, sent(2, 10, null), OWNERS)
    expect(longUpdateOf(one, ALPHA, null)).toBeUndefined()
    expect(longUpdateOf(one, ALPHA, 13)).toBeUndefined()
    const at = 1_790_000_001
    const expected = { tx: TX, block: 1, at, feedsSent: 13, feedCount: 12, isAccepted: true }
    expect(longUpdateOf(one, ALPHA, 12)).toEqual(expected)
  })

  test('an update that was refused for its length is its signer’s, whoever sent it', async () => {
    const one = { ...state(), feedCount: 9 }
    addBlock(one, { ...block(1), refusedUpdates: [await refused()] }, SIGNED_OWNERS)
    expect(longUpdateOf(one, ALPHA, 9)).toMatchObject({ feedsSent: 20, isAccepted: false })
    expect(one.silence).toEqual({})
  })

  test('an update that was refused for something else is not judged', async () => {
    const one = { ...state(), feedCount: 9 }
    const short = await refused(`0x${'00'.repeat(4)}`)
    addBlock(one, { ...block(1), refusedUpdates: [short] }, SIGNED_OWNERS)
    expect(one.longest).toEqual({})
  })

  test('many refused updates by strangers cost four recoveries of signers a block', async () => {
    const one = { ...state(), feedCount: 9 }
    const four = await strangers(4)
    addBlock(one, { ...block(1), refusedUpdates: [...four, await refused()] }, SIGNED_OWNERS)
    expect(one.longest).toEqual({})
    addBlock(one, { ...block(2), refusedUpdates: [await refused(), ...four] }, SIGNED_OWNERS)
    expect(longUpdateOf(one, ALPHA, 9)).toMatchObject({ block: 2 })
  })

  test('those of a known account are judged before those of strangers', async () => {
    const one = { ...state(), feedCount: 9 }
    for (let number = 0; number < 3; number += 1) {
      const fastUpdates = [{ ...update(SENDER), signingPolicy: ACCOUNT.address as Address }]
      addBlock(one, { ...block(number), fastUpdates }, SIGNED_OWNERS)
    }
    const refusedUpdates = [...(await strangers(9)), await refused()]
    addBlock(one, { ...block(4), refusedUpdates }, SIGNED_OWNERS)
    expect(longUpdateOf(one, ALPHA, 9)).toMatchObject({ block: 4, isAccepted: false })
  })

  test('an update of an earlier or a later block, which anybody can send again, is not judged', async () => {
    const one = { ...state(), feedCount: 9 }
    const judged: number[] = []
    const update = await refused(undefined, 1000n)
    for (const number of [5_000_000, 1010, 999, 1009]) {
      addBlock(one, { ...block(number), refusedUpdates: [update] }, SIGNED_OWNERS)
      if (longUpdateOf(one, ALPHA, 9) !== undefined) judged.push(number)
    }
    expect(judged).toEqual([1009])
  })

  test('an update that is sent again within its blocks counts once', async () => {
    const one = { ...state(), feedCount: 9 }
    addBlock(
      one,
      { ...block(1000), refusedUpdates: [await refused(undefined, 1000n)] },
      SIGNED_OWNERS,
    )
    expect(longUpdateOf(one, ALPHA, 9)).toMatchObject({ block: 1000 })
    const next = CarriedState.parse({ ...one, longest: {} })
    addBlock(
      next,
      { ...block(1005), refusedUpdates: [await refused(undefined, 1000n)] },
      SIGNED_OWNERS,
    )
    expect(longUpdateOf(next, ALPHA, 9)).toBeUndefined()
    addBlock(
      next,
      { ...block(1006), refusedUpdates: [await refused(undefined, 1006n)] },
      SIGNED_OWNERS,
    )
    expect(longUpdateOf(next, ALPHA, 9)).toMatchObject({ block: 1006 })
  })
})

test("a sender that front-runs a few updates is not recorded as the provider's account", () => {
  const one = state()
  const sentBy = (sender: Address) => ({
    ...block(one.blocksRead),
    fastUpdates: [update(sender)],
  })
  const accounts = () => sendersOf(one, ALPHA, 1_790_000_000).toSorted()
  addBlock(one, sentBy(BRAVO), OWNERS)
  addBlock(one, sentBy(BRAVO), OWNERS)
  expect(accounts()).toEqual([])
  for (let n = 0; n < 20; n += 1) addBlock(one, sentBy(SENDER), OWNERS)
  addBlock(one, sentBy(BRAVO), OWNERS)
  addBlock(one, sentBy(BRAVO), OWNERS)
  expect(accounts()).toEqual([SENDER])
})

test('a new account of a provider counts once it sends a fifth of the recent updates', () => {
  const one = state()
  const send = (sender: Address, times: number) => {
    for (let n = 0; n < times; n += 1) {
      const fastUpdates = [update(sender)]
      addBlock(one, { ...block(one.blocksRead), fastUpdates }, OWNERS)
    }
  }
  send(SENDER, 5000)
  send(BRAVO, 10)
  expect(one.senders[ALPHA]).not.toHaveProperty(BRAVO)
  send(BRAVO, 50)
  expect(one.senders[ALPHA]).toHaveProperty(BRAVO)
})

test('a provider is registered or not by its last registration or removal', () => {
  const one = state()
  const registration = { voter: ALPHA, epoch: 7, isRegistered: true }
  addBlock(one, { ...block(1), registrations: [registration] }, OWNERS)
  expect(one.registrations[ALPHA]).toEqual({ epoch: 7, isRegistered: true })
  addBlock(one, { ...block(2), registrations: [{ ...registration, isRegistered: false }] }, OWNERS)
  expect(one.registrations[ALPHA]).toEqual({ epoch: 7, isRegistered: false })
  expect(one.registrationMoments[ALPHA]).toMatchObject({ epoch: 7, block: 1 })
})

test('a state that an earlier release stored can be decoded', () => {
  const { silence, senders, calls, polls } = EMPTY_STATE
  const stored = { blocksRead: 9, silence, senders, calls, polls }
  expect(CarriedState.parse(stored)).toEqual({ ...EMPTY_STATE, blocksRead: 9 })
})

test('an uncertain block ends every silence, because its content is unknown', () => {
  const one = state()
  silenceOf(one, ALPHA, 100, 1.5)
  pass(one, 50)
  addUnsureBlock(one)
  expect(silenceOf(one, ALPHA, 100, 1.5)).toMatchObject({ exponent: 0, blocks: 0 })
  expect(one.registrationsSince).toBeNull()
})

test.each([
  ['failed', 'Relay', false],
  ['succeeded', 'Relay', true],
  ['unknown', 'Relay', true],
  ['contradicted', 'Relay', true],
  ['contradicted', 'FtsoV2', true],
  ['succeeded', 'Submission', false],
] as const)('a call failed without a reason: if its replay %s, at the contract %s, it counts as a lost race: %s', (replay, contract, isRace) => {
  const one = state()
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
  addBlock(one, { ...block(1), calls: [call] }, owners)
  expect(one.calls[ALPHA]).toMatchObject([{ isBenign: isRace }])
})
