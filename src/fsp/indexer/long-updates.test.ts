import { encodeAbiParameters, type Hex, parseAbiParameters, parseSignature, sha256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { getAddress } from 'viem/utils'
import { expect, test } from 'vitest'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { SignedUpdate } from '../protocol/fast-update.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { RefusedUpdate } from '../reader/round-events.ts'
import type { AccountOwners } from './account-owners.ts'
import { addBlock, CarriedState, EMPTY_STATE } from './carried-state.ts'
import { addRefusedUpdates, judgeRefusedUpdates, longestUpdateOf } from './long-updates.ts'

const [ALPHA, SENDER, STRANGER] = [1, 2, 3].map((n) => getAddress(`0x${`${n}`.repeat(40)}`)) as [
  Address,
  Address,
  Address,
]
const ACCOUNT = privateKeyToAccount(`0x${'46'.repeat(32)}`)
const OWNERS: AccountOwners = {
  bySigningPolicy: new Map([[ACCOUNT.address as Address, ALPHA]]),
  byAccount: new Map(),
}
const UNSIGNED = parseAbiParameters([
  'uint256, Credential, bytes',
  'struct Credential { uint256 replicate; Point gamma; uint256 c; uint256 s; }',
  'struct Point { uint256 x; uint256 y; }',
])
const TX: Hash = `0x${'e'.repeat(64)}`
const FEEDS = 9
const WINDOW = 10
/** 20 feeds, of which the last ones change. */
const LONG: Hex = `0x${'00'.repeat(4)}55`

/** An update that ALPHA signed. */
async function signed(deltas: Hex, sortitionBlock = 1n): Promise<SignedUpdate> {
  const sortitionCredential = { replicate: 0n, gamma: { x: 1n, y: 2n }, c: 3n, s: 4n }
  const raw = sha256(encodeAbiParameters(UNSIGNED, [sortitionBlock, sortitionCredential, deltas]))
  const { v, r, s } = parseSignature(await ACCOUNT.signMessage({ message: { raw } }))
  return { sortitionBlock, sortitionCredential, deltas, signature: { v: Number(v), r, s } }
}

/** A refused update that ALPHA signed. */
async function refused(deltas: Hex = LONG, sortitionBlock = 1n): Promise<RefusedUpdate> {
  return { tx: TX, sender: SENDER, update: await signed(deltas, sortitionBlock) }
}

/** Updates that are too long and signed by nobody, each from another account. */
async function strangers(count: number): Promise<readonly RefusedUpdate[]> {
  const signature = { v: 27, r: TX, s: TX } as const
  const update = { ...(await signed('0xffffffffffff')), signature }
  return Array.from({ length: count }, (_, n) => ({ tx: TX, sender: `${STRANGER}${n}`, update }))
}

function block(number: number, ...refusedUpdates: readonly RefusedUpdate[]): ProtocolBlock {
  const at = 1_790_000_000 + number
  return {
    ref: { number, hash: `0x${'0'.repeat(64)}`, at: new Date(at * 1000) },
    number,
    at,
    submissions: [],
    finalised: [],
    requests: [],
    fastUpdates: [],
    refusedUpdates,
    registrations: [],
    calls: [],
    claims: [],
  }
}

const state = (): CarriedState => ({ ...structuredClone(EMPTY_STATE), feedCount: FEEDS })

/** The longest update of a round of these blocks. */
async function roundOf(
  state: CarriedState,
  window: number | null,
  ...blocks: readonly ProtocolBlock[]
) {
  state.longest = {}
  for (const each of blocks) {
    addBlock(state, each, OWNERS)
    await addRefusedUpdates(state, each, OWNERS)
  }
  judgeRefusedUpdates(state, window, blocks.at(-1)?.number ?? 0)
  return longestUpdateOf(state, ALPHA, FEEDS)
}

const accepted = (number: number, ...feeds: readonly (number | null)[]): ProtocolBlock => ({
  ...block(number),
  fastUpdates: feeds.map((feedsSent) => ({
    signingPolicy: ACCOUNT.address as Address,
    tx: TX,
    sender: SENDER,
    feedsSent,
  })),
})

test('the longest of a round is judged when the number of feeds is known', async () => {
  const carried = state()
  await roundOf(carried, WINDOW, accepted(1, 9, 13), accepted(2, 10, null))
  expect(longestUpdateOf(carried, ALPHA, null)).toBeUndefined()
  expect(longestUpdateOf(carried, ALPHA, 13)).toBeUndefined()
  const at = 1_790_000_001
  const expected = { tx: TX, block: 1, at, feedsSent: 13, feedCount: 12, isAccepted: true }
  expect(longestUpdateOf(carried, ALPHA, 12)).toEqual(expected)
})

test('an update that was refused for its length is its signer’s, whoever sent it', async () => {
  const carried = state()
  const found = await roundOf(carried, WINDOW, block(1, await refused()))
  expect(found).toMatchObject({ feedsSent: 20, isAccepted: false })
  expect(carried.silence).toEqual({})
})

test('an update that was refused for something else is not judged', async () => {
  const short = await refused(`0x${'00'.repeat(4)}`)
  expect(await roundOf(state(), WINDOW, block(1, short))).toBeUndefined()
})

test('of equally long updates the last is told, whether it was accepted or refused', async () => {
  const [own, carried] = [await refused(), state()]
  const found = await roundOf(carried, WINDOW, block(1, own), accepted(2, 20))
  expect(found).toMatchObject({ block: 2, isAccepted: true })
  const later = await refused(LONG, 4n)
  const next = await roundOf(carried, WINDOW, accepted(3, 20), block(4, later))
  expect(next).toMatchObject({ block: 4, isAccepted: false })
})

test('any number of refused updates by strangers do not hide that of a provider, and let others work', async () => {
  const [many, own] = [await strangers(300), await refused()]
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const found = await roundOf(state(), WINDOW, block(1, ...many, own))
  isOver = true
  expect(found).toMatchObject({ block: 1, isAccepted: false })
  expect(turns).toBeGreaterThan(10)
})

test('a stranger who became a provider’s account hides nothing, either', async () => {
  const carried = state()
  for (let number = 0; number < 3; number += 1) addBlock(carried, accepted(number, 9), OWNERS)
  expect(Object.keys(carried.senders[ALPHA] ?? {})).toEqual([SENDER])
  const known = (await strangers(9)).map((each) => ({ ...each, sender: SENDER }))
  const own = { ...(await refused()), sender: STRANGER }
  expect(await roundOf(carried, WINDOW, block(4, ...known, own))).toMatchObject({ block: 4 })
})

test.each([
  [10, [1009]],
  [12, [1009, 1011]],
  [5, []],
] as const)('with a submission window of %s blocks, updates of block 1000 are judged in the blocks %s', async (window, expected) => {
  const judged: number[] = []
  const update = await refused(undefined, 1000n)
  for (const number of [5_000_000, 1300, 1012, 1011, 999, 1009]) {
    const found = await roundOf(state(), window, block(number, update))
    if (found !== undefined) judged.push(number)
  }
  expect(judged.toSorted()).toEqual(expected)
})

test('an update that a stranger sends again too late hides no other one', async () => {
  const [old, own] = [await refused(LONG, 1000n), await refused(LONG, 1015n)]
  const found = await roundOf(state(), WINDOW, block(1012, old), block(1016, own))
  expect(found).toMatchObject({ block: 1016 })
})

test('an update that is sent again within its blocks counts once', async () => {
  const own = await refused(undefined, 1000n)
  const carried = state()
  expect(await roundOf(carried, WINDOW, block(1000, own))).toMatchObject({ block: 1000 })
  const next = CarriedState.parse(carried)
  expect(await roundOf(next, WINDOW, block(1005, own))).toBeUndefined()
  const later = await refused(undefined, 1006n)
  expect(await roundOf(next, WINDOW, block(1006, later))).toMatchObject({ block: 1006 })
})

test('refused updates wait while the submission window is unknown, also in a stored state', async () => {
  const carried = state()
  expect(await roundOf(carried, null, block(1, await refused()))).toBeUndefined()
  const next = CarriedState.parse(JSON.parse(JSON.stringify(carried)))
  expect(await roundOf(next, WINDOW, block(76))).toMatchObject({ block: 1, isAccepted: false })
  await roundOf(carried, null, block(256))
  expect(carried.refusals).toEqual({ [ALPHA]: [] })
})
