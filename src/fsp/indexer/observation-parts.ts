/** Makes the parts of a provider's observation at the end of a round. */
import type { BlockRef } from '#src/chain/chain.ts'
import type { Address } from '#src/kernel/units.ts'
import { expectedEpochStart, roundAt, roundStart } from '../protocol/epochs.ts'
import { blocksInOnePercentOfEpoch, isSilenceImprobable } from '../protocol/fast-update-silence.ts'
import { nodeIdOf } from '../protocol/node-id.ts'
import { type IndexedPolicy, type PolicyProvider, policyOfRound } from '../protocol/policy.ts'
import type { PolicySnapshot } from '../reader/policies.ts'
import type { LoadedPolicy } from '../reader/policy-of-epoch.ts'
import type { ProviderState, SystemState } from '../reader/provider-states.ts'
import type { AccountOwners } from './account-owners.ts'
import { takeCalls } from './call-state.ts'
import type { CarriedState } from './carried-state.ts'
import type { ProviderObservation, TransactionPart } from './observation-model.ts'
import { takeNodePolls } from './poll-state.ts'
import type { UnclaimedRewards } from './rewards.ts'
import type { RoundRecord } from './round-record.ts'
import { currentSilenceOf, dropRecentSilence, longestEndedSilenceOf } from './silence-state.ts'

/** Maximum probability that a watch can set for silence. */
const PROBABILITY_MAX = 0.1

type Policy = LoadedPolicy & IndexedPolicy

/** The known signing policies, with their addresses indexed. */
export interface KnownPolicies extends PolicySnapshot {
  readonly policies: readonly Policy[]
}

/** Inputs for the parts of observations while rounds are read. */
interface IndexingState {
  readonly state: CarriedState
  readonly policies: KnownPolicies
  readonly owners: AccountOwners
  /** Average time between blocks, in seconds. */
  readonly blockSeconds: number
}

/**
 * Owners of the accounts in these policies. Calls are recorded only for providers in `watched`.
 *
 * @param sendersOf accounts that recently sent a provider's fast updates
 */
export function accountOwnersOf(
  { policies }: KnownPolicies,
  watched: ReadonlySet<Address>,
  sendersOf: (voter: Address) => readonly Address[],
): AccountOwners {
  const members = policies.flatMap(({ providers }) => providers)
  const accounts = members
    .filter(({ voter }) => watched.has(voter))
    .flatMap(({ voter, submit, submitSignatures, signingPolicy }) => {
      const ownedAccount = (role: TransactionPart['role'], account: Address) =>
        [account.toLowerCase(), { voter, role }] as const
      // An account with several roles gets the last role.
      return [
        ...sendersOf(voter).map((sender) => ownedAccount('fastUpdates', sender)),
        ownedAccount('identity', voter),
        ownedAccount('signingPolicy', signingPolicy),
        ownedAccount('submitSignatures', submitSignatures),
        ownedAccount('submit', submit),
      ]
    })
  return {
    bySigningPolicy: new Map(members.map(({ signingPolicy, voter }) => [signingPolicy, voter])),
    byAccount: new Map(accounts),
  }
}

/**
 * Silence of a member of the policy; undefined if it cannot take part in fast updates, or if nothing shows that it can.
 * Blocks in which that is so do not count.
 *
 * @param sampleSize expected fast updates per block since the last round; null: unknown
 */
export function silenceOfMember(
  { state, policies, blockSeconds }: IndexingState,
  policy: Policy | undefined,
  voter: Address,
  sampleSize: number | null,
): { readonly part: FastUpdates; readonly peak: StateBetweenRounds | undefined } | undefined {
  const member = policy?.providers.find((provider) => provider.voter === voter)
  if (policy === undefined || member === undefined) return undefined
  const { sortitionWeight } = member
  if (sortitionWeight === null || sampleSize === null) {
    dropRecentSilence(state, voter)
    return undefined
  }
  const now = currentSilenceOf(state, voter, sortitionWeight, sampleSize)
  const { roundSeconds, roundsPerEpoch } = policies.clock
  const onePercentBlocks = blocksInOnePercentOfEpoch(roundSeconds * roundsPerEpoch, blockSeconds)
  const partOf = (silence: Omit<typeof now, 'countedTo'>): FastUpdates => ({
    exponent: silence.exponent,
    blocksSinceUpdate: silence.blocks,
    lastUpdateBlock: silence.lastUpdateBlock,
    lastUpdateAt: silence.lastUpdateAt,
    sortitionWeight,
    sampleSize,
    onePercentBlocks,
    weightShare: member.weight / policy.weightSum,
  })
  const before = longestEndedSilenceOf(state, voter, sortitionWeight, sampleSize)
  const isNotifying =
    before !== undefined &&
    (isSilenceImprobable(before.exponent, PROBABILITY_MAX) || before.blocks >= onePercentBlocks)
  return {
    part: partOf(now),
    peak: isNotifying
      ? { block: before.block - 1, at: before.at, fastUpdates: partOf(before) }
      : undefined,
  }
}

