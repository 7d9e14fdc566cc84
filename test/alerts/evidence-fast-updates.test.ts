import {
  encodeAbiParameters,
  encodeFunctionData,
  parseAbi,
  parseAbiParameters,
  parseSignature,
  sha256,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { checkAge, update } from '../../examples/evidence/fast-updates.ts'
import { VIEWS } from '../../examples/evidence/protocol.ts'
import { Refuted, Unchecked } from '../../examples/evidence/rpc.ts'

/** The check of a claim about a fast update against a chain that answers as the test says. */

const ACCOUNT = privateKeyToAccount(`0x${'46'.repeat(32)}`)
const ABI = parseAbi([
  'struct G1Point { uint256 x; uint256 y; }',
  'struct SortitionCredential { uint256 replicate; G1Point gamma; uint256 c; uint256 s; }',
  'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
  'struct FastUpdates { uint256 sortitionBlock; SortitionCredential sortitionCredential; bytes deltas; Signature signature; }',
  'function submitUpdates(FastUpdates updates)',
])
const UNSIGNED = parseAbiParameters([
  'uint256, Credential, bytes',
  'struct Credential { uint256 replicate; Point gamma; uint256 c; uint256 s; }',
  'struct Point { uint256 x; uint256 y; }',
])
const HASH = `0x${'a'.repeat(64)}`
const CONTRACT = `0x${'c'.repeat(40)}`
const VOTER = `0x${'1'.repeat(40)}`
const BLOCK = 100

/** Calldata of an update for 17 feeds that the provider signed. */
async function calldata(sortitionBlock: bigint) {
  const sortitionCredential = { replicate: 0n, gamma: { x: 1n, y: 2n }, c: 3n, s: 4n }
  const deltas = '0x0000000000' as const
  const encoded = encodeAbiParameters(UNSIGNED, [sortitionBlock, sortitionCredential, deltas])
  const { v, r, s } = parseSignature(
    await ACCOUNT.signMessage({ message: { raw: sha256(encoded) } }),
  )
  const signature = { v: Number(v), r, s }
  const args = [{ sortitionBlock, sortitionCredential, deltas, signature }] as const
  return encodeFunctionData({ abi: ABI, functionName: 'submitUpdates', args })
}

interface Chain {
  readonly sortitionBlock?: bigint
  /** Feeds now, and at the block; undefined if the endpoint has no state of the block. */
  readonly now?: number
  readonly then?: number | undefined
  /** Submission window now, and at the block; undefined if the endpoint has no state of the block. */
  readonly windowNow?: number
  readonly windowThen?: number | undefined
}

/** The error of the check; undefined if the chain confirms the claim. */
async function check({
  sortitionBlock = 95n,
  now = 9,
  then,
  windowNow = 10,
  windowThen,
}: Chain): Promise<unknown> {
  const input = await calldata(sortitionBlock)
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const signingPolicy = ACCOUNT.address.toLowerCase()
  const protocol = {
    rpc: {
      block: async () => ({
        number: BLOCK,
        at: 1000,
        transactions: [{ hash: HASH, to: CONTRACT, input }],
      }),
      receipt: async () => ({ isReverted: false, gasUsed: 0, logs: [] }),
    },
    contracts: async () => [CONTRACT],
    contract: async () => CONTRACT,
    policy: async () => ({ members: [{ voter: VOTER, signingPolicy }] }),
    clock: async () => ({ first: 0, length: 90 }),
    startOf: async (epoch: number) => (epoch === 1 ? 0 : undefined),
    async view(_to: string, data: string, block?: number) {
      const isWindow = data === VIEWS.submissionWindow
      const [here, before] = isWindow ? [windowNow, windowThen] : [now, then]
      const feeds = block === undefined ? here : before
      if (feeds === undefined) throw new Unchecked('the state of the block is gone')
      if (isWindow) return [word(feeds)]
      return [word(32), word(feeds), ...Array.from({ length: feeds }, () => word(1))]
    },
  }
  const length = { feedsSent: 17, feedCount: 9, isAccepted: false }
  const about = { kind: 'update', provider: VOTER, rewardEpoch: 1 } as const
  const claim = { ...about, transaction: HASH, block: BLOCK, ...length }
  const alert = {
    chainId: 14,
    firedAt: new Date(1_001_000).toISOString(),
    data: {},
    blocks: null as never,
  }
  return update(protocol as never, claim, alert, {}).then(
    () => undefined,
    (error: unknown) => error,
  )
}

test.each([
  ['as many feeds then', { then: 9, now: 12 }, undefined],
  ['as many feeds now, and no state of the block', { now: 9 }, undefined],
  ['other feeds then', { then: 12, now: 12 }, Refuted],
  // Feeds may have been added since.
  ['other feeds now, and no state of the block', { now: 12 }, Unchecked],
] as const)('%s', async (_name, chain, expected) => {
  const error = await check(chain)
  expect(error === undefined ? error : (error as Error).constructor).toBe(expected)
})

test.each([
  ['the first block', 100n, undefined],
  ['the last block', 91n, undefined],
  ['a block that is too long ago', 90n, Refuted],
  ['a later block', 101n, Refuted],
] as const)('sent in block 100, an update is the provider’s doing if it is for %s', async (_name, sortitionBlock, expected) => {
  const error = await check({ sortitionBlock, then: 9, windowThen: 10 })
  expect(error === undefined ? error : (error as Error).constructor).toBe(expected)
})

test.each([
  ['was longer then', { windowThen: 20, windowNow: 10 }, undefined],
  ['was shorter then', { windowThen: 10, windowNow: 20 }, Refuted],
  ['is long enough now, and then unknown', { windowNow: 20 }, undefined],
  ['is too short now, and then unknown', { windowNow: 10 }, Unchecked],
] as const)('sent 15 blocks after its block, by a submission window that %s', async (_name, chain, expected) => {
  const error = await check({ sortitionBlock: 85n, then: 9, ...chain })
  expect(error === undefined ? error : (error as Error).constructor).toBe(expected)
})

test.each([
  ['in the round before', 90, undefined],
  ['long before it', 271, Unchecked],
  ['after it', -1, Refuted],
] as const)('an alert is of an update that was sent %s', async (_name, age, expected) => {
  const protocol = {
    clock: async () => ({ first: 0, length: 90 }),
  }
  const firedAt = new Date((1000 + age) * 1000).toISOString()
  const error = await checkAge(protocol as never, { at: 1000, what: 'it was sent' }, firedAt).catch(
    (value: unknown) => value,
  )
  expect(error === undefined ? error : (error as Error).constructor).toBe(expected)
})
