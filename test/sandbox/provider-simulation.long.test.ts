import {
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  hexToNumber,
  isAddressEqual,
  keccak256,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
  recoverMessageAddress,
  size,
  slice,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import { CONTRACTS, REGISTRY_CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import {
  createProviderSimulation,
  type ProviderSimulation,
} from '#sandbox/devnet/provider-simulation.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import selectors from '../fixtures/fsp-selectors.json' with { type: 'json' }

/** Reward epoch 452 of Flare, in its second hour: 12:00 on 20 November 2026. */
const AT = new Date('2026-11-20T12:00:00Z')
const ROUND = 1_519_400
const EPOCH = 452

/** Functions of the real contracts. */
const REGISTRY = parseAbi([
  'function getAllContracts() view returns (string[] names, address[] addresses)',
])
const MANAGER = parseAbi([
  'function getCurrentRewardEpochId() view returns (uint24)',
  'function getCurrentVotingEpochId() view returns (uint32)',
  'function firstVotingRoundStartTs() view returns (uint64)',
  'function votingEpochDurationSeconds() view returns (uint64)',
  'function rewardEpochDurationSeconds() view returns (uint64)',
  'function currentRewardEpochExpectedEndTs() view returns (uint64)',
  'function getStartVotingRoundId(uint256) view returns (uint32)',
  'function getThreshold(uint256) view returns (uint16)',
  'function uptimeVoteHash(uint256) view returns (bytes32)',
  'function rewardsHash(uint256) view returns (bytes32)',
  'function getVoterUptimeVoteSignInfo(uint24, address) view returns (uint64, uint64)',
  'function getVoterRewardsSignInfo(uint24, address) view returns (uint64, uint64)',
  'function relay() view returns (address)',
  'function voterRegistry() view returns (address)',
])
const VOTERS = parseAbi([
  'function isVoterRegistered(address, uint256) view returns (bool)',
  'function getRegisteredVotersAndNormalisedWeights(uint256) view returns (address[], uint16[])',
  'function getRegisteredSubmitAddresses(uint256) view returns (address[])',
  'function getWeightsSums(uint256) view returns (uint128, uint16, uint16)',
  'function getVoterNormalisedWeight(address, uint256) view returns (uint16)',
])
const RELAY = parseAbi([
  'event SigningPolicyInitialized(uint24 indexed rewardEpochId, uint32 startVotingRoundId, uint16 threshold, uint256 seed, address[] voters, uint16[] weights, bytes signingPolicyBytes, uint64 timestamp)',
  'event ProtocolMessageRelayed(uint8 indexed protocolId, uint32 indexed votingRoundId, bool isSecureRandom, bytes32 merkleRoot)',
  'function isFinalized(uint256, uint256) view returns (bool)',
  'function merkleRoots(uint256, uint256) view returns (bytes32)',
  'function lastInitializedRewardEpochData() view returns (uint32, uint32)',
])

const UPDATES = parseAbi([
  'event FastUpdateFeedsSubmitted(uint32 indexed votingRoundId, address indexed signingPolicyAddress)',
])

const NAMES = ['Alpha', 'Bravo', 'Charlie', 'Delta', 'Echo']
const SUBMISSIONS: Readonly<Record<string, string>> = {
  '0x6c532fae': 'commit',
  '0x9d00c9fd': 'reveal',
  '0x57eed580': 'sign',
}
const ROUND_START = (round: number) => 1_658_430_000 + 90 * round

let devnet: DevnetWithContracts
let simulation: ProviderSimulation

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: AT })
  simulation = await createProviderSimulation(devnet, {
    providers: NAMES.map((name) => ({ name })),
  })
})
afterAll(() => devnet.close())

const codeAt = (address: Address) => devnet.client.getCode({ address })
const head = () => devnet.client.getBlockNumber()

/**
 * Submissions of a provider in these blocks, such as `commit@75 100:32`: function, time, protocol
 * and length.
 */
