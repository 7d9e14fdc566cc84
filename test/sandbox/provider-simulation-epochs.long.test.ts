import { parseAbi, parseEventLogs } from 'viem'
import { afterEach, describe, expect, test } from 'vitest'
import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import {
  createProviderSimulation,
  type ProviderSimulation,
  type ProviderSimulationOptions,
} from '#sandbox/devnet/provider-simulation.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'

/** Events of the contracts that occur once in a reward epoch. */

const AT = new Date('2026-11-20T12:00:00Z')
const EPOCH = 452
const ENDS = 1_658_430_000 + 90 * 3360 * (EPOCH + 1)
const NAMES = ['Alpha', 'Bravo', 'Charlie', 'Delta', 'Echo']

const VOTES = parseAbi([
  'event RandomAcquisitionStarted(uint24 indexed rewardEpochId, uint64 timestamp)',
  'event VotePowerBlockSelected(uint24 indexed rewardEpochId, uint64 votePowerBlock, uint64 timestamp)',
  'event SigningPolicySigned(uint24 indexed rewardEpochId, address indexed signingPolicyAddress, address indexed voter, uint64 timestamp, bool thresholdReached)',
  'event RewardEpochStarted(uint24 indexed rewardEpochId, uint32 startVotingRoundId, uint64 timestamp)',
  'event SignUptimeVoteEnabled(uint24 indexed rewardEpochId, uint64 timestamp)',
  'event UptimeVoteSigned(uint24 indexed rewardEpochId, address indexed signingPolicyAddress, address indexed voter, bytes32 uptimeVoteHash, uint64 timestamp, bool thresholdReached)',
  'struct NumberOfWeightBasedClaims { uint256 rewardManagerId; uint256 noOfWeightBasedClaims; }',
  'event RewardsSigned(uint24 indexed rewardEpochId, address indexed signingPolicyAddress, address indexed voter, bytes32 rewardsHash, NumberOfWeightBasedClaims[] noOfWeightBasedClaims, uint64 timestamp, bool thresholdReached)',
  'event RewardClaimed(address indexed beneficiary, address indexed rewardOwner, address indexed recipient, uint24 rewardEpochId, uint8 claimType, uint120 amount)',
])

const VOTERS = parseAbi([
  'event SigningPolicyInitialized(uint24 indexed rewardEpochId, uint32 startVotingRoundId, uint16 threshold, uint256 seed, address[] voters, uint16[] weights, bytes signingPolicyBytes, uint64 timestamp)',
  'event ProtocolMessageRelayed(uint8 indexed protocolId, uint32 indexed votingRoundId, bool isSecureRandom, bytes32 merkleRoot)',
  'struct PublicKey { bytes32 x; bytes32 y; }',
  'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
  'event VoterRegistered(address indexed voter, uint32 indexed rewardEpochId, address indexed signingPolicyAddress, address submitAddress, address submitSignaturesAddress, PublicKey publicKey, uint256 registrationWeight, Signature signature)',
  'event VoterRemoved(address indexed voter, uint32 indexed rewardEpochId)',
  'event VoterPreRegistered(address indexed voter, uint32 indexed rewardEpochId)',
])
const FORMER = parseAbi([
  'event VoterRegistered(address indexed voter, uint24 indexed rewardEpochId, address indexed signingPolicyAddress, address submitAddress, address submitSignaturesAddress, bytes32 publicKeyPart1, bytes32 publicKeyPart2, uint256 registrationWeight)',
])
const VIEWS = parseAbi([
  'function isVoterRegistered(address, uint256) view returns (bool)',
  'function getCurrentRewardEpochId() view returns (uint24)',
  'function uptimeVoteHash(uint256) view returns (bytes32)',
  'function getVoterUptimeVoteSignInfo(uint24, address) view returns (uint64, uint64)',
  'function getVoterRewardsSignInfo(uint24, address) view returns (uint64, uint64)',
  'function relay() view returns (address)',
  'function voterRegistry() view returns (address)',
  'function isFinalized(uint256, uint256) view returns (bool)',
])

let devnet: DevnetWithContracts
let simulation: ProviderSimulation

async function begin(options: Partial<ProviderSimulationOptions> = {}) {
  devnet = await startDevnet({ contracts: true, startsAt: AT })
  simulation = await createProviderSimulation(devnet, {
    providers: NAMES.map((name) => ({ name })),
    ...options,
  })
}
afterEach(() => devnet.close())

async function events() {
  const logs = await devnet.client.getLogs({ fromBlock: 0n })
  return parseEventLogs({ abi: [...VOTES, ...VOTERS], logs })
}

