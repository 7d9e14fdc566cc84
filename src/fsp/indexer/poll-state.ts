/** Polls of the validators of watched providers since the last round. */
import { z } from 'zod'

export const PollState = z.object({
  /** Time up to which polls of validators are counted; null before the first poll. */
  pollsTo: z.iso.datetime().nullable(),
  /** By node: polls since the last round. `absentPolls` counts the latest consecutive ones. */
  polls: z.record(
    z.string(),
    z.object({
      polls: z.int(),
      connectedPolls: z.int(),
      absentPolls: z.int(),
      endsAt: z.int().nullable(),
      /** Counts of the reward epoch of the last round; absent before the first round with a poll. */
      epoch: z
        .object({
          rewardEpoch: z.int(),
          polls: z.int(),
          connectedPolls: z.int(),
          /** Rounds with a poll. */
          rounds: z.int(),
        })
        .exactOptional(),
    }),
  ),
})
export type PollState = z.output<typeof PollState>

/** State before the first poll. */
export const EMPTY_POLLS: PollState = { pollsTo: null, polls: {} }

/** Number of consecutive polls without a node after which the node counts as gone. */
const ABSENT_POLLS = 2

/** A validator in a poll; null if it is not listed. */
export type PolledValidator = {
  readonly connected: boolean | null
  readonly endsAt: number | null
} | null

/** Adds a poll of validators, by node. */
export function addValidatorPoll(
  state: PollState,
  validators: Readonly<Record<string, PolledValidator>>,
): void {
  for (const [nodeId, validator] of Object.entries(validators)) {
    const before = state.polls[nodeId] ?? {
      polls: 0,
      connectedPolls: 0,
      absentPolls: 0,
      endsAt: null,
    }
    state.polls[nodeId] = {
      ...before,
      // A poll without the node's connection state does not count.
      polls: before.polls + (validator === null || validator.connected === null ? 0 : 1),
      connectedPolls: before.connectedPolls + (validator?.connected === true ? 1 : 0),
      absentPolls: validator === null ? before.absentPolls + 1 : 0,
      // A node that is gone keeps its last known end of stake, which may be the reason.
      endsAt: validator === null ? before.endsAt : validator.endsAt,
    }
  }
}

/**
 * Returns the polls of a provider's nodes since the last round, adds them to the counts of the reward epoch, and resets
 * the counters; null if there are none.
 *
 * @param rewardEpoch reward epoch of the round; undefined if it is not known, then nothing is added
 */
export function takeNodePolls(
  state: PollState,
  nodeIds: readonly string[],
  rewardEpoch: number | undefined,
) {
  const nodes = nodeIds.flatMap((nodeId) => {
    const poll = state.polls[nodeId]
    if (poll === undefined) return []
    const { polls, connectedPolls, absentPolls, endsAt } = poll
    const epoch = epochAfter(poll, rewardEpoch)
    state.polls[nodeId] = { ...poll, polls: 0, connectedPolls: 0, ...(epoch && { epoch }) }
    const isListed = absentPolls < ABSENT_POLLS
    return [{ nodeId, polls, connectedPolls, isListed, endsAt, ...countsOf(epoch) }]
  })
  return nodes.length === 0 ? null : nodes
}

type NodePolls = PollState['polls'][string]

/** The counts of the reward epoch with the polls of a round. */
function epochAfter(
  { polls, connectedPolls, epoch: before }: NodePolls,
  rewardEpoch: number | undefined,
): NodePolls['epoch'] {
  if (rewardEpoch === undefined) return before
  const start =
    before?.rewardEpoch === rewardEpoch ? before : { polls: 0, connectedPolls: 0, rounds: 0 }
  return {
    rewardEpoch,
    polls: start.polls + polls,
    connectedPolls: start.connectedPolls + connectedPolls,
    rounds: start.rounds + (polls > 0 ? 1 : 0),
  }
}

function countsOf(epoch: NodePolls['epoch']) {
  if (epoch === undefined) return {}
  const { rewardEpoch: _rewardEpoch, ...counts } = epoch
  return { epoch: counts }
}

/** Deletes the polls of all other nodes. @param nodeIds undefined if they are not known now */
export function forgetPolls(state: PollState, nodeIds: ReadonlySet<string> | undefined): void {
  if (nodeIds === undefined) return
  for (const nodeId of Object.keys(state.polls))
    if (!nodeIds.has(nodeId)) delete state.polls[nodeId]
}
