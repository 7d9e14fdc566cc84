import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import { contractView, readViews } from '#src/chain/endpoints/calls.ts'
import type { RpcClient } from '#src/chain/endpoints/endpoints.ts'
import { EndpointError } from '#src/chain/endpoints/failures.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import type { EpochSettings } from '../protocol/epochs.ts'
import { SYSTEMS_MANAGER_ABI } from './abi.ts'
import { readManager } from './manager.ts'
import type { EpochPolicyReader, LoadedPolicy } from './policy-of-epoch.ts'

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
   * @throws AppError upstream if no endpoint returns them completely, also if the policy in force cannot be found; the signal's reason when it is aborted
   */
  read(
    block: BlockRef,
    signal?: AbortSignal,
    query?: PoliciesQuery,
  ): Promise<PolicySnapshot | undefined>
}

/**
 * Creates a reader of the policies around the reward epoch in force. It finds the contracts through the registry of
 * contracts of the chain. Long because the parts of a snapshot share the endpoint and the cached time settings.
 */
export function createPolicyReader(source: ChainAccess, ofEpoch: EpochPolicyReader): PolicyReader {
  const { endpoints } = source
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

  /** Reads the policies from one endpoint; `unknown` if it does not return the one in force. */
  async function readFrom(
    client: RpcClient,
    block: BlockRef,
    { sinceRound, known }: PoliciesQuery,
  ): Promise<PolicySnapshot | undefined | 'unknown'> {
    const state = await readManager(source, client, block.number)
    if (state === undefined) return undefined
    const { manager, currentEpoch } = state
    if (currentEpoch === undefined) return undefined
    // A fixed policy does not change.
    const read = async (epoch: number) =>
      known?.policies.find(({ rewardEpoch }) => rewardEpoch === epoch) ??
      (await ofEpoch.read(client, epoch, block.number))
    const current = await read(currentEpoch)
    // Another endpoint is asked: without this policy, the epoch's rounds would be judged by the one before it.
    if (current === undefined) return 'unknown'
    const next = await read(currentEpoch + 1)
    const policies: LoadedPolicy[] = [current, ...(next === undefined ? [] : [next])]
    for (let epoch = currentEpoch - 1; epoch >= 0; epoch -= 1) {
      const policy = await read(epoch)
      if (policy === undefined) break
      policies.unshift(policy)
      if (policy.startRound <= (sinceRound ?? policy.startRound)) break
    }
    const oldest = policies[0]?.rewardEpoch ?? currentEpoch
    const epochs = Array.from({ length: currentEpoch + 2 - oldest }, (_, index) => oldest + index)
    const registrations = await readRegistration(source, client, manager, epochs, block.number)
    const { clock, schedule } = await timesFor(client, manager, currentEpoch, block.number)
    return { clock, schedule, currentEpoch, policies, registrations }
  }

  return {
    async read(block, signal, query = {}) {
      const snapshot = await endpoints.askUntil(
        (client) => readFrom(client, block, query),
        (answer) => answer !== 'unknown',
        signal,
      )
      if (snapshot !== 'unknown') return snapshot
      // The endpoints answered: none of them is at fault.
      const cause = new Error('no signing policy in force was found')
      throw new AppError('upstream', 'dependency_unavailable', {}, { cause })
    },
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
    contractView(SYSTEMS_MANAGER_ABI, 'firstVotingRoundStartTs', []),
    contractView(SYSTEMS_MANAGER_ABI, 'votingEpochDurationSeconds', []),
    contractView(SYSTEMS_MANAGER_ABI, 'firstRewardEpochStartTs', []),
    contractView(SYSTEMS_MANAGER_ABI, 'rewardEpochDurationSeconds', []),
    contractView(SYSTEMS_MANAGER_ABI, 'voterRegistrationMinDurationSeconds', []),
    contractView(SYSTEMS_MANAGER_ABI, 'newSigningPolicyInitializationStartSeconds', []),
  ]
  const expiry = contractView(SYSTEMS_MANAGER_ABI, 'rewardExpiryOffsetSeconds', [])
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

/** Reads since when the registration for these epochs is open; an epoch is missing until then. */
async function readRegistration(
  { multicallAddress }: ChainAccess,
  client: RpcClient,
  manager: Address,
  epochs: readonly number[],
  block: number,
): Promise<readonly RegistrationPeriod[]> {
  const views = epochs.map((epoch) =>
    contractView(SYSTEMS_MANAGER_ABI, 'getRandomAcquisitionInfo', [epoch]),
  )
  const calls = views.map((view) => [manager, view] as const)
  const answers = await readViews(client, multicallAddress, calls, block)
  return views.flatMap((view, index) => {
    const epoch = epochs[index]
    const [, , endTs = 0n] = view.of(answers[index]) ?? []
    return endTs === 0n || epoch === undefined ? [] : [{ epoch, openedAt: Number(endTs) }]
  })
}