/** The events of one kind, after the contracts were deployed. */
async function all<Name extends Awaited<ReturnType<typeof events>>[number]['eventName']>(
  name: Name,
) {
  const found = await events()
  return found.filter(
    (event): event is Extract<typeof event, { eventName: Name }> =>
      event.eventName === name && event.blockNumber > 2n,
  )
}

const nameOf = (address: string) =>
  simulation.providers.find(({ accounts }) =>
    Object.values(accounts).some(
      (account) =>
        typeof account === 'object' && 'address' in account && account.address === address,
    ),
  )?.name
const identity = (name: string) => simulation.provider(name).accounts.identity.address
const manager = { address: CONTRACTS.flareSystemsManager, abi: VIEWS } as const

test('the next epoch is prepared two hours before an epoch ends, and the epoch ends in time', async () => {
  await begin()
  await simulation.playToEpochEnd()
  const [acquisition] = await all('RandomAcquisitionStarted')
  const [opening] = await all('VotePowerBlockSelected')
  const [policy] = await all('SigningPolicyInitialized')
  const [start] = await all('RewardEpochStarted')
  const times = [acquisition, opening, policy, start].map((event) => Number(event?.args.timestamp))
  expect(times).toEqual([ENDS - 7200, ENDS - 7050, ENDS - 7050 + 1801, ENDS + 1])
  expect(start?.args).toMatchObject({
    rewardEpochId: EPOCH + 1,
    startVotingRoundId: (EPOCH + 1) * 3360,
  })
  expect(policy?.args.voters.map(nameOf)).toEqual(NAMES)
  expect(
    await devnet.client.readContract({ ...manager, functionName: 'getCurrentRewardEpochId' }),
  ).toBe(EPOCH + 1)
  expect(simulation.rewardEpoch).toBe(EPOCH + 1)
})

test('every provider registers when registration opens, and signs the policy', async () => {
  await begin()
  await simulation.playToRegistration()
  const registered = await all('VoterRegistered')
  expect(registered.map(({ args }) => nameOf(args.voter))).toEqual(NAMES)
  expect(registered[0]?.args).toMatchObject({
    rewardEpochId: EPOCH + 1,
    submitAddress: simulation.provider('Alpha').accounts.submit.address,
  })
  await simulation.playToEpochEnd()
  const signed = await all('SigningPolicySigned')
  expect(signed.map(({ args }) => nameOf(args.voter))).toEqual(NAMES)
  expect(signed.map(({ args }) => args.thresholdReached)).toEqual([
    false,
    false,
    true,
    false,
    false,
  ])
})

test('a pre-registered provider is registered in the transaction that opens the registration', async () => {
  await begin({ providers: NAMES.map((name) => ({ name, preRegisters: name === 'Bravo' })) })
  await simulation.playToEpochEnd()
  const [asked] = await all('VoterPreRegistered')
  const [opening] = await all('VotePowerBlockSelected')
  const registered = await all('VoterRegistered')
  expect(nameOf(asked?.args.voter ?? '')).toBe('Bravo')
  const bravo = registered.find(({ args }) => nameOf(args.voter) === 'Bravo')
  expect(bravo?.transactionHash).toBe(opening?.transactionHash)
})

test('providers vote on uptime, then on rewards once they are published, and claim them', async () => {
  await begin()
  await simulation.playToEpochEnd()
  expect(simulation.published).toEqual([EPOCH - 1])
  await simulation.playToPublication()
  expect(simulation.published).toEqual([EPOCH - 1, EPOCH])
  const [open] = await all('SignUptimeVoteEnabled')
  expect(Number(open?.args.timestamp) - ENDS).toBeGreaterThan(600)
  const uptime = await all('UptimeVoteSigned')
  const rewards = await all('RewardsSigned')
  expect(uptime.map(({ args }) => nameOf(args.voter))).toEqual(NAMES)
  expect(rewards.map(({ args }) => nameOf(args.voter))).toEqual(NAMES)
  expect(Number(rewards[0]?.args.timestamp) - ENDS).toBeGreaterThanOrEqual(9000)
  for (const name of NAMES) {
    for (const functionName of ['getVoterUptimeVoteSignInfo', 'getVoterRewardsSignInfo'] as const) {
      const args = [EPOCH, identity(name)] as const
      const [at] = await devnet.client.readContract({ ...manager, functionName, args })
      expect(Number(at)).toBeGreaterThan(ENDS)
    }
  }
  const claimed = await all('RewardClaimed')
  expect(
    claimed.filter(({ args }) => args.claimType === 1).map(({ args }) => nameOf(args.rewardOwner)),
  ).toEqual(NAMES)
})