/** State of a provider between two round ends, at the block before a silence or registration ended. */
export type StateBetweenRounds = NonNullable<RoundRecord['between']>[number]
type FastUpdates = NonNullable<RoundRecord['fastUpdates']>

/**
 * The parts of an observation that only watched providers have.
 */
export function watchedPartsOf(
  { state, policies, owners }: IndexingState,
  voter: Address,
  at: {
    readonly block: BlockRef
    readonly system: SystemState | undefined
    readonly policy: Policy | undefined
    readonly rewards: UnclaimedRewards | undefined
    /** Its newest published rewards. */
    readonly earned: EarnedRewards | undefined
    readonly peak: StateBetweenRounds | undefined
  },
): Partial<RoundRecord> {
  const { block, policy, system, rewards, earned, peak } = at
  const nowSeconds = block.at.getTime() / 1000
  const known = system?.providers.get(voter)
  const member = policy?.providers.find((provider) => provider.voter === voter)
  const next = policies.policies.find(
    ({ rewardEpoch, fixedAt }) =>
      rewardEpoch === (policy?.rewardEpoch ?? 0) + 1 && fixedAt !== null && fixedAt <= nowSeconds,
  )
  const transactions = takeCalls(state, voter)
  const nodeIds = known?.nodeIds?.map(nodeIdOf) ?? []
  for (const nodeId of nodeIds) {
    state.polls[nodeId] ??= { polls: 0, connectedPolls: 0, absentPolls: 0, endsAt: null }
  }
  const nodes = takeNodePolls(state, nodeIds, policy?.rewardEpoch)?.filter(
    ({ polls, isListed }) => polls > 0 || !isListed,
  )
  const registration = registrationOf({ state, policies }, voter, { nowSeconds, known, policy })
  const between = momentsOf(state.registrationMoments[voter], registration, peak)
  return {
    ...(member && { addresses: addressesOf(member) }),
    ...(policy && {
      policy: {
        current: membershipIn(policy, voter, policies),
        next: next === undefined ? null : membershipIn(next, voter, policies),
      },
    }),
    ...(registration && { registration }),
    ...(between.length > 0 && { between }),
    ...(transactions.length > 0 && { transactions }),
    ...(known !== undefined && {
      balances: [...known.balancesWei].map(([address, wei]) => ({
        role: roleOf(owners, known.addresses, address),
        address,
        balanceWei: wei.toString(),
      })),
    }),
    ...(nodes !== undefined && nodes.length > 0 && { nodes }),
    ...(rewards && {
      rewards: {
        epochs: [...rewards.epochs],
        amountWei: rewards.amountWei.toString(),
        expiresAt: expiryOf(rewards.epochs[0], policies),
      },
    }),
    earnings: earningsOf(policies, voter, policy, earned),
  }
}

interface EarnedRewards {
  readonly rewardEpoch: number
  readonly amountWei: bigint
}

function earningsOf(
  policies: PolicySnapshot,
  voter: Address,
  policy: Policy | undefined,
  earned: EarnedRewards | undefined,
): NonNullable<RoundRecord['earnings']> {
  const { roundsPerEpoch } = policies.clock
  if (earned === undefined) return { roundsPerEpoch, newest: null }
  const past = policies.policies.find(({ rewardEpoch }) => rewardEpoch === earned.rewardEpoch)
  const [now, then] = [weightShareOf(policy, voter), weightShareOf(past, voter)]
  const ratio = Math.round((now / then) * RATIO_PLACES) / RATIO_PLACES
  const weightRatio = Number.isFinite(ratio) && ratio > 0 ? ratio : null
  return { roundsPerEpoch, newest: { ...earned, amountWei: `${earned.amountWei}`, weightRatio } }
}

/** Accuracy of a ratio of weights: four decimals. */
const RATIO_PLACES = 10_000

/** A provider's share of the weight of a policy; not a number if the policy or the provider in it is not known. */
function weightShareOf(
  policy: Pick<LoadedPolicy, 'providers' | 'weightSum'> | undefined,
  voter: Address,
): number {
  const weight = policy?.providers.find((provider) => provider.voter === voter)?.weight
  return (weight ?? Number.NaN) / (policy?.weightSum ?? Number.NaN)
}