async function submissionsOf(name: string, since: bigint, round: number): Promise<string[]> {
  const { accounts } = simulation.provider(name)
  const senders = [accounts.submit.address, accounts.submitSignatures.address].map((address) =>
    address.toLowerCase(),
  )
  const found: string[] = []
  for (let number = since + 1n; number <= (await head()); number += 1n) {
    const block = await devnet.client.getBlock({ blockNumber: number, includeTransactions: true })
    for (const { from, to, input, hash } of block.transactions) {
      const what = SUBMISSIONS[input.slice(0, 10)]
      if (
        what === undefined ||
        !senders.includes(from) ||
        to !== CONTRACTS.submission.toLowerCase()
      ) {
        continue
      }
      const { status } = await devnet.client.getTransactionReceipt({ hash })
      const frames = framesOf(input)
      if (frames.length > 0 && frames.every((frame) => frame.round !== round)) continue
      const at = Number(block.timestamp) - ROUND_START(round)
      const parts = frames.map(({ protocol, length }) => `${protocol}:${length}`)
      const failed = status === 'reverted' ? ['failed'] : []
      found.push([`${what}@${at}`, ...parts, ...failed].join(' '))
    }
  }
  return found
}

interface Frame {
  readonly protocol: number
  readonly round: number
  readonly length: number
  readonly payload: Hex
}

function framesOf(input: Hex): readonly Frame[] {
  const frames: Frame[] = []
  for (let place = 4; place < size(input); ) {
    const length = hexToNumber(slice(input, place + 5, place + 7))
    frames.push({
      protocol: hexToNumber(slice(input, place, place + 1)),
      round: hexToNumber(slice(input, place + 1, place + 5)),
      length,
      payload: slice(input, place + 7, place + 7 + length),
    })
    place += 7 + length
  }
  return frames
}

async function eventsSince(since: bigint) {
  const logs = await devnet.client.getLogs({ fromBlock: since + 1n })
  return parseEventLogs({ abi: [...RELAY, ...UPDATES], logs })
}

describe('the contracts of the sandbox', () => {
  const PLACES: Readonly<Record<string, `0x${string}`>> = CONTRACTS
  const all = Object.entries(selectors).flatMap(([place, ids]) =>
    Object.entries(ids).map(([what, id]) => [place, what, id] as const),
  )
  test.each(all)('%s has %s', async (place, _what, id) => {
    const code = await codeAt(PLACES[place] ?? '0x')
    // A contract pushes the hashes of its functions and events.
    expect(code).toContain(id.slice(2).replace(/^(00)+/, ''))
  })

  test('are where Flare has them, and the registry says so', async () => {
    const [names, addresses] = await devnet.client.readContract({
      address: devnet.contracts.registry,
      abi: REGISTRY,
      functionName: 'getAllContracts',
    })
    const named = Object.fromEntries(names.map((name, i) => [name, addresses[i]]))
    expect(named).toMatchObject({ ...REGISTRY_CONTRACTS, FtsoV2: devnet.contracts.ftsoV2 })
  })
})

