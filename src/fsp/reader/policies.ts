import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import { contractView, readViews } from '#src/chain/contract-views.ts'
import type { RpcClient } from '#src/chain/endpoints.ts'
import { EndpointError } from '#src/chain/failures.ts'
import type { Address } from '#src/kernel/units.ts'
import type { EpochSettings } from '../protocol/epochs.ts'
import type { Policy } from '../protocol/policy.ts'
import { MANAGER_POLICY_ABI, VOTER_DATA_ABI } from './provider-abi.ts'
import { SYSTEMS_MANAGER_ABI, VOTER_REGISTRY_ABI } from './vote-abi.ts'

/** A signing policy with the sums of its weights and the time at which it was fixed. */
export interface LoadedPolicy extends Policy {
  /** Sum of the normalised weights of all providers. */
  readonly weightSum: number
  /** Sum of the weights of providers with a key for fast updates; that of all if the chain returns none. */
  readonly weightSumWithKeys: number
  /** Time at which the policy was fixed, in seconds since 1970; null if the chain does not return it. */
  readonly fixedAt: number | null
}

/** Start of the registration for a reward epoch. */
export interface RegistrationPeriod {
  readonly epoch: number
  /** Seconds since 1970. */
  readonly openedAt: number
}

/** The policies around the reward epoch in force. */
export interface PolicySnapshot {
  readonly clock: EpochSettings
  readonly currentEpoch: number
  /**
   * Policies, oldest first: from the policy of the requested round, or at least the one before the policy in force, up
   * to the policy in force and, once it is fixed, the next policy.
   */
  readonly policies: readonly LoadedPolicy[]
  /** Registrations that have opened, for the epochs of `policies` and the next one. */
  readonly registrations: readonly RegistrationPeriod[]
  readonly schedule: {
    /** Minimum time for which registration stays open. */
    readonly registrationSeconds: number
    /** Time before the end of a reward epoch at which the preparation of the next epoch starts. */
    readonly preparationSeconds: number
    /**
     * Time after the end of a reward epoch in which its rewards can be claimed; null if the chain does not
     * return it.
     */
    readonly rewardExpirySeconds: number | null
  }
}

/** Which policies are read. */
export interface PoliciesQuery {
  /** The oldest voting round whose policy is needed; by default one policy before that in force is read. */
  readonly sinceRound?: number
  /** An earlier snapshot, whose policies are not read again. */
  readonly known?: PolicySnapshot
}

/** Reader of signing policies and of the chain's time settings. */
export interface PolicyReader {
  /**
   * Reads the policies at a block; undefined on a chain without the protocol.
   *
   * @throws AppError upstream if no endpoint returns them completely; the signal's reason when it is aborted
   */
  read(
    block: BlockRef,
    signal?: AbortSignal,
    query?: PoliciesQuery,
  ): Promise<PolicySnapshot | undefined>
}

/**
 * Creates a reader of the policies around the reward epoch in force. It finds the contracts through the registry of
 * contracts of the chain.
 */
export function createPolicyReader(source: ChainAccess): PolicyReader {
  const { endpoints, contracts, multicallAddress } = source
  let times: Times | undefined

  /** The time settings, which are read again for each epoch, because governance may change them. */
  async function timesFor(
    client: RpcClient,
    manager: Address,
    epoch: number,
    block: number,
  ): Promise<Times> {
    if (times?.readFor !== epoch) times = await readTimes(source, client, manager, { epoch, block })
    return times
  }

  return {
    read: (block, signal, { sinceRound, known } = {}) =>
      endpoints.ask(async (client) => {
        const manager = await contracts.find(client, 'FlareSystemsManager')
        if (manager === undefined) return undefined
        const currentEpochView = contractView(SYSTEMS_MANAGER_ABI, 'getCurrentRewardEpochId', [])
        const [answer] = await readViews(
          client,
          multicallAddress,
          [[manager, currentEpochView]],
          block.number,
        )
        const currentEpoch = currentEpochView.of(answer)
        if (currentEpoch === undefined) return undefined
        // A fixed policy does not change.
        const read = async (epoch: number) =>
          known?.policies.find(({ rewardEpoch }) => rewardEpoch === epoch) ??
          (await readPolicy(source, client, manager, epoch, block.number))
        const current = await read(currentEpoch)
        // Judging the epoch's rounds by an older policy would be wrong.
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
        const registrations = await readRegistration(source, client, manager, epochs, block.number)
        const { clock, schedule } = await timesFor(client, manager, currentEpoch, block.number)
        return { clock, schedule, currentEpoch, policies, registrations }
      }, signal),
  }
}

/** Time settings of the chain, with the reward epoch they were read for. */
type Times = Pick<PolicySnapshot, 'clock' | 'schedule'> & { readonly readFor: number }

