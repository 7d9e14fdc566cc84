import type { z } from 'zod'
import type { Address } from '#src/kernel/units.ts'
import {
  acceptedFeeds,
  feedsIn,
  SUBMISSION_WINDOW_BLOCKS,
  signerOfUpdate,
} from '../protocol/fast-update.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { AccountOwners } from './account-owners.ts'
import type { CarriedState } from './carried-state.ts'
import type { LongUpdate } from './observation.ts'

/**
 * Maximum number of refused updates in a block whose signers are recovered: anybody can send updates that are refused.
 */
const REFUSED_MAX = 4

/**
 * Adds the updates that were refused because they are too long. Nothing but their signatures says whose they are: the
 * accounts of a provider are known only from updates that were accepted.
 *
 * Anybody can send an update again that a provider signed. So only those count that were signed for this block or one
 * shortly before it, and each only once.
 */
export function addRefused(state: CarriedState, block: ProtocolBlock, owners: AccountOwners): void {
  const accepted = acceptedFeeds(state.feedCount ?? Number.POSITIVE_INFINITY)
  const long = block.refusedUpdates.filter(
    ({ update }) =>
      feedsIn(update) > accepted &&
      update.sortitionBlock <= block.number &&
      block.number < update.sortitionBlock + SUBMISSION_WINDOW_BLOCKS,
  )
  if (long.length === 0) return
  // Updates from known accounts are first, so that those of strangers do not use up the maximum.
  const known = new Set([
    ...owners.byAccount.keys(),
    ...Object.values(state.senders).flatMap((accounts) =>
      Object.keys(accounts).map((account) => account.toLowerCase()),
    ),
  ])
  const isKnown = ({ sender }: (typeof long)[number]) => known.has(sender.toLowerCase())
  const ordered = [...long.filter(isKnown), ...long.filter((one) => !isKnown(one))]
  for (const { tx, update } of ordered.slice(0, REFUSED_MAX)) {
    const signer = signerOfUpdate(update)
    const voter = signer && owners.bySigningPolicy.get(signer)
    if (voter === undefined) continue
    const sortitionBlock = Number(update.sortitionBlock)
    if (sortitionBlock <= (state.refused[voter] ?? -1)) continue
    state.refused[voter] = sortitionBlock
    recordLength(state, voter, block, { tx, feedsSent: feedsIn(update), isAccepted: false })
  }
}

/** Records the update that covers the most feeds since the last round; of equal ones, the last. */
export function recordLength(
  state: CarriedState,
  voter: Address,
  { number, at }: ProtocolBlock,
  update: Pick<CarriedState['longest'][Address], 'tx' | 'feedsSent' | 'isAccepted'>,
): void {
  if (update.feedsSent < (state.longest[voter]?.feedsSent ?? 0)) return
  state.longest[voter] = { ...update, block: number, at }
}

/** The longest update since the last round, if it covers more feeds than there are. */
export function longUpdateOf(
  state: CarriedState,
  voter: Address,
  feedCount: number | null,
): z.output<typeof LongUpdate> | undefined {
  const longest = state.longest[voter]
  if (longest === undefined || feedCount === null || longest.feedsSent <= feedCount)
    return undefined
  return { ...longest, feedCount }
}