describe('the first reward epoch', () => {
  const manager = { address: CONTRACTS.flareSystemsManager, abi: MANAGER } as const
  const voters = { address: CONTRACTS.voterRegistry, abi: VOTERS } as const

  test('is the current reward epoch, with Flare’s times', async () => {
    const { client } = devnet
    const read = (functionName: 'getCurrentRewardEpochId' | 'getCurrentVotingEpochId') =>
      client.readContract({ ...manager, functionName })
    expect(await read('getCurrentRewardEpochId')).toBe(EPOCH)
    expect(await read('getCurrentVotingEpochId')).toBe(ROUND)
    expect(
      await client.readContract({ ...manager, functionName: 'currentRewardEpochExpectedEndTs' }),
    ).toBe(BigInt(ROUND_START((EPOCH + 1) * 3360)))
    expect(simulation).toMatchObject({ rewardEpoch: EPOCH, round: ROUND + 1 })
  })

  test.each([EPOCH - 1, EPOCH])('has all providers in the policy of epoch %i', async (epoch) => {
    const { client } = devnet
    const args = [BigInt(epoch)] as const
    const [all, weights] = await client.readContract({
      ...voters,
      functionName: 'getRegisteredVotersAndNormalisedWeights',
      args,
    })
    const identities = simulation.providers.map(({ accounts }) => accounts.identity.address)
    expect(all).toEqual(identities)
    expect(weights).toEqual([13107, 13107, 13107, 13107, 13107])
    expect(
      await client.readContract({ ...voters, functionName: 'getRegisteredSubmitAddresses', args }),
    ).toEqual(simulation.providers.map(({ accounts }) => accounts.submit.address))
    expect(await client.readContract({ ...manager, functionName: 'getThreshold', args })).toBe(
      32_768,
    )
    expect(
      await client.readContract({ ...manager, functionName: 'getStartVotingRoundId', args }),
    ).toBe(epoch * 3360)
  })

  test('has the votes of the last epoch, none of them late', async () => {
    const { client } = devnet
    const before = [BigInt(EPOCH - 1)] as const
    for (const functionName of ['uptimeVoteHash', 'rewardsHash'] as const) {
      expect(
        Number(await client.readContract({ ...manager, functionName, args: before })),
      ).not.toBe(0)
    }
    const voter = simulation.provider('Alpha').accounts.identity.address
    const [at] = await client.readContract({
      ...manager,
      functionName: 'getVoterUptimeVoteSignInfo',
      args: [EPOCH - 1, voter],
    })
    expect(Number(at)).toBe(ROUND_START(EPOCH * 3360) + 600)
  })

  test('has calls about what is not decided yet revert, as on Flare', async () => {
    const { client } = devnet
    const voter = simulation.provider('Alpha').accounts.identity.address
    await expect(
      client.readContract({
        ...manager,
        functionName: 'getVoterRewardsSignInfo',
        args: [EPOCH, voter],
      }),
    ).rejects.toThrow('rewards hash not signed yet')
    await expect(
      client.readContract({
        ...voters,
        functionName: 'getVoterNormalisedWeight',
        args: [devnet.people.alice.account.address, BigInt(EPOCH)],
      }),
    ).rejects.toThrow('voter not registered')
  })
})

const HEALTHY = ['commit@75 100:32', 'reveal@110 100:68 200:3', 'sign@137 100:66 200:69']

