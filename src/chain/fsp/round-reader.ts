import { type Abi, decodeEventLog, type Hex, toEventSelector } from 'viem'
import { z } from 'zod'
import { Address, Hash, ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { BlockRef } from '../chain.ts'
import type { RpcClient } from '../endpoints.ts'
import { EndpointError } from '../failures.ts'
import type { Log, LogFilter } from '../logs.ts'
import { Quantity } from '../quantity.ts'
import { readRevertReason } from '../revert-reason.ts'
import { readSpan } from '../spans.ts'
import { askViews, view } from '../views.ts'
import { SYSTEMS_MANAGER_ABI, VOTER_REGISTRY_ABI } from './abi.ts'
import type { EpochClock } from './epochs.ts'
import { SUBMIT_AND_PASS_SELECTOR, submitFunctionOf } from './framing.ts'
import type { Policy } from './policy.ts'
import { readStates, type StatesQuery, type SystemState } from './provider-states.ts'
import type { SubmissionTransaction } from './round-evidence.ts'
import type { RoundBlock } from './rounds.ts'
import { MANAGER_ABI, REGISTRY_ABI, ROUND_EVENTS_ABI } from './rounds-abi.ts'
import type { ProtocolSource } from './system.ts'

/** A signing policy with what fast updates need. */
export interface LoadedPolicy extends Policy {
  readonly weightSum: number
}

/** The policies around the reward epoch in force. */
export interface Policies {
  readonly clock: EpochClock
  readonly currentEpoch: number
  /** Up to three, oldest first: the one before, the one in force, the next once it is fixed. */
  readonly policies: readonly LoadedPolicy[]
}

/** A transaction of somebody we look at to a contract of the protocol. */
export interface ProtocolCall {
  readonly tx: Hash
  readonly from: Address
  readonly to: Address
  /** The contract's registry name. */
  readonly contract: string
  readonly selector: Hex
  readonly block: number
  readonly ok: boolean
  readonly gasUsed: number
  readonly gasLimit: number
  /** What the contract said when it was reverted, where that can be learnt. */
  readonly reason: string | null
}

/** A provider's own reward that was claimed. */
export interface RewardClaim {
  readonly rewardEpoch: number
  readonly beneficiary: Address
  readonly claimType: number
}

/** A block of a span, as far as the protocol is concerned. */
export interface ProtocolBlock extends RoundBlock {
  readonly ref: BlockRef
  /** Who sent fast updates, and from which account. */
  readonly fastUpdates: readonly { readonly signingPolicy: Address; readonly sender: Address }[]
  readonly calls: readonly ProtocolCall[]
  readonly claims: readonly RewardClaim[]
}

/** Reads voting rounds. Every method rejects as those of `Chain` do. */
export interface RoundReader {
  /** undefined where there is no such protocol. */
  policies(block: BlockRef, signal?: AbortSignal): Promise<Policies | undefined>
  /**
   * Blocks from `from` on, as many as one step may have, complete or not at all.
   *
   * @param watched accounts whose calls are looked at, lower case; others' submissions are believed
   */
  span(
    range: { readonly from: number; readonly to: number; readonly after?: Hash | undefined },
    watched: ReadonlySet<string>,
    signal?: AbortSignal,
  ): Promise<{ readonly blocks: readonly ProtocolBlock[]; readonly upTo: number }>
  /**
   * How providers stand at the end of a block, in one request.
   */
  states(query: StatesQuery, signal?: AbortSignal): Promise<SystemState>
}

const TOPICS = {
  relayed: toEventSelector('ProtocolMessageRelayed(uint8,uint32,bool,bytes32)'),
  requested: toEventSelector('AttestationRequest(bytes,uint256)'),
  updated: toEventSelector('FastUpdateFeedsSubmitted(uint32,address)'),
  claimed: toEventSelector('RewardClaimed(address,address,address,uint24,uint8,uint120)'),
}

/** Claims of a provider itself: what it is paid directly, and its fee. Others are of who delegates. */
export const OWN_CLAIM_TYPES: readonly number[] = [0, 1]

/** Contracts whose calls are looked at. */
const CALLED = [
  'Submission',
  'Relay',
  'FlareSystemsManager',
  'VoterRegistry',
  'VoterPreRegistry',
  'EntityManager',
  'FastUpdater',
] as const

const Transaction = z.object({
  hash: Hash,
  from: Address,
  to: Address.nullable(),
  input: z.templateLiteral(['0x', z.string()]),
  value: Quantity,
  gas: Quantity,
})
const Receipt = z.object({ status: Quantity, gasUsed: Quantity })

/** Reads voting rounds, the contracts found through the registry. */
export function createRoundReader(source: ProtocolSource): RoundReader {
  const { endpoints, contracts, multicallAddress } = source
  let clock: EpochClock | undefined

  async function readClock(client: RpcClient, manager: Address, block: number) {
    if (clock !== undefined) return clock
    const views = [
      view(MANAGER_ABI, 'firstVotingRoundStartTs', []),
      view(MANAGER_ABI, 'votingEpochDurationSeconds', []),
      view(MANAGER_ABI, 'firstRewardEpochStartTs', []),
      view(MANAGER_ABI, 'rewardEpochDurationSeconds', []),
    ]
    const answers = await askViews(
      client,
      multicallAddress,
      views.map((one) => [manager, one]),
      block,
    )
    const [first, round, firstEpoch, epoch] = views.map((one, i) => Number(one.of(answers[i])))
    if (!first || !round || !firstEpoch || !epoch) {
      throw new EndpointError('the systems manager does not say how it counts time')
    }
    clock = {
      firstRoundAtSeconds: first,
      roundSeconds: round,
      firstEpochRound: (firstEpoch - first) / round,
      roundsPerEpoch: epoch / round,
    }
    return clock
  }

  async function readPolicy(
    client: RpcClient,
    manager: Address,
    epoch: number,
    block: number,
  ): Promise<LoadedPolicy | undefined> {
    const id = [BigInt(epoch)] as const
    const start = view(MANAGER_ABI, 'getStartVotingRoundId', id)
    const voters = view(VOTER_REGISTRY_ABI, 'getRegisteredVotersAndNormalisedWeights', id)
    const submit = view(REGISTRY_ABI, 'getRegisteredSubmitAddresses', id)
    const submitSignatures = view(REGISTRY_ABI, 'getRegisteredSubmitSignaturesAddresses', id)
    const signingPolicy = view(REGISTRY_ABI, 'getRegisteredSigningPolicyAddresses', id)
    const sums = view(REGISTRY_ABI, 'getWeightsSums', id)
    // Each registry knows its own reward epochs only.
    for (const registry of await contracts.all(client, 'VoterRegistry')) {
      const questions = [
        [manager, start],
        ...[voters, submit, submitSignatures, signingPolicy, sums].map(
          (one) => [registry, one] as const,
        ),
      ] as const
      const answers = await askViews(client, multicallAddress, questions, block)
      const found = voters.of(answers[1])
      const [submits, signatures, policies] = [submit, submitSignatures, signingPolicy].map(
        (one, i) => one.of(answers[2 + i]),
      )
      const startRound = start.of(answers[0])
      if (!found || !submits || !signatures || !policies || startRound === undefined) continue
      return {
        rewardEpoch: epoch,
        startRound,
        weightSum: Number(sums.of(answers[5])?.[1] ?? found[1].reduce((sum, one) => sum + one, 0)),
        providers: found[0].map((voter, place) => ({
          voter,
          submit: submits[place] ?? voter,
          submitSignatures: signatures[place] ?? voter,
          signingPolicy: policies[place] ?? voter,
          weight: found[1][place] ?? 0,
        })),
      }
    }
    return undefined
  }

  return {
    policies: (block, signal) =>
      endpoints.ask(async (client) => {
        const manager = await contracts.find(client, 'FlareSystemsManager')
        if (manager === undefined) return undefined
        const one = view(SYSTEMS_MANAGER_ABI, 'getCurrentRewardEpochId', [])
        const [answer] = await askViews(client, multicallAddress, [[manager, one]], block.number)
        const currentEpoch = one.of(answer)
        if (currentEpoch === undefined) return undefined
        const policies: LoadedPolicy[] = []
        for (const epoch of [currentEpoch - 1, currentEpoch, currentEpoch + 1]) {
          // Before the first there is none.
          if (epoch < 0) continue
          const policy = await readPolicy(client, manager, epoch, block.number)
          if (policy !== undefined) policies.push(policy)
          // By an older one its rounds would be judged wrongly.
          else if (epoch === currentEpoch) throw new EndpointError('no signing policy in force')
        }
        return { clock: await readClock(client, manager, block.number), currentEpoch, policies }
      }, signal),

    async span(range, watched, signal) {
      const places = await endpoints.ask(async (client) => {
        const named = await Promise.all(
          CALLED.map(async (name) => [name, await contracts.all(client, name)] as const),
        )
        return {
          called: new Map(
            named.flatMap(([name, all]) => all.map((one) => [one.toLowerCase(), name] as const)),
          ),
          relays: await contracts.all(client, 'Relay'),
          hubs: await contracts.all(client, 'FdcHub'),
          updaters: await contracts.all(client, 'FastUpdater'),
          rewards: await contracts.all(client, 'RewardManager'),
        }
      }, signal)
      const filter: LogFilter = {
        address: [...places.relays, ...places.hubs, ...places.updaters, ...places.rewards],
        topics: [Object.values(TOPICS)],
      }
      const span = await readSpan(source, filter, { ...range, withTransactions: true }, signal)
      const logsOf = Map.groupBy(span.logs, ({ blockNumber }) => Number(blockNumber))
      const blocks: ProtocolBlock[] = []
      for (const { ref, transactions } of span.blocks) {
        const seen = transactionsTo(transactions, places.called)
        const own = seen.filter(({ from, isFastUpdate }) => watched.has(from) || isFastUpdate)
        const calls = await readCalls(
          own.filter(({ from }) => watched.has(from)).map(({ raw }) => Transaction.parse(raw)),
          ref,
          places.called,
          signal,
        )
        const failed = new Set<string>(calls.filter(({ ok }) => !ok).map(({ tx }) => tx))
        const senders = new Map(own.map(({ hash, from }) => [hash, from]))
        const logs = logsOf.get(ref.number) ?? []
        blocks.push({
          ref,
          number: ref.number,
          at: ref.at.getTime() / 1000,
          submissions: seen.filter(({ hash, isSubmission }) => isSubmission && !failed.has(hash)),
          ...eventsOf(logs, senders),
          calls,
        })
      }
      return { blocks, upTo: span.upTo }
    },

    states: (query, signal) => readStates(source, query, signal),
  }

  /** What became of the calls of those we look at. */
  async function readCalls(
    transactions: readonly z.output<typeof Transaction>[],
    ref: BlockRef,
    called: ReadonlyMap<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<readonly ProtocolCall[]> {
    if (transactions.length === 0) return []
    return endpoints.ask(
      (client) =>
        Promise.all(
          transactions.map(async ({ hash, from, to, input, value, gas }): Promise<ProtocolCall> => {
            const answer = await client.request({
              method: 'eth_getTransactionReceipt',
              params: [hash],
            })
            if (answer === null) throw new EndpointError(`the receipt of ${hash} is not there`)
            const { status, gasUsed } = Receipt.parse(answer)
            const target = to ?? ZERO_ADDRESS
            const repeatable = { from, to: target, value, input, gas }
            const reason =
              status === 1n ? null : await readRevertReason(client, repeatable, ref.number)
            return {
              tx: hash,
              from,
              to: target,
              contract: called.get(target.toLowerCase()) ?? target,
              selector: input.slice(0, 10) as Hex,
              block: ref.number,
              ok: status === 1n,
              gasUsed: Number(gasUsed),
              gasLimit: Number(gas),
              reason: status === 1n ? null : (reason ?? (gasUsed === gas ? 'out of gas' : null)),
            }
          }),
        ),
      signal,
    )
  }
}

/** A transaction to one of our contracts, read without checking each of a block's hundreds. */
interface Seen extends SubmissionTransaction {
  readonly raw: unknown
  readonly isSubmission: boolean
  readonly isFastUpdate: boolean
}

function transactionsTo(
  transactions: readonly unknown[],
  called: ReadonlyMap<string, string>,
): Seen[] {
  return transactions.flatMap((raw): Seen[] => {
    if (typeof raw !== 'object' || raw === null) return []
    const { hash, from, to, input } = raw as Record<string, unknown>
    if (typeof hash !== 'string' || typeof from !== 'string') return []
    if (typeof to !== 'string' || typeof input !== 'string') return []
    const contract = called.get(to.toLowerCase())
    if (contract === undefined) return []
    return [
      {
        raw,
        hash,
        from: from.toLowerCase(),
        input,
        isSubmission: contract === 'Submission' && submitFunctionOf(input) !== undefined,
        isFastUpdate:
          contract === 'Submission' &&
          input.slice(2, 10).toLowerCase() === SUBMIT_AND_PASS_SELECTOR,
      },
    ]
  })
}

function eventsOf(
  logs: readonly Log[],
  senders: ReadonlyMap<string, string>,
): Pick<ProtocolBlock, 'finalised' | 'requests' | 'fastUpdates' | 'claims'> {
  const decoded = logs.flatMap((log) => {
    const [topic, ...rest] = log.topics
    if (topic === undefined) return []
    const abi: Abi = ROUND_EVENTS_ABI
    return [{ log, event: decodeEventLog({ abi, topics: [topic, ...rest], data: log.data }) }]
  })
  return {
    finalised: decoded.flatMap(({ event }) => {
      if (event.eventName !== 'ProtocolMessageRelayed') return []
      const { protocolId, votingRoundId, isSecureRandom, merkleRoot } = Relayed.parse(event.args)
      return [{ protocol: protocolId, round: votingRoundId, isSecureRandom, merkleRoot }]
    }),
    requests: decoded.flatMap(({ event }) =>
      event.eventName === 'AttestationRequest' ? [Requested.parse(event.args).data] : [],
    ),
    claims: decoded.flatMap(({ event }) => {
      if (event.eventName !== 'RewardClaimed') return []
      const { beneficiary, rewardEpochId: rewardEpoch, claimType } = Claimed.parse(event.args)
      return OWN_CLAIM_TYPES.includes(claimType) ? [{ rewardEpoch, beneficiary, claimType }] : []
    }),
    fastUpdates: decoded.flatMap(({ log, event }) => {
      if (event.eventName !== 'FastUpdateFeedsSubmitted') return []
      const { signingPolicyAddress } = Updated.parse(event.args)
      const sender = senders.get(log.transactionHash)
      return sender === undefined
        ? []
        : [{ signingPolicy: signingPolicyAddress, sender: z.decode(Address, sender) }]
    }),
  }
}

const Relayed = z.object({
  protocolId: z.int(),
  votingRoundId: z.int(),
  isSecureRandom: z.boolean(),
  merkleRoot: Hash,
})
const Requested = z.object({ data: z.string() })
const Updated = z.object({ signingPolicyAddress: Address })
const Claimed = z.object({ beneficiary: Address, rewardEpochId: z.int(), claimType: z.int() })
