import { decodeEventLog, type Hex, numberToHex, toEventSelector } from 'viem'
import { requireBlock } from '#src/chain/blocks/blocks.ts'
import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import { type ContractView, contractView } from '#src/chain/endpoints/calls.ts'
import type { RpcClient } from '#src/chain/endpoints/endpoints.ts'
import { readBatch } from '#src/chain/endpoints/multicall.ts'
import type { Log } from '#src/chain/endpoints/schemas.ts'
import type { LogFilter } from '#src/chain/events/logs.ts'
import { readSpan } from '#src/chain/events/spans.ts'
import { type Address, type Hash, ZERO_ADDRESS } from '#src/kernel/units.ts'
import { ENTITY_MANAGER_ABI, SYSTEMS_MANAGER_ABI, VOTER_REGISTRY_ABI } from './abi.ts'
import { readManager } from './manager.ts'
import type { EpochPolicyReader } from './policy-of-epoch.ts'

/** The two votes on an ended reward epoch. */
export const VOTE_KINDS = ['uptime', 'rewards'] as const
export type VoteKind = (typeof VOTE_KINDS)[number]

/** Registered voters of the reward epoch in force. */
export interface RegisteredVoters {
  readonly rewardEpochId: number
  readonly voters: ReadonlySet<Address>
  /** False when an endpoint that might have known more voters did not answer. */
  readonly isSure: boolean
}

/** State of one vote, from the contract. */
export interface VoteState {
  /**
   * Time from which on the vote can be signed (uptime), or of the first signature (rewards); null before
   * that.
   */
  readonly openedAt: Date | null
  readonly openedIn: number | null
  /** The winning hash; null while the vote is open. */
  readonly hash: Hash | null
  /** Time at which the vote was concluded, where the contract returns it. */
  readonly concludedAt: Date | null
}

/** Both votes on an ended reward epoch. */
export interface EpochVotes extends Readonly<Record<VoteKind, VoteState>> {
  readonly endedAt: Date
}

/** A signature of a vote. */
export interface VoteSignature {
  readonly kind: VoteKind
  readonly voter: Address
  readonly hash: Hash
  readonly at: Date
  readonly isLast: boolean
}

/** Time at which a voter signed the winning hash; null if never; undefined when that is uncertain. */
export type VoterSignedAt = Date | null | undefined

