import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import {
  acceptedFeedsMax,
  feedsCovered,
  SUBMISSION_WINDOW_MAX,
  signerOfUpdate,
} from '../protocol/fast-update.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { AccountOwners } from './account-owners.ts'
import { keepVoters } from './by-voter.ts'
import { LongUpdate } from './observation-model.ts'

/** A refused fast update for more feeds than the FastUpdater accepts. */
const Refusal = LongUpdate.omit({ feedCount: true, isAccepted: true }).extend({
  /** Block for which the provider signed it. */
  sortitionBlock: z.int(),
})

/** Updates for more feeds than there are: the part of the carried state since the last round. */
export const LongUpdateState = z.object({
  /** Number of feeds of fast updates, as last read; null before the first reading. */
  feedCount: z.int().nullable(),
  /** The FastUpdater's submission window in blocks, as last read; null before the first reading. */
  submissionWindow: z.int().nullable(),
  /** By identity: the fast update since the last round that covers the most feeds. */
  longest: z.record(Address, LongUpdate.omit({ feedCount: true })),
  /** By identity: the newest sortition block of an update that was refused for its length. */
  refused: z.record(Address, z.int()),
  /** By identity: updates that were refused and are too long, not yet judged by the submission window. */
  refusals: z.record(Address, z.array(Refusal)),
})
export type LongUpdateState = z.output<typeof LongUpdateState>

/** State before the first block. */
export const EMPTY_LONG_UPDATES: LongUpdateState = {
  feedCount: null,
  submissionWindow: null,
  longest: {},
  refused: {},
  refusals: {},
}

/** Number of signers that are recovered before control returns to the event loop: about five milliseconds of work. */
const SIGNERS_PER_TURN = 16

/** Adds a block: the length of its accepted updates. Those that were refused: `addRefusedUpdates`. */
export function nextLongUpdates(
  state: LongUpdateState,
  { fastUpdates, number, at }: ProtocolBlock,
  owners: AccountOwners,
): void {
  for (const { signingPolicy, tx, feedsSent } of fastUpdates) {
    const voter = owners.bySigningPolicy.get(signingPolicy)
    if (voter === undefined || feedsSent === null) continue
    recordUpdateLength(state, voter, { tx, block: number, at, feedsSent, isAccepted: true })
  }
}

/**
 * Adds the updates of a block that were refused and are too long. An update belongs to the provider whose key signed it,
 * whichever account sent it. The signers of all of them are recovered, without a limit: with one, the updates of strangers
 * could displace those of a provider. Gas limits how many a block has.
 */
export async function addRefusedUpdates(
  state: LongUpdateState,
  { refusedUpdates, number, at }: ProtocolBlock,
  owners: AccountOwners,
): Promise<void> {
  const accepted = acceptedFeedsMax(state.feedCount ?? Number.POSITIVE_INFINITY)
  const long = refusedUpdates.filter(
    ({ update }) =>
      feedsCovered(update) > accepted &&
      update.sortitionBlock <= number &&
      number < update.sortitionBlock + BigInt(SUBMISSION_WINDOW_MAX),
  )
  for (const [index, { tx, update }] of long.entries()) {
    if (index % SIGNERS_PER_TURN === SIGNERS_PER_TURN - 1) await nextTurn()
    const signer = signerOfUpdate(update)
    const voter = signer && owners.bySigningPolicy.get(signer)
    if (voter === undefined) continue
    const sortitionBlock = Number(update.sortitionBlock)
    const before = state.refusals[voter] ?? []
    // Only the first update of a sortition block is kept: later ones may be copies.
    if (before.some((update) => update.sortitionBlock === sortitionBlock)) continue
    const refusal = { tx, block: number, at, feedsSent: feedsCovered(update), sortitionBlock }
    state.refusals[voter] = [...before, refusal]
  }
}

/**
 * Judges the refusals since the last round. Anybody can send an update again that a provider signed, so only those
 * count that the FastUpdater would have taken if they were shorter: from their sortition block on for as many blocks as
 * its submission window has. Each counts once.
 *
 * @param submissionWindow null: unknown; then the refusals are kept for the next round
 * @param end the last block of the round
 */
export function judgeRefusedUpdates(
  state: LongUpdateState,
  submissionWindow: number | null,
  end: number,
): void {
  for (const [key, refusals] of Object.entries(state.refusals)) {
    const voter = z.decode(Address, key)
    if (submissionWindow === null) {
      state.refusals[voter] = refusals.filter(({ block }) => end - block < SUBMISSION_WINDOW_MAX)
      continue
    }
    delete state.refusals[voter]
    for (const { sortitionBlock, ...refusal } of refusals) {
      if (refusal.block >= sortitionBlock + submissionWindow) continue
      if (sortitionBlock <= (state.refused[voter] ?? -1)) continue
      state.refused[voter] = sortitionBlock
      recordUpdateLength(state, voter, { ...refusal, isAccepted: false })
    }
  }
}

/** Records the update that covers the most feeds since the last round; of equal ones, the last. */
function recordUpdateLength(
  state: LongUpdateState,
  voter: Address,
  update: LongUpdateState['longest'][Address],
): void {
  const before = state.longest[voter]
  if (before !== undefined && update.feedsSent < before.feedsSent) return
  if (before?.feedsSent === update.feedsSent && update.block < before.block) return
  state.longest[voter] = update
}

/** The longest update since the last round, if it covers more feeds than there are. */
export function longestUpdateOf(
  state: LongUpdateState,
  voter: Address,
  feedCount: number | null,
): z.output<typeof LongUpdate> | undefined {
  const longest = state.longest[voter]
  if (longest === undefined || feedCount === null || longest.feedsSent <= feedCount)
    return undefined
  return { ...longest, feedCount }
}

/** Deletes what is known of refused updates of providers that are no members. */
export function forgetRefusedUpdates(state: LongUpdateState, members: ReadonlySet<Address>): void {
  keepVoters(state.refused, members)
  keepVoters(state.refusals, members)
}