describe('a provider with a behaviour', () => {
  test.each<[Behaviour, string]>([
    ['unregistered', 'does not register'],
    ['not-in-policy', 'is removed'],
  ])('“%s” %s, and is not in the next policy', async (behaviour) => {
    await begin()
    await simulation.behave('Alpha', behaviour)
    await simulation.playToEpochEnd()
    const registered = await all('VoterRegistered')
    const removed = await all('VoterRemoved')
    const isRegistered = behaviour === 'not-in-policy'
    expect(registered.some(({ args }) => nameOf(args.voter) === 'Alpha')).toBe(isRegistered)
    expect(removed.map(({ args }) => nameOf(args.voter))).toEqual(isRegistered ? ['Alpha'] : [])
    const [policy] = await all('SigningPolicyInitialized')
    expect(policy?.args.voters.map(nameOf).toSorted()).toEqual(NAMES.slice(1))
    await simulation.recover('Alpha')
    await simulation.playToEpochEnd()
    const [, next] = await all('SigningPolicyInitialized')
    expect(next?.args.voters.map(nameOf).toSorted()).toEqual(NAMES)
  })

  test('“late-registration” registers after twenty minutes', async () => {
    await begin()
    await simulation.behave('Alpha', 'late-registration')
    await simulation.playToEpochEnd()
    const alpha = (await all('VoterRegistered')).find(({ args }) => nameOf(args.voter) === 'Alpha')
    const [opening] = await all('VotePowerBlockSelected')
    const { timestamp } = await devnet.client.getBlock({ blockNumber: alpha?.blockNumber ?? 0n })
    const after = Number(timestamp - (opening?.args.timestamp ?? 0n))
    expect(after).toBeGreaterThanOrEqual(1200)
    expect(after).toBeLessThan(1300)
  })

  test('follows the last command when two behaviours exclude each other', async () => {
    await begin()
    await simulation.behave('Alpha', 'late-registration')
    await simulation.playToRegistration()
    await simulation.behave('Alpha', 'unregistered')
    await simulation.playToEpochEnd()
    expect([...simulation.provider('Alpha').behaviours]).toEqual(['unregistered'])
    const [policy] = await all('SigningPolicyInitialized')
    expect(policy?.args.voters.map(nameOf)).toEqual(NAMES.slice(1))
  })

  test.each<[Behaviour, readonly (readonly string[])[]]>([
    ['misses-uptime-vote', [NAMES.slice(1), NAMES]],
    ['misses-rewards-vote', [NAMES, NAMES.slice(1)]],
    ['other-vote', [NAMES, NAMES]],
  ])('“%s” keeps its vote from counting, or casts none', async (behaviour, [uptime, rewards]) => {
    await begin()
    await simulation.behave('Alpha', behaviour)
    await simulation.playToEpochEnd()
    await simulation.playToPublication()
    const votes = { uptime: await all('UptimeVoteSigned'), rewards: await all('RewardsSigned') }
    expect(votes.uptime.map(({ args }) => nameOf(args.voter))).toEqual(uptime)
    expect(votes.rewards.map(({ args }) => nameOf(args.voter))).toEqual(rewards)
    const read = (functionName: 'getVoterUptimeVoteSignInfo' | 'getVoterRewardsSignInfo') =>
      devnet.client.readContract({ ...manager, functionName, args: [EPOCH, identity('Alpha')] })
    const [uptimeAt] = await read('getVoterUptimeVoteSignInfo')
    const [rewardsAt] = await read('getVoterRewardsSignInfo')
    expect(uptimeAt === 0n).toBe(behaviour !== 'misses-rewards-vote')
    expect(rewardsAt === 0n).toBe(behaviour !== 'misses-uptime-vote')
  })

  test('that changes its submit address uses the new one from the first commit of the next epoch', async () => {
    await begin()
    const before = simulation.provider('Alpha').accounts.submit.address
    await simulation.behave('Alpha', 'changed-submit-address')
    const after = simulation.provider('Alpha').accounts.submit.address
    expect(after).not.toBe(before)
    const senders = async (from: bigint) => {
      const found = new Map<string, string>()
      for (let number = from; number <= (await devnet.client.getBlockNumber()); number += 1n) {
        const block = await devnet.client.getBlock({
          blockNumber: number,
          includeTransactions: true,
        })
        for (const { from: sender, input } of block.transactions) {
          const key = `${input.slice(0, 10)} ${Number.parseInt(input.slice(12, 20), 16)}`
          if ([before, after].some((address) => address.toLowerCase() === sender))
            found.set(key, sender)
        }
      }
      return found
    }
    await simulation.playToEpochEnd()
    const sent = await senders(3n)
    const first = (EPOCH + 1) * 3360
    const [commit, reveal] = ['0x6c532fae', '0x9d00c9fd']
    expect(sent.get(`${commit} ${first - 1}`)).toBe(before.toLowerCase())
    expect(sent.get(`${reveal} ${first - 1}`)).toBe(before.toLowerCase())
    expect(sent.get(`${commit} ${first}`)).toBe(after.toLowerCase())
    expect(sent.get(`${reveal} ${first}`)).toBe(after.toLowerCase())
  })

  test('that does not claim leaves its rewards, and claims them when it recovers', async () => {
    await begin()
    await simulation.behave('Alpha', 'unclaimed-rewards')
    await simulation.playToEpochEnd()
    await simulation.playToPublication()
    const claimants = async () =>
      new Set((await all('RewardClaimed')).map(({ args }) => nameOf(args.rewardOwner)))
    expect([...(await claimants())]).toEqual(NAMES.slice(1))
    await simulation.recover('Alpha')
    await simulation.playRounds(1)
    expect((await claimants()).has('Alpha')).toBe(true)
  })

  test('with a low balance has three FLR, until it recovers', async () => {
    await begin()
    const { address } = simulation.provider('Alpha').accounts.submit
    await simulation.behave('Alpha', 'low-balance')
    expect(await devnet.client.getBalance({ address })).toBe(3n * 10n ** 18n)
    await simulation.recover('Alpha')
    expect(await devnet.client.getBalance({ address })).toBe(1000n * 10n ** 18n)
  })
})