/** Facts of the signing protocol. Methods reject with the errors of `Chain`. */
export interface SigningProtocol {
  /** The reward epoch in force at the end of `block`; undefined on a chain without the protocol. */
  rewardEpoch(block: BlockRef, signal?: AbortSignal): Promise<number | undefined>
  /**
   * Voters of the reward epoch in force. A voter of `expected` counts as missing only after every endpoint
   * was asked.
   */
  registrations(
    block: BlockRef,
    expected: readonly Address[],
    signal?: AbortSignal,
  ): Promise<RegisteredVoters | undefined>
  /** Normalised weights of the voters of a reward epoch whose signing policy is fixed. */
  weights(
    rewardEpochId: number,
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<Address, number> | undefined>
  /** States of both votes on an ended reward epoch. */
  votes(
    rewardEpochId: number,
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<EpochVotes | undefined>
  /**
   * Times at which each voter signed the winning hash of a concluded vote. A voter counts as not having
   * signed only after every endpoint was asked.
   */
  signings(
    rewardEpochId: number,
    kind: VoteKind,
    voters: readonly Address[],
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<readonly VoterSignedAt[]>
  /**
   * Signatures of both votes in the blocks from `from` on, as many as one step allows, without gaps. `upTo` is before
   * `from` where the events of that block cannot be proven.
   */
  signatures(
    rewardEpochId: number,
    range: { readonly from: number; readonly to: number },
    signal?: AbortSignal,
  ): Promise<{ readonly votes: readonly VoteSignature[]; readonly upTo: number }>
  /**
   * The identity address of the provider to which an address belongs, or the address itself if it belongs
   * to no provider.
   */
  identityOf(address: Address, signal?: AbortSignal): Promise<Address>
}

/** First topics of the events of votes. */
export const VOTE_TOPICS: Readonly<Record<VoteKind, Hash>> = {
  uptime: toEventSelector('UptimeVoteSigned(uint24,address,address,bytes32,uint64,bool)'),
  rewards: toEventSelector(
    'RewardsSigned(uint24,address,address,bytes32,(uint256,uint256)[],uint64,bool)',
  ),
}

/**
 * Creates a reader of the signing protocol; it finds the contracts through the registry. Long because all
 * views of the protocol share the lookup of the contracts and their versions.
 */
export function createSigningProtocol(
  source: ChainAccess,
  ofEpoch: EpochPolicyReader,
): SigningProtocol {
  const { endpoints, contracts, multicallAddress } = source
  let lastEpoch: number | undefined

  /** Calls views of a contract at the end of a block; undefined where there is no such contract. */
  async function ask(
    client: RpcClient,
    name: string,
    views: readonly ContractView<unknown>[],
    block: number | 'latest',
  ): Promise<readonly (Hex | undefined)[] | undefined> {
    const target = await contracts.find(client, name)
    if (target === undefined) return undefined
    const calls = views.map(({ callData }) => ({ target, callData }))
    return readBatch(client, calls, { multicallAddress, block })
  }

  /**
   * Calls a view of the voter registries and returns the first non-empty result: each registry knows only
   * its own reward epochs, and returns no voters for other epochs.
   */
  async function askRegistries<T>(
    client: RpcClient,
    view: ContractView<T>,
    isAnswer: (answer: T) => boolean,
    block: number | 'latest',
  ): Promise<T | undefined> {
    const targets = await contracts.all(client, REGISTRY)
    const calls = targets.map((target) => ({ target, callData: view.callData }))
    if (calls.length === 0) return undefined
    const answers = await readBatch(client, calls, { multicallAddress, block })
    return answers
      .map((answer) => view.of(answer))
      .find((answer) => answer !== undefined && isAnswer(answer))
  }

  async function readEpoch(client: RpcClient, block: BlockRef): Promise<number | undefined> {
    const epoch = (await readManager(source, client, block.number))?.currentEpoch
    // Contracts are replaced at the start of an epoch.
    if (epoch !== lastEpoch) contracts.expire()
    lastEpoch = epoch
    return epoch
  }

  /** Whether an address is a voter of the reward epoch in force. Then it belongs to no other provider. */
  async function isVoter(client: RpcClient, address: Address): Promise<boolean> {
    const epoch = (await readManager(source, client, 'latest'))?.currentEpoch
    if (epoch === undefined) return false
    const registeredView = contractView(VOTER_REGISTRY_ABI, 'isVoterRegistered', [
      address,
      BigInt(epoch),
    ])
    const registered = await askRegistries(
      client,
      registeredView,
      (isRegistered) => isRegistered,
      'latest',
    )
    return registered === true
  }

  return {
    rewardEpoch: (block, signal) => endpoints.ask((client) => readEpoch(client, block), signal),

    async registrations(block, expected, signal) {
      const heard: { readonly rewardEpochId: number; readonly voters: readonly Address[] }[] = []
      const { answer, isSure } = await endpoints.askForMost(
        async (client) => {
          const rewardEpochId = await readEpoch(client, block)
          if (rewardEpochId === undefined) return undefined
          const votersView = contractView(VOTER_REGISTRY_ABI, 'getRegisteredVoters', [
            BigInt(rewardEpochId),
          ])
          const registered = await askRegistries(
            client,
            votersView,
            (voters) => voters.length > 0,
            block.number,
          )
          const voters =
            registered ??
            (await ofEpoch.read(client, rewardEpochId, block.number))?.providers.map(
              ({ voter }) => voter,
            )
          if (voters === undefined) return undefined
          heard.push({ rewardEpochId, voters })
          return { rewardEpochId, voters }
        },
        (answer) =>
          answer !== undefined && expected.every((voter) => answer.voters.includes(voter)),
        signal,
      )
      const last = answer ?? heard.at(-1)
      if (last === undefined) return undefined
      const { rewardEpochId } = last
      const same = heard.filter((epochVoters) => epochVoters.rewardEpochId === rewardEpochId)
      return { rewardEpochId, voters: new Set(same.flatMap(({ voters }) => voters)), isSure }
    },

    weights: (rewardEpochId, block, signal) =>
      endpoints.ask(async (client) => {
        // Weights stay as they were fixed. The newest state has them, however long the caller took until now.
        await requireBlock(client, block.number)
        const policy = await ofEpoch.read(client, rewardEpochId, 'latest')
        return policy && new Map(policy.providers.map(({ voter, weight }) => [voter, weight]))
      }, signal),

    votes: (epoch, block, signal) =>
      endpoints.ask(async (client) => {
        const views = voteViews(epoch)
        const answers = await ask(client, MANAGER, Object.values(views), block.number)
        return answers && votesIn(views, answers)
      }, signal),

    async signings(epoch, kind, voters, block, signal) {
      const functionName =
        kind === 'uptime' ? 'getVoterUptimeVoteSignInfo' : 'getVoterRewardsSignInfo'
      const views = voters.map((voter) =>
        contractView(SYSTEMS_MANAGER_ABI, functionName, [epoch, voter]),
      )
      const heard = voters.map((): VoterSignedAt => undefined)
      const { isSure } = await endpoints.askForMost(
        async (client) => {
          const answers = await ask(client, MANAGER, views, block.number)
          for (const [index, view] of views.entries()) {
            const answer = view.of(answers?.[index])
            if (answer !== undefined) heard[index] = instant(answer[0]) ?? heard[index] ?? null
          }
        },
        () => heard.every((at) => at instanceof Date),
        signal,
      )
      return heard.map((at) => (at === null && !isSure ? undefined : at))
    },

    async signatures(epoch, range, signal) {
      const address = await endpoints.ask((client) => contracts.all(client, MANAGER), signal)
      const topics = [Object.values(VOTE_TOPICS), numberToHex(epoch, { size: 32 })]
      const filter: LogFilter = { address, topics }
      const places = { ...range, withTransactions: false }
      const { blocks, logs, ...span } = await readSpan(source, filter, places, signal)
      const unsure = blocks.find(({ isSure }) => !isSure)?.ref.number
      const upTo = unsure === undefined ? span.upTo : unsure - 1
      const known = logs.filter(({ blockNumber }) => Number(blockNumber) <= upTo)
      return { votes: known.flatMap((log) => decodeVote(log) ?? []), upTo }
    },

    identityOf: (address, signal) =>
      endpoints.ask(async (client) => {
        if (await isVoter(client, address)) return address
        const tip = BigInt(await client.request({ method: 'eth_blockNumber' }))
        const views = OWNER_VIEWS.map((name) =>
          contractView(ENTITY_MANAGER_ABI, name, [address, tip]),
        )
        const answers = (await ask(client, 'EntityManager', views, 'latest')) ?? []
        const owners = views.flatMap((view, index) => view.of(answers[index]) ?? [])
        return owners.find((owner) => owner !== address && owner !== ZERO_ADDRESS) ?? address
      }, signal),
  }
}

const MANAGER = 'FlareSystemsManager'
const REGISTRY = 'VoterRegistry'
const OWNER_VIEWS = [
  'getVoterForSubmitAddress',
  'getVoterForSubmitSignaturesAddress',
  'getVoterForSigningPolicyAddress',
  'getVoterForDelegationAddress',
] as const

/** The views of the manager that say how the votes on an ended reward epoch are. */
function voteViews(epoch: number) {
  const abi = SYSTEMS_MANAGER_ABI
  return {
    start: contractView(abi, 'getRewardEpochStartInfo', [epoch + 1]),
    uptime: contractView(abi, 'getUptimeVoteSignStartInfo', [epoch]),
    rewards: contractView(abi, 'getRewardsSignInfo', [epoch]),
    uptimeHash: contractView(abi, 'uptimeVoteHash', [BigInt(epoch)]),
    rewardsHash: contractView(abi, 'rewardsHash', [BigInt(epoch)]),
  }
}

/** The votes by the answers to their views, in order; undefined if an answer is missing, or the epoch has not ended. */
function votesIn(
  { start, uptime, rewards, uptimeHash, rewardsHash }: ReturnType<typeof voteViews>,
  answers: readonly (Hex | undefined)[],
): EpochVotes | undefined {
  const endedAt = instant(start.of(answers[0])?.[0])
  const [uptimeTs, uptimeBlock] = uptime.of(answers[1]) ?? []
  const [rewardsTs, rewardsBlock, concludedTs] = rewards.of(answers[2]) ?? []
  if (endedAt === null || answers.includes(undefined)) return undefined
  return {
    endedAt,
    uptime: {
      openedAt: instant(uptimeTs),
      openedIn: blockOf(uptimeBlock),
      hash: hashOf(uptimeHash.of(answers[3])),
      concludedAt: null,
    },
    rewards: {
      openedAt: instant(rewardsTs),
      openedIn: blockOf(rewardsBlock),
      hash: hashOf(rewardsHash.of(answers[4])),
      concludedAt: instant(concludedTs),
    },
  }
}

/** Converts a contract's time; 0 means that there is none. */
function instant(seconds: bigint | undefined): Date | null {
  return seconds === undefined || seconds === 0n ? null : new Date(Number(seconds) * 1000)
}

function blockOf(number: bigint | undefined): number | null {
  return number === undefined || number === 0n ? null : Number(number)
}

function hashOf(hash: Hash | undefined): Hash | null {
  return hash === undefined || BigInt(hash) === 0n ? null : hash
}

/** Decodes the signature of an event; undefined for any other event. */
function decodeVote({ topics: [topic, ...rest], data }: Log): VoteSignature | undefined {
  if (topic !== VOTE_TOPICS.uptime && topic !== VOTE_TOPICS.rewards) return undefined
  const event = decodeEventLog({ abi: SYSTEMS_MANAGER_ABI, topics: [topic, ...rest], data })
  const { voter, timestamp, thresholdReached: isLast } = event.args
  const common = { voter, at: new Date(Number(timestamp) * 1000), isLast }
  return event.eventName === 'UptimeVoteSigned'
    ? { ...common, kind: 'uptime', hash: event.args.uptimeVoteHash }
    : { ...common, kind: 'rewards', hash: event.args.rewardsHash }
}
