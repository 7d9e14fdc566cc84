import { z } from 'zod'
import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import type { RpcClient } from '#src/chain/endpoints.ts'
import { EndpointError, isEndpointFailure } from '#src/chain/failures.ts'
import type { Log, LogFilter } from '#src/chain/logs.ts'
import { readSpan } from '#src/chain/spans.ts'
import { askViews, view } from '#src/chain/views.ts'
import { AppError } from '#src/kernel/errors.ts'
import { type Address, type Hash, ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { EpochClock } from '../protocol/epochs.ts'
import { SUBMIT_AND_PASS_SELECTOR, submitFunctionOf } from '../protocol/framing.ts'
import type { Policy } from '../protocol/policy.ts'
import type { SubmissionTransaction } from '../protocol/round-evidence.ts'
import type { RoundBlock } from '../protocol/rounds.ts'
import { SYSTEMS_MANAGER_ABI, VOTER_REGISTRY_ABI } from './abi.ts'
import { readStates, type StatesQuery, type SystemState } from './provider-states.ts'
import { createCallReader, type ProtocolCall, Transaction } from './round-calls.ts'
import { eventsOf, NO_EVENTS, type ProtocolEvents, RARE, TOPICS } from './round-events.ts'
import { MANAGER_ABI, REGISTRY_ABI } from './rounds-abi.ts'

/** A signing policy with what fast updates need. */
export interface LoadedPolicy extends Policy {
  readonly weightSum: number
  /** Of those that have a key for fast updates. */
  readonly weightSumWithKeys: number
  /** When it was fixed, epoch seconds; null where the chain does not say. */
  readonly fixedAt: number | null
}

/** Registration for a reward epoch. */
export interface RegistrationPeriod {
  readonly epoch: number
  /** Epoch seconds. */
  readonly openedAt: number
}

/** The policies around the reward epoch in force. */
export interface Policies {
  readonly clock: EpochClock
  readonly currentEpoch: number
  /** Oldest first: those from the round that was asked for on, the one in force, the next once it is fixed. */
  readonly policies: readonly LoadedPolicy[]
  /** Registration for these epochs, as far as it has opened. */
  readonly registrations: readonly RegistrationPeriod[]
  readonly schedule: {
    /** Registration stays open for so long at least. */
    readonly registrationSeconds: number
    /** Before the end of a reward epoch, the next one is prepared from then on. */
    readonly preparationSeconds: number
    /** After the end of their reward epoch rewards can be claimed for so long; null: the chain does not say. */
    readonly rewardExpirySeconds: number | null
  }
}

/** What was read before, so that it need not be read again. */
export interface PoliciesQuery {
  /** The oldest voting round whose policy is needed; without it the one before the present is enough. */
  readonly sinceRound?: number
  readonly known?: Policies
}

/** A block of a span, as far as the protocol is concerned. */
export interface ProtocolBlock extends RoundBlock, ProtocolEvents {
  readonly ref: BlockRef
  readonly calls: readonly ProtocolCall[]
}

/** Reads voting rounds. Every method rejects as those of `Chain` do. */
export interface RoundReader {
  /** undefined where there is no such protocol. */
  policies(
    block: BlockRef,
    signal?: AbortSignal,
    query?: PoliciesQuery,
  ): Promise<Policies | undefined>
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
  /** Addresses that VoterRegistry and Relay have or had, newest first: to be stored for later processes. */
  contracts(): Readonly<Record<string, readonly Address[]>>
  /** How providers stand at the end of a block, in one request. */
  states(query: StatesQuery, signal?: AbortSignal): Promise<SystemState>
}

/** Contracts whose former addresses go on to matter: for reward epochs, and rounds, that began with them. */
const MOVING = ['VoterRegistry', 'Relay'] as const

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

/** Reads voting rounds, the contracts found through the registry. */
export function createRoundReader(source: ChainAccess): RoundReader {
  const { endpoints, contracts, multicallAddress } = source
  let times: (Pick<Policies, 'clock' | 'schedule'> & { readonly readFor: number }) | undefined
  const readCalls = createCallReader(endpoints)

  /** How the chain counts time. Governance may change the schedule: it is read anew for each epoch. */
  async function readTimes(
    client: RpcClient,
    manager: Address,
    epochInForce: number,
    block: number,
  ) {
    if (times?.readFor === epochInForce) return times
    const views = [
      view(MANAGER_ABI, 'firstVotingRoundStartTs', []),
      view(MANAGER_ABI, 'votingEpochDurationSeconds', []),
      view(MANAGER_ABI, 'firstRewardEpochStartTs', []),
      view(MANAGER_ABI, 'rewardEpochDurationSeconds', []),
      view(MANAGER_ABI, 'voterRegistrationMinDurationSeconds', []),
      view(MANAGER_ABI, 'newSigningPolicyInitializationStartSeconds', []),
    ]
    const expiry = view(MANAGER_ABI, 'rewardExpiryOffsetSeconds', [])
    const answers = await askViews(
      client,
      multicallAddress,
      [...views, expiry].map((one) => [manager, one] as const),
      block,
    )
    const [first, round, firstEpoch, epoch, registrationSeconds, preparationSeconds] = views.map(
      (one, i) => Number(one.of(answers[i])),
    )
    if (!first || !round || !firstEpoch || !epoch || !registrationSeconds || !preparationSeconds) {
      throw new EndpointError('the systems manager does not say how it counts time')
    }
    times = {
      readFor: epochInForce,
      clock: {
        firstRoundAtSeconds: first,
        roundSeconds: round,
        firstEpochRound: (firstEpoch - first) / round,
        roundsPerEpoch: epoch / round,
      },
      schedule: {
        registrationSeconds,
        preparationSeconds,
        rewardExpirySeconds: expiry.of(answers[views.length]) ?? null,
      },
    }
    return times
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
    const fixed = view(MANAGER_ABI, 'getSigningPolicySignInfo', [epoch])
    // Each registry knows its own reward epochs only: one that answers with nobody does not know this one.
    for (const registry of await registriesOf(client, manager, block)) {
      const questions = [
        [manager, start],
        [manager, fixed],
        ...[voters, submit, submitSignatures, signingPolicy, sums].map(
          (one) => [registry, one] as const,
        ),
      ] as const
      const answers = await askViews(client, multicallAddress, questions, block)
      const found = voters.of(answers[2])
      const [submits, signatures, policies] = [submit, submitSignatures, signingPolicy].map(
        (one, i) => one.of(answers[3 + i]),
      )
      const startRound = start.of(answers[0])
      if (!found || !submits || !signatures || !policies || startRound === undefined) continue
      if (found[0].length === 0) continue
      const total = found[1].reduce((sum, one) => sum + one, 0)
      const [, sum = total, sumWithKeys = sum] = sums.of(answers[6]) ?? []
      const [fixedAt = 0n] = fixed.of(answers[1]) ?? []
      return {
        rewardEpoch: epoch,
        startRound,
        weightSum: sum,
        weightSumWithKeys: sumWithKeys === 0 ? sum : sumWithKeys,
        fixedAt: fixedAt === 0n ? null : Number(fixedAt),
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

  /** The registry in use by the manager, and those the list of contracts has or had. */
  async function registriesOf(
    client: RpcClient,
    manager: Address,
    block: number,
  ): Promise<readonly Address[]> {
    const registry = view(MANAGER_ABI, 'voterRegistry', [])
    const relay = view(MANAGER_ABI, 'relay', [])
    const questions = [
      [manager, registry],
      [manager, relay],
    ] as const
    const [registryAnswer, relayAnswer] = await askViews(client, multicallAddress, questions, block)
    const [registryInUse, relayInUse] = [registry.of(registryAnswer), relay.of(relayAnswer)]
    if (registryInUse !== undefined) contracts.remember('VoterRegistry', registryInUse)
    if (relayInUse !== undefined) contracts.remember('Relay', relayInUse)
    return contracts.all(client, 'VoterRegistry')
  }

  async function readRegistration(
    client: RpcClient,
    manager: Address,
    epochs: readonly number[],
    block: number,
  ): Promise<readonly RegistrationPeriod[]> {
    const views = epochs.map((epoch) => view(MANAGER_ABI, 'getRandomAcquisitionInfo', [epoch]))
    const questions = views.map((one) => [manager, one] as const)
    const answers = await askViews(client, multicallAddress, questions, block)
    return views.flatMap((one, index) => {
      const epoch = epochs[index]
      const [, , endTs = 0n] = one.of(answers[index]) ?? []
      return endTs === 0n || epoch === undefined ? [] : [{ epoch, openedAt: Number(endTs) }]
    })
  }

  return {
    policies: (block, signal, { sinceRound, known } = {}) =>
      endpoints.ask(async (client) => {
        const manager = await contracts.find(client, 'FlareSystemsManager')
        if (manager === undefined) return undefined
        const one = view(SYSTEMS_MANAGER_ABI, 'getCurrentRewardEpochId', [])
        const [answer] = await askViews(client, multicallAddress, [[manager, one]], block.number)
        const currentEpoch = one.of(answer)
        if (currentEpoch === undefined) return undefined
        // A policy that is fixed does not change.
        const read = async (epoch: number) =>
          known?.policies.find(({ rewardEpoch }) => rewardEpoch === epoch) ??
          (await readPolicy(client, manager, epoch, block.number))
        const current = await read(currentEpoch)
        // By an older one its rounds would be judged wrongly.
        if (current === undefined) throw new EndpointError('no signing policy in force')
        const next = await read(currentEpoch + 1)
        const policies: LoadedPolicy[] = [current, ...(next === undefined ? [] : [next])]
        for (let epoch = currentEpoch - 1; epoch >= 0; epoch -= 1) {
          const policy = await read(epoch)
          if (policy === undefined) break
          policies.unshift(policy)
          if (policy.startRound <= (sinceRound ?? policy.startRound)) break
        }
        const oldest = policies[0]?.rewardEpoch ?? currentEpoch
        const epochs = Array.from(
          { length: currentEpoch + 2 - oldest },
          (_, index) => oldest + index,
        )
        const registrations = await readRegistration(client, manager, epochs, block.number)
        const { clock, schedule } = await readTimes(client, manager, currentEpoch, block.number)
        return { clock, schedule, currentEpoch, policies, registrations }
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
          registries: await contracts.all(client, 'VoterRegistry'),
          hubs: await contracts.all(client, 'FdcHub'),
          updaters: await contracts.all(client, 'FastUpdater'),
          rewards: await contracts.all(client, 'RewardManager'),
        }
      }, signal)
      const emitting = [places.relays, places.hubs, places.updaters, places.rewards].flat()
      const address = [...emitting, ...places.registries]
      // Nodes read an empty list as any contract.
      const filter: LogFilter = {
        address: address.length === 0 ? [ZERO_ADDRESS] : address,
        topics: [Object.values(TOPICS)],
      }
      const asked = { ...range, withTransactions: true, rare: RARE }
      const span = await readSpan(source, filter, asked, signal)
      const logsOf = Map.groupBy(span.logs, ({ blockNumber }) => Number(blockNumber))
      const seenIn = span.blocks.map((block) => ({
        ...block,
        seen: transactionsTo(block.transactions, places.called),
      }))
      const found = await Promise.all(
        seenIn.map(async ({ ref, seen, isSure }): Promise<ProtocolBlock | AppError> => {
          const own = z
            .array(Transaction)
            .safeParse(seen.filter(({ from }) => watched.has(from)).map(({ raw }) => raw))
          const events = readEvents(logsOf.get(ref.number) ?? [], seen)
          try {
            const calls = await readCalls(own.data ?? [], ref, places.called, signal)
            const failed = new Set<string>(calls.filter(({ ok }) => !ok).map(({ tx }) => tx))
            return {
              ref,
              number: ref.number,
              at: ref.at.getTime() / 1000,
              isSure: isSure && own.success && events !== undefined,
              submissions: seen.filter(
                ({ hash, isSubmission }) => isSubmission && !failed.has(hash),
              ),
              ...(events ?? NO_EVENTS),
              calls,
            }
          } catch (error) {
            if (error instanceof AppError && error.kind === 'upstream') return error
            throw error
          }
        }),
      )
      // What came before a block whose receipts cannot be had is kept.
      const blocks: ProtocolBlock[] = []
      for (const block of found) {
        if (!(block instanceof AppError)) blocks.push(block)
        else if (blocks.length === 0) throw block
        else break
      }
      return { blocks, upTo: blocks.at(-1)?.number ?? span.upTo }
    },

    contracts: () => {
      const seen = contracts.seen()
      return Object.fromEntries(MOVING.map((name) => [name, seen.get(name) ?? []]))
    },

    states: (query, signal) => readStates(source, query, signal),
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

/** The events of a block; undefined when one of them is not what its topic says. */
function readEvents(logs: readonly Log[], seen: readonly Seen[]): ProtocolEvents | undefined {
  const updates = seen.filter(({ isFastUpdate }) => isFastUpdate)
  try {
    return eventsOf(logs, new Map(updates.map(({ hash, from }) => [hash, from])))
  } catch (error) {
    if (isEndpointFailure(error)) return undefined
    throw error
  }
}