describe('a round', () => {
  test('has the commits, reveals and signatures of all providers in time, and is final for both protocols', async () => {
    const since = await head()
    const { first, last, complete } = await simulation.playRounds(4)
    expect([first, last, complete]).toEqual([ROUND + 1, ROUND + 4, ROUND + 3])
    for (const name of NAMES) {
      expect(await submissionsOf(name, since, first)).toEqual(HEALTHY)
    }
    const events = await eventsSince(since)
    const relayed = events.filter((event) => event.eventName === 'ProtocolMessageRelayed')
    expect(relayed.map(({ args }) => [args.protocolId, args.votingRoundId])).toEqual(
      [first, first + 1, first + 2].flatMap((round) => [
        [100, round],
        [200, round],
      ]),
    )
    expect(relayed.every(({ address }) => address === CONTRACTS.relay.toLowerCase())).toBe(true)
    const updates = events.filter((event) => event.eventName === 'FastUpdateFeedsSubmitted')
    expect(updates.length).toBeGreaterThan(0)
  })

  test('has a block in every minute', async () => {
    const since = await head()
    await simulation.playRounds(3)
    const times: number[] = []
    for (let number = since; number <= (await head()); number += 1n) {
      times.push(Number((await devnet.client.getBlock({ blockNumber: number })).timestamp))
    }
    const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0))
    expect(Math.max(...gaps)).toBeLessThan(60)
    expect(Math.min(...gaps)).toBeGreaterThan(0)
  })

  test('can have as many quiet blocks besides as it should', async () => {
    const since = await head()
    await simulation.playRounds(2, 10)
    expect(Number((await head()) - since)).toBeGreaterThanOrEqual(2 * 10)
  })

  test.each<[Behaviour, string[]]>([
    ['silent', []],
    ['no-commit', HEALTHY.slice(1)],
    ['no-reveal', ['commit@75 100:32', 'sign@137 100:66 200:69']],
    ['no-signature', HEALTHY.slice(0, 2)],
    ['late-commit', ['commit@98 100:32', ...HEALTHY.slice(1)]],
    ['late-reveal', ['commit@75 100:32', 'sign@137 100:66 200:69', 'reveal@140 100:68 200:3']],
    ['early-reveal', ['commit@75 100:32', 'reveal@80 100:68 200:3', 'sign@137 100:66 200:69']],
    ['early-signature', [...HEALTHY.slice(0, 2), 'sign@125 100:66 200:69']],
    ['grace-signature', [...HEALTHY.slice(0, 2), 'sign@158 100:66 200:69']],
    ['wrong-length', ['commit@75 100:31', ...HEALTHY.slice(1)]],
    ['malformed-reveal', ['commit@75 100:32', 'reveal@110 100:33 200:3', 'sign@137 100:66 200:69']],
    ['reveal-mismatch', HEALTHY],
    ['wrong-key', HEALTHY],
    ['other-result', [...HEALTHY.slice(0, 2), 'sign@137 100:104 200:69']],
    ['no-bit-vote', ['commit@75 100:32', 'reveal@110 100:68', 'sign@137 100:66 200:69']],
    ['wrong-bit-vote-length', HEALTHY],
    ['bit-vote-against-consensus', HEALTHY],
    ['no-fdc-signature', [...HEALTHY.slice(0, 2), 'sign@137 100:66']],
    ['fdc-in-submit1', ['commit@75 100:32 200:1', ...HEALTHY.slice(1)]],
    [
      'failing-transactions',
      ['commit@75 100:32', 'commit@77 failed', ...HEALTHY.slice(1), 'commit@167 failed'],
    ],
    ['normal-reverts', HEALTHY],
    ['former-digest', HEALTHY],
  ])('of a provider that is “%s”', async (behaviour, expected) => {
    const since = await head()
    await simulation.behave('Alpha', behaviour)
    const { first } = await simulation.playRounds(2)
    await simulation.recover('Alpha')
    expect(await submissionsOf('Alpha', since, first)).toEqual(expected)
    expect(await submissionsOf('Bravo', since, first)).toEqual(HEALTHY)
    const recovered = await head()
    const { first: next } = await simulation.playRounds(2)
    expect(await submissionsOf('Alpha', recovered, next)).toEqual(HEALTHY)
    expect(await isFinal(next)).toBe(true)
  })

  const isFinal = (round: number) =>
    devnet.client.readContract({
      address: CONTRACTS.relay,
      abi: RELAY,
      functionName: 'isFinalized',
      args: [100n, BigInt(round)],
    })

  test('is not final if most providers do not sign', async () => {
    for (const name of NAMES.slice(0, 3)) await simulation.behave(name, 'wrong-key')
    const { first } = await simulation.playRounds(2)
    for (const name of NAMES) await simulation.recover(name)
    expect(await isFinal(first)).toBe(false)
    const { first: next } = await simulation.playRounds(2)
    expect(await isFinal(next)).toBe(true)
  })

  describe('in the calldata of its transactions', () => {
    /** The payloads of Alpha in a round, by `commit 100` and so on. */
    async function payloads(behaviour?: Behaviour): Promise<{ round: number; of: Payloads }> {
      const since = await head()
      if (behaviour !== undefined) await simulation.behave('Alpha', behaviour)
      const { first } = await simulation.playRounds(2)
      await simulation.recover('Alpha')
      return { round: first, of: await payloadsOf(since, first) }
    }
    type Payloads = Readonly<Record<string, Hex>>

    async function payloadsOf(since: bigint, round: number): Promise<Payloads> {
      const { accounts } = simulation.provider('Alpha')
      const senders = [accounts.submit, accounts.submitSignatures].map(({ address }) => address)
      const found: Record<string, Hex> = {}
      for (let number = since + 1n; number <= (await head()); number += 1n) {
        const block = await devnet.client.getBlock({
          blockNumber: number,
          includeTransactions: true,
        })
        for (const { from, input } of block.transactions) {
          if (!senders.some((sender) => isAddressEqual(sender, from))) continue
          const mine = framesOf(input).filter((frame) => frame.round === round)
          for (const { protocol, payload } of mine) {
            found[`${SUBMISSIONS[input.slice(0, 10)]} ${protocol}`] = payload
          }
        }
      }
      return found
    }

    const committed = (round: number, revealed: Hex) =>
      keccak256(
        encodeAbiParameters(parseAbiParameters('address, uint32, uint256, bytes'), [
          simulation.provider('Alpha').accounts.submit.address,
          round,
          BigInt(slice(revealed, 0, 32)),
          slice(revealed, 32),
        ]),
      )

    /** Signers of the FTSO's result, for digests bound to this chain and for unbound ones. */
    async function signers(round: number, payload: Hex) {
      const merkleRoot = await devnet.client.readContract({
        address: CONTRACTS.relay,
        abi: RELAY,
        functionName: 'merkleRoots',
        args: [100n, BigInt(round)],
      })
      const message = concatHex(['0x64', numberToHex(round, { size: 4 }), '0x01', merkleRoot])
      const bound = keccak256(concatHex([numberToHex(14, { size: 32 }), message]))
      const [, v, r, s] = [0, 1, 2, 34].map((place, i) =>
        slice(payload, place, [1, 2, 34, 66][i] ?? 66),
      )
      const signature = concatHex([r ?? '0x', s ?? '0x', v ?? '0x'])
      return {
        bound: await recoverMessageAddress({ message: { raw: bound }, signature }),
        unbound: await recoverMessageAddress({
          message: { raw: keccak256(message) },
          signature,
        }),
      }
    }

    test('the reveal matches the commit, except with the behaviour of a mismatch', async () => {
      const good = await payloads()
      expect(committed(good.round, good.of['reveal 100'] ?? '0x')).toBe(good.of['commit 100'])
      const bad = await payloads('reveal-mismatch')
      expect(committed(bad.round, bad.of['reveal 100'] ?? '0x')).not.toBe(bad.of['commit 100'])
    })

    test('the signing-policy address has signed, with the current form of the digest', async () => {
      const { identity, signingPolicy } = simulation.provider('Alpha').accounts
      const by = async (behaviour?: Behaviour) => {
        const { round, of } = await payloads(behaviour)
        return signers(round, of['sign 100'] ?? '0x')
      }
      expect(await by()).toMatchObject({ bound: signingPolicy.address })
      expect(await by('wrong-key')).toMatchObject({ bound: identity.address })
      const former = await by('former-digest')
      expect(former.unbound).toBe(signingPolicy.address)
      expect(former.bound).not.toBe(signingPolicy.address)
    })

    test('the deprecated form has another result', async () => {
      const { round, of } = await payloads('other-result')
      const root = await devnet.client.readContract({
        address: CONTRACTS.relay,
        abi: RELAY,
        functionName: 'merkleRoots',
        args: [100n, BigInt(round)],
      })
      expect(slice(of['sign 100'] ?? '0x', 7, 39)).not.toBe(root)
      expect(slice(of['sign 100'] ?? '0x', 1, 6)).toBe(
        `0x64${numberToHex(round, { size: 4 }).slice(2)}`,
      )
    })

    test.each([
      [undefined, '0x000303'],
      ['wrong-bit-vote-length', '0x000403'],
      ['bit-vote-against-consensus', '0x000302'],
    ] as const)('the bit vote of a provider that is “%s” is %s', async (behaviour, vote) => {
      const { of } = await payloads(behaviour)
      expect(of['reveal 200']).toBe(vote)
      expect(slice(of['sign 200'] ?? '0x', 66)).toBe('0x000303')
    })

    test('prices are near those of the feeds, except with the behaviour of prices out of band', async () => {
      const price = (payload: Hex = '0x') => hexToNumber(slice(payload, 32, 36)) - 2 ** 31
      const good = price((await payloads()).of['reveal 100'])
      const bad = price((await payloads('anchors-out-of-band')).of['reveal 100'])
      expect(Math.abs(good / 200_000 - 1)).toBeLessThan(0.0015)
      expect(bad / 200_000 - 1).toBeGreaterThan(0.015)
      await simulation.setFeed('FLR/USD', 0.03)
      expect(price((await payloads()).of['reveal 100']) / 300_000).toBeCloseTo(1, 2)
      expect(simulation.feed('FLR/USD')).toBe(0.03)
    })
  })
})