/** The voting addresses of a member, as an observation holds them. */
function addressesOf({ submit, submitSignatures, signingPolicy }: PolicyProvider) {
  return { submit, submitSignatures, signingPolicy }
}

/** A provider's membership in a signing policy. */
function membershipIn(
  { rewardEpoch, providers, startRound }: LoadedPolicy,
  voter: Address,
  { clock }: PolicySnapshot,
) {
  return {
    epoch: rewardEpoch,
    isMember: providers.some((provider) => provider.voter === voter),
    voters: providers.length,
    startRound,
    startsAt: roundStart(clock, startRound),
  }
}

/** States at the blocks before a registration or the end of a silence, oldest first. */
function momentsOf(
  missed: CarriedState['registrationMoments'][Address] | undefined,
  registration: RoundRecord['registration'],
  peak: StateBetweenRounds | undefined,
): StateBetweenRounds[] {
  if (missed === undefined || missed.epoch !== registration?.epoch) return peak ? [peak] : []
  const before = {
    block: missed.block - 1,
    at: missed.at,
    registration: { ...registration, isRegistered: false, isClosed: false },
  }
  return [...(peak ? [peak] : []), before].toSorted((a, b) => a.block - b.block)
}

/**
 * Registration for the reward epoch after the one in force, once it has opened, from the events of the
 * blocks that were read. If the opening was not read, the chain's current state decides, or the signing
 * policy once it is fixed; undefined if neither is known.
 */
function registrationOf(
  { state, policies }: Pick<IndexingState, 'state' | 'policies'>,
  voter: Address,
  at: {
    readonly nowSeconds: number
    readonly known: ProviderState | undefined
    readonly policy: Policy | undefined
  },
): RoundRecord['registration'] {
  const { nowSeconds, known, policy } = at
  const current = policyOfRound(policies.policies, roundAt(policies.clock, nowSeconds)) ?? policy
  const period = policies.registrations.find(
    ({ epoch }) => epoch === (current?.rewardEpoch ?? 0) + 1,
  )
  if (current === undefined || period === undefined || period.openedAt > nowSeconds)
    return undefined
  const { epoch, openedAt } = period
  const next = policies.policies.find(({ rewardEpoch }) => rewardEpoch === epoch)
  const isClosed = next !== undefined && next.fixedAt !== null && next.fixedAt <= nowSeconds
  const registration = state.registrations[voter]
  const isMember = (policy: Policy) => policy.providers.some((provider) => provider.voter === voter)
  const isRegistered = isClosed
    ? isMember(next)
    : registration?.epoch === epoch
      ? registration.isRegistered
      : (known?.isRegisteredNext ??
        (state.registrationsSince !== null && state.registrationsSince <= openedAt ? false : null))
  if (isRegistered === null) return undefined
  const preRegistered = known?.isPreRegistered ?? null
  return {
    epoch,
    openedAt,
    closesAtEarliest: openedAt + policies.schedule.registrationSeconds,
    isClosed,
    isRegistered,
    wasRegistered: isMember(current),
    preRegistered,
    preRegistrationFailed: preRegistered === true && !isRegistered,
    ...recentMoveOf(state, policies, nowSeconds),
  }
}

/** Reward epochs after a move of contracts in which a client may still have the former ones. */
const MOVED_EPOCHS = 2

function recentMoveOf(
  { contractsMovedAt }: Pick<CarriedState, 'contractsMovedAt'>,
  { clock }: KnownPolicies,
  nowSeconds: number,
): { readonly contractsMovedAt?: number } {
  const recent = MOVED_EPOCHS * clock.roundSeconds * clock.roundsPerEpoch
  if (contractsMovedAt === null || nowSeconds - contractsMovedAt > recent) return {}
  return { contractsMovedAt }
}

type BalanceRole = NonNullable<ProviderObservation['balances']>[number]['role']

function roleOf(
  { byAccount }: AccountOwners,
  addresses: { readonly submit: Address; readonly submitSignatures: Address } | null,
  account: Address,
): BalanceRole {
  if (account === addresses?.submit) return 'submit'
  if (account === addresses?.submitSignatures) return 'submitSignatures'
  const role = byAccount.get(account.toLowerCase())?.role ?? 'signingPolicy'
  return role === 'identity' ? 'signingPolicy' : role
}

/** Expiry of the rewards of a reward epoch, epoch seconds, from the chain's schedule. */
export function expiryOf(
  epoch: number | undefined,
  { clock, schedule }: Pick<PolicySnapshot, 'clock' | 'schedule'>,
): number | null {
  if (epoch === undefined || schedule.rewardExpirySeconds === null) return null
  return expectedEpochStart(clock, epoch + 1) + schedule.rewardExpirySeconds
}
