import { roundStart } from '#src/chain/fsp/epochs.ts'
import { nodeIdOf } from '#src/chain/fsp/node-id.ts'
import type { IndexedPolicy } from '#src/chain/fsp/policy.ts'
import type { SystemState } from '#src/chain/fsp/provider-states.ts'
import type { LoadedPolicy, Policies } from '#src/chain/fsp/round-reader.ts'
import { onePercentOfEpoch, sortitionWeightOf } from '#src/chain/fsp/silence.ts'
import type { Address } from '#src/kernel/units.ts'
import type { ProviderObservation, TransactionPart } from '../types/provider-fsp/observation.ts'
import type { Waiting } from './rewards.ts'
import type { RoundRecord } from './round-record.ts'
import {
  type CarriedState,
  type Owners,
  passOver,
  silenceOf,
  takeCalls,
  takePolls,
} from './round-state.ts'

type Policy = LoadedPolicy & IndexedPolicy

/** The signing policies that are known, the addresses in them indexed. */
export interface KnownPolicies extends Policies {
  readonly policies: readonly Policy[]
}

/** What goes on while rounds are read. */
interface Going {
  readonly state: CarriedState
  readonly policies: KnownPolicies
  readonly owners: Owners
  /** Seconds from block to block. */
  readonly blockSeconds: number
}

/**
 * Whose the accounts in these policies are. Calls are looked at of those in `watched` alone.
 *
 * @param sendersOf accounts that sent a provider's fast updates of late
 */
export function ownersOf(
  { policies }: KnownPolicies,
  watched: ReadonlySet<Address>,
  sendersOf: (voter: Address) => readonly Address[],
): Owners {
  const members = policies.flatMap(({ providers }) => providers)
  const accounts = members
    .filter(({ voter }) => watched.has(voter))
    .flatMap(({ voter, submit, submitSignatures, signingPolicy }) => {
      const own = (role: TransactionPart['role'], account: Address) =>
        [account.toLowerCase(), { voter, role }] as const
      // The last of several roles of an account counts.
      return [
        ...sendersOf(voter).map((one) => own('fastUpdates', one)),
        own('identity', voter),
        own('signingPolicy', signingPolicy),
        own('submitSignatures', submitSignatures),
        own('submit', submit),
      ]
    })
  return {
    bySigningPolicy: new Map(members.map(({ signingPolicy, voter }) => [signingPolicy, voter])),
    byAccount: new Map(accounts),
  }
}

/**
 * Silence of a member of the policy; a watched one's weight is the contract's own. Blocks in which it
 * cannot take part do not count.
 */
export function silenceIn(
  { state, policies, blockSeconds }: Going,
  policy: Policy | undefined,
  voter: Address,
  system: SystemState | undefined,
): RoundRecord['fastUpdates'] {
  const member = policy?.providers.find((one) => one.voter === voter)
  const sampleSize = system?.sampleSize
  if (policy === undefined || member === undefined || sampleSize == null) return undefined
  const known = system?.providers.get(voter)
  const sortitionWeight =
    known === undefined ? sortitionWeightOf(member.weight, policy.weightSum) : known.sortitionWeight
  if (sortitionWeight === null) {
    passOver(state, voter)
    return undefined
  }
  const { blocks, ...silence } = silenceOf(state, voter, sortitionWeight, sampleSize)
  const { roundSeconds, roundsPerEpoch } = policies.clock
  return {
    exponent: silence.exponent,
    blocksSinceUpdate: blocks,
    lastUpdateBlock: silence.lastUpdateBlock,
    lastUpdateAt: silence.lastUpdateAt,
    sortitionWeight,
    sampleSize,
    onePercentBlocks: onePercentOfEpoch(roundSeconds * roundsPerEpoch, blockSeconds),
    weightShare: member.weight / policy.weightSum,
  }
}

/** What only watched providers have. */
export function partsOf(
  { state, policies, owners }: Going,
  voter: Address,
  at: {
    readonly system: SystemState | undefined
    readonly policy: Policy | undefined
    readonly rewards: Waiting | undefined
  },
): Partial<RoundRecord> {
  const { policy, system, rewards } = at
  const known = system?.providers.get(voter)
  const member = policy?.providers.find((one) => one.voter === voter)
  const next = policies.policies.find(
    ({ rewardEpoch }) => rewardEpoch === (policy?.rewardEpoch ?? 0) + 1,
  )
  const transactions = takeCalls(state, voter)
  const nodeIds = known?.nodeIds?.map(nodeIdOf) ?? []
  for (const nodeId of nodeIds) {
    state.polls[nodeId] ??= { polls: 0, connectedPolls: 0, absentPolls: 0, endsAt: null }
  }
  const nodes = takePolls(state, nodeIds)?.filter(({ polls, isListed }) => polls > 0 || !isListed)
  const isMember = (one: LoadedPolicy) => one.providers.some((provider) => provider.voter === voter)
  const opened = system?.registration
  return {
    ...(member && {
      addresses: {
        submit: member.submit,
        submitSignatures: member.submitSignatures,
        signingPolicy: member.signingPolicy,
      },
    }),
    ...(policy && {
      policy: {
        current: {
          epoch: policy.rewardEpoch,
          isMember: isMember(policy),
          voters: policy.providers.length,
          startRound: policy.startRound,
        },
        next:
          next === undefined
            ? null
            : {
                epoch: next.rewardEpoch,
                isMember: isMember(next),
                voters: next.providers.length,
                startRound: next.startRound,
                startsAt: roundStart(policies.clock, next.startRound),
              },
      },
    }),
    ...(opened &&
      known?.isRegisteredNext != null &&
      known.isRegistered !== null && {
        registration: {
          epoch: opened.epoch,
          openedAt: opened.openedAt.getTime() / 1000,
          isClosed: policies.policies.some(({ rewardEpoch }) => rewardEpoch === opened.epoch),
          isRegistered: known.isRegisteredNext,
          wasRegistered: known.isRegistered,
          preRegistered: known.isPreRegistered,
          preRegistrationFailed: known.isPreRegistered === true && !known.isRegisteredNext,
        },
      }),
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
  }
}

type BalanceRole = NonNullable<ProviderObservation['balances']>[number]['role']

function roleOf(
  { byAccount }: Owners,
  addresses: { readonly submit: Address; readonly submitSignatures: Address } | null,
  account: Address,
): BalanceRole {
  if (account === addresses?.submit) return 'submit'
  if (account === addresses?.submitSignatures) return 'submitSignatures'
  return byAccount.get(account.toLowerCase())?.role === 'fastUpdates'
    ? 'fastUpdates'
    : 'signingPolicy'
}

/** Rewards expire 90 days after their reward epoch. */
const EXPIRY_SECONDS = 7_776_000

function expiryOf(epoch: number | undefined, { clock }: Policies): number | null {
  if (epoch === undefined) return null
  const end = clock.firstEpochRound + (epoch + 1) * clock.roundsPerEpoch
  return roundStart(clock, end) + EXPIRY_SECONDS
}
