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
 * Returns the polls of a provider's nodes since the last round and resets the counters; null if there are
 * none.
 */
export function takeNodePolls(state: PollState, nodeIds: readonly string[]) {
  const nodes = nodeIds.flatMap((nodeId) => {
    const poll = state.polls[nodeId]
    if (poll === undefined) return []
    state.polls[nodeId] = { ...poll, polls: 0, connectedPolls: 0 }
    const { polls, connectedPolls, absentPolls, endsAt } = poll
    return [{ nodeId, polls, connectedPolls, isListed: absentPolls < ABSENT_POLLS, endsAt }]
  })
  return nodes.length === 0 ? null : nodes
}

/** Deletes the polls of all other nodes. @param nodeIds undefined if they are not known now */
export function forgetPolls(state: PollState, nodeIds: ReadonlySet<string> | undefined): void {
  if (nodeIds === undefined) return
  for (const nodeId of Object.keys(state.polls))
    if (!nodeIds.has(nodeId)) delete state.polls[nodeId]
}