async function readTimes(
  { multicallAddress }: ChainAccess,
  client: RpcClient,
  manager: Address,
  { epoch: epochInForce, block }: { readonly epoch: number; readonly block: number },
): Promise<Times> {
  const views = [
    contractView(MANAGER_POLICY_ABI, 'firstVotingRoundStartTs', []),
    contractView(MANAGER_POLICY_ABI, 'votingEpochDurationSeconds', []),
    contractView(MANAGER_POLICY_ABI, 'firstRewardEpochStartTs', []),
    contractView(MANAGER_POLICY_ABI, 'rewardEpochDurationSeconds', []),
    contractView(MANAGER_POLICY_ABI, 'voterRegistrationMinDurationSeconds', []),
    contractView(MANAGER_POLICY_ABI, 'newSigningPolicyInitializationStartSeconds', []),
  ]
  const expiry = contractView(MANAGER_POLICY_ABI, 'rewardExpiryOffsetSeconds', [])
  const answers = await readViews(
    client,
    multicallAddress,
    [...views, expiry].map((view) => [manager, view] as const),
    block,
  )
  const [first, round, firstEpoch, epoch, registrationSeconds, preparationSeconds] = views.map(
    (view, i) => Number(view.of(answers[i])),
  )
  if (!first || !round || !firstEpoch || !epoch || !registrationSeconds || !preparationSeconds) {
    throw new EndpointError('FlareSystemsManager returned no time settings')
  }
  return {
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
}

/** Reads the policy of a reward epoch; undefined if it is not fixed yet. */
async function readPolicy(
  source: ChainAccess,
  client: RpcClient,
  manager: Address,
  epoch: number,
  block: number,
): Promise<LoadedPolicy | undefined> {
  const { multicallAddress } = source
  const id = [BigInt(epoch)] as const
  const start = contractView(MANAGER_POLICY_ABI, 'getStartVotingRoundId', id)
  const voters = contractView(VOTER_REGISTRY_ABI, 'getRegisteredVotersAndNormalisedWeights', id)
  const submit = contractView(VOTER_DATA_ABI, 'getRegisteredSubmitAddresses', id)
  const submitSignatures = contractView(
    VOTER_DATA_ABI,
    'getRegisteredSubmitSignaturesAddresses',
    id,
  )
  const signingPolicy = contractView(VOTER_DATA_ABI, 'getRegisteredSigningPolicyAddresses', id)
  const sums = contractView(VOTER_DATA_ABI, 'getWeightsSums', id)
  const fixed = contractView(MANAGER_POLICY_ABI, 'getSigningPolicySignInfo', [epoch])
  // Each voter registry has only its own reward epochs. If one has no voters, another one may have them.
  for (const registry of await registriesOf(source, client, manager, block)) {
    const calls = [
      [manager, start],
      [manager, fixed],
      ...[voters, submit, submitSignatures, signingPolicy, sums].map(
        (view) => [registry, view] as const,
      ),
    ] as const
    const answers = await readViews(client, multicallAddress, calls, block)
    const votersOfEpoch = voters.of(answers[2])
    const [submits, signatures, policies] = [submit, submitSignatures, signingPolicy].map(
      (view, i) => view.of(answers[3 + i]),
    )
    const startRound = start.of(answers[0])
    if (!votersOfEpoch || !submits || !signatures || !policies || startRound === undefined) continue
    if (votersOfEpoch[0].length === 0) continue
    const total = votersOfEpoch[1].reduce((sum, weight) => sum + weight, 0)
    const [, sum = total, sumWithKeys = sum] = sums.of(answers[6]) ?? []
    const [fixedAt = 0n] = fixed.of(answers[1]) ?? []
    return {
      rewardEpoch: epoch,
      startRound,
      weightSum: sum,
      weightSumWithKeys: sumWithKeys === 0 ? sum : sumWithKeys,
      fixedAt: fixedAt === 0n ? null : Number(fixedAt),
      providers: votersOfEpoch[0].map((voter, place) => ({
        voter,
        submit: submits[place] ?? voter,
        submitSignatures: signatures[place] ?? voter,
        signingPolicy: policies[place] ?? voter,
        weight: votersOfEpoch[1][place] ?? 0,
      })),
    }
  }
  return undefined
}

/** The voter registries: the one that the manager uses, and current and former ones of the registry of contracts. */
async function registriesOf(
  { contracts, multicallAddress }: ChainAccess,
  client: RpcClient,
  manager: Address,
  block: number,
): Promise<readonly Address[]> {
  const registry = contractView(MANAGER_POLICY_ABI, 'voterRegistry', [])
  const relay = contractView(MANAGER_POLICY_ABI, 'relay', [])
  const calls = [
    [manager, registry],
    [manager, relay],
  ] as const
  const [registryAnswer, relayAnswer] = await readViews(client, multicallAddress, calls, block)
  const [registryInUse, relayInUse] = [registry.of(registryAnswer), relay.of(relayAnswer)]
  if (registryInUse !== undefined) contracts.addAddress('VoterRegistry', registryInUse)
  if (relayInUse !== undefined) contracts.addAddress('Relay', relayInUse)
  return contracts.all(client, 'VoterRegistry')
}

/** Reads since when the registration for these epochs is open; an epoch is missing until then. */
async function readRegistration(
  { multicallAddress }: ChainAccess,
  client: RpcClient,
  manager: Address,
  epochs: readonly number[],
  block: number,
): Promise<readonly RegistrationPeriod[]> {
  const views = epochs.map((epoch) =>
    contractView(MANAGER_POLICY_ABI, 'getRandomAcquisitionInfo', [epoch]),
  )
  const calls = views.map((view) => [manager, view] as const)
  const answers = await readViews(client, multicallAddress, calls, block)
  return views.flatMap((view, index) => {
    const epoch = epochs[index]
    const [, , endTs = 0n] = view.of(answers[index]) ?? []
    return endTs === 0n || epoch === undefined ? [] : [{ epoch, openedAt: Number(endTs) }]
  })
}
