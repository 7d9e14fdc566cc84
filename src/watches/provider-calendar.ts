/** Dates of a data provider: reward epochs, registrations, votes on ended epochs, and ends of stakes. */
import type { FspChain } from '#src/fsp/chain.ts'
import type { ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import { expectedEpochStart, roundStart } from '#src/fsp/protocol/epochs.ts'
import type { PolicySnapshot } from '#src/fsp/reader/policies.ts'
import type { Address } from '#src/kernel/units.ts'
import type { WatchTypeFacts } from './facts.ts'
import { newestOf } from './provider-rounds.ts'
import { FIRST_ALERT_AFTER_MS } from './types/reward-votes.ts'

/** One date. A date whose end is unknown has its likely end. */
export interface CalendarDate {
  readonly kind: 'epoch' | 'registration' | 'votes' | 'stakeEnd'
  /** Reward epoch or, for the end of a stake, the node. */
  readonly of: string
  readonly from: Date
  /** Equal to `from` for an instant. */
  readonly to: Date
  /** Whether the protocol has fixed the start; else it is the expected one. */
  readonly isFixed: boolean
  /** How often expected times of the date have become fixed ones: 0 while all are expected. */
  readonly revision: number
  /** Time since which the service or the chain knows these times. */
  readonly knownSince: Date
}

/** Number of reward epochs after the one in force: with 3.5 days each, about two weeks. */
const EPOCHS_AHEAD = 4
/** Number of stored rounds in which the validators of a provider are looked for. */
const NODE_ROUNDS = 20

/**
 * The dates of a provider, by start; undefined on a chain without the protocol.
 *
 * @param policies at the newest confirmed block
 * @throws errors of the database
 */
export async function readCalendar(
  { facts }: { readonly facts: Pick<WatchTypeFacts, 'rounds'> },
  provider: Address,
  policies: PolicySnapshot,
): Promise<readonly CalendarDate[]> {
  const rounds = await facts.rounds.newest(provider, NODE_ROUNDS)
  return datesOf(policies, newestOf(rounds, ({ nodes }) => nodes) ?? [])
}

/** Reads the policies that a calendar needs. @throws AppError upstream; the signal's reason when it is aborted */
export async function readCalendarPolicies(
  { chain, confirmations }: { readonly chain: FspChain; readonly confirmations: number },
  signal: AbortSignal,
): Promise<PolicySnapshot | undefined> {
  return await chain.rounds.policies(await chain.confirmedBlock(confirmations, signal), signal)
}

/** The dates that policies and validators give, by start. Pure. */
export function datesOf(
  snapshot: PolicySnapshot,
  nodes: readonly Pick<NonNullable<ProviderObservation['nodes']>[number], 'nodeId' | 'endsAt'>[],
): readonly CalendarDate[] {
  const { currentEpoch, policies } = snapshot
  const first = Math.min(...policies.map(({ rewardEpoch }) => rewardEpoch), currentEpoch)
  const count = currentEpoch + EPOCHS_AHEAD - first + 1
  const epochs = Array.from({ length: count }, (_, index) => epochOf(snapshot, first + index))
  const known = epochs.find(({ epoch }) => epoch === currentEpoch)?.knownSince ?? new Date(0)
  const dates = epochs.flatMap((date, index): CalendarDate[] => {
    const next = epochs[index + 1] ?? epochOf(snapshot, date.epoch + 1)
    const of = String(date.epoch)
    const { from: end, isFixed, knownSince } = next
    const revision = Number(isFixed)
    const votesEnd = new Date(end.getTime() + FIRST_ALERT_AFTER_MS)
    return [
      {
        ...{ kind: 'epoch', of, from: date.from, to: end, isFixed: date.isFixed, knownSince },
        revision: Number(date.isFixed) + revision,
      },
      { kind: 'votes', of, from: end, to: votesEnd, isFixed, revision, knownSince },
      ...(date.epoch > currentEpoch ? [registrationOf(snapshot, date.epoch, known)] : []),
    ]
  })
  const stakes = nodes.flatMap(({ nodeId, endsAt }): CalendarDate[] => {
    if (endsAt === null) return []
    const at = new Date(endsAt * 1000)
    const times = { from: at, to: at, isFixed: true, revision: 0, knownSince: known }
    return [{ kind: 'stakeEnd', of: nodeId, ...times }]
  })
  return [...dates, ...stakes].toSorted((a, b) => a.from.getTime() - b.from.getTime())
}

function epochOf({ clock, currentEpoch, policies }: PolicySnapshot, epoch: number) {
  const policy = policies.find(({ rewardEpoch }) => rewardEpoch === epoch)
  const inForce = policies.find(({ rewardEpoch }) => rewardEpoch === currentEpoch)
  const startsAt =
    policy === undefined ? expectedEpochStart(clock, epoch) : roundStart(clock, policy.startRound)
  // Expected times are known since the policy in force was fixed, when the settings of the network were read last.
  const basis = policy ?? inForce
  const start = basis === undefined ? 0 : roundStart(clock, basis.startRound)
  return {
    epoch,
    from: new Date(startsAt * 1000),
    isFixed: policy !== undefined,
    knownSince: new Date((basis?.fixedAt ?? start) * 1000),
  }
}

/** The registration for an epoch: from its opening to the earliest time at which it closes. */
function registrationOf(
  { clock, registrations, schedule }: PolicySnapshot,
  epoch: number,
  knownSince: Date,
): CalendarDate {
  const opened = registrations.find((one) => one.epoch === epoch)?.openedAt
  const from = opened ?? expectedEpochStart(clock, epoch) - schedule.preparationSeconds
  return {
    kind: 'registration',
    of: String(epoch),
    from: new Date(from * 1000),
    to: new Date((from + schedule.registrationSeconds) * 1000),
    isFixed: opened !== undefined,
    revision: Number(opened !== undefined),
    knownSince: opened === undefined ? knownSince : new Date(opened * 1000),
  }
}