test('a vote stays open while most votes are missing, and ends when they are cast', async () => {
  await begin()
  for (const name of NAMES.slice(0, 3)) await simulation.behave(name, 'misses-uptime-vote')
  await simulation.playToEpochEnd()
  await simulation.playTo(ENDS + 1800)
  const hash = () =>
    devnet.client.readContract({
      ...manager,
      functionName: 'uptimeVoteHash',
      args: [BigInt(EPOCH)],
    })
  expect(Number(await hash())).toBe(0)
  await simulation.recover('Alpha')
  await simulation.playRounds(1)
  expect(Number(await hash())).not.toBe(0)
})

test('a new Relay takes over: the old one gets the next policy, the new one the rounds of that policy', async () => {
  await begin({ newerFrom: EPOCH + 1 })
  await simulation.playRounds(2)
  const places = async () =>
    Promise.all(
      (['relay', 'voterRegistry'] as const).map((functionName) =>
        devnet.client.readContract({ ...manager, functionName }),
      ),
    )
  expect(await places()).toEqual([CONTRACTS.oldRelay, CONTRACTS.oldVoterRegistry])
  await simulation.playToEpochEnd()
  expect(await places()).toEqual([CONTRACTS.relay, CONTRACTS.voterRegistry])
  const relayed = await all('ProtocolMessageRelayed')
  const first = (EPOCH + 1) * 3360
  expect(relayed.length).toBeGreaterThan(8)
  for (const { args, address } of relayed) {
    const expected = args.votingRoundId < first ? CONTRACTS.oldRelay : CONTRACTS.relay
    expect(address).toBe(expected.toLowerCase())
  }
  const policies = await all('SigningPolicyInitialized')
  expect(policies.map(({ address }) => address)).toEqual([CONTRACTS.oldRelay.toLowerCase()])
  const present = await all('VoterRegistered')
  expect(present).toHaveLength(NAMES.length)
  const logs = await devnet.client.getLogs({ fromBlock: 0n })
  const former = parseEventLogs({ abi: FORMER, logs })
  expect(former.map(({ args }) => args.rewardEpochId)).toEqual(
    [EPOCH - 1, EPOCH].flatMap((epoch) => NAMES.map(() => epoch)),
  )
  // The new Relay answers for rounds that the old one finalised.
  const [old] = relayed
  const args = [100n, BigInt(old?.args.votingRoundId ?? 0)] as const
  expect(
    await devnet.client.readContract({
      address: CONTRACTS.relay,
      abi: VIEWS,
      functionName: 'isFinalized',
      args,
    }),
  ).toBe(true)
  await simulation.playToEpochEnd()
  const [, next] = await all('SigningPolicyInitialized')
  expect(next?.address).toBe(CONTRACTS.relay.toLowerCase())
})

test('the length of reward epochs can be set', async () => {
  await begin({
    timing: {
      roundsPerEpoch: 20,
      initializationSeconds: 900,
      randomAcquisitionSeconds: 90,
      registrationSeconds: 300,
      uptimeVoteSeconds: 180,
      publicationSeconds: 360,
    },
  })
  const { rewardEpoch } = simulation
  for (let i = 1; i <= 2; i += 1) {
    const { first, last } = await simulation.playToEpochEnd({ inFull: true })
    expect(last - first).toBeGreaterThanOrEqual(2)
    expect(simulation.rewardEpoch).toBe(rewardEpoch + i)
  }
  await simulation.playRounds(3)
  expect(simulation.published).toContain(rewardEpoch + 1)
})
