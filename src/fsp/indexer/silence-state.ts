/** Silence of fast updates: the part of the carried state that tells how long a provider has sent none, and who sends. */
import { z } from 'zod'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { Address, storedAddress } from '#src/kernel/units.ts'
import { silenceExponent } from '../protocol/fast-update-silence.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { AccountOwners } from './account-owners.ts'
import { keepVoters, votersOf } from './by-voter.ts'

export const SilenceState = z.object({
  /**
   * Number of blocks read so far: silences are counted in these blocks, so they do not grow while no block
   * is read.
   */
  blocksRead: z.int(),
  /** Time of the first block from which on no block was skipped, epoch seconds; null before it. */
  readSince: z.int().nullable(),
  /** Expected fast updates per block, as last read; null before the first reading. */
  sampleSize: z.number().nullable(),
  /** By identity: the longest silence ended by an update since the last round. */
  peaks: z.record(
    Address,
    z.object({
      exponent: z.number(),
      blocks: z.int(),
      /** Number of blocks of the silence that are not in the exponent yet. */
      pending: z.int(),
      lastUpdateBlock: z.int().nullable(),
      lastUpdateAt: z.int().nullable(),
      /** Block number of the update. */
      block: z.int(),
      at: z.int(),
    }),
  ),
  /** By identity: silence of fast updates up to the last round, and time of the last update. */
  silence: z.record(
    Address,
    z.object({
      exponent: z.number(),
      blocks: z.int(),
      lastUpdateBlock: z.int().nullable(),
      /** Time of the last update, epoch seconds. */
      lastUpdateAt: z.int().nullable(),
      /** Value of `blocksRead` up to which blocks are in the sum. */
      countedTo: z.int(),
    }),
  ),
  /**
   * By identity: the provider's accounts for fast updates, with the time of their last update, epoch
   * seconds.
   */
  senders: z.record(Address, z.record(Address, z.int())),
  /** By identity: number of the provider's recent fast updates, in total and by account. */
  updates: z.record(Address, z.object({ total: z.int(), byAccount: z.record(Address, z.int()) })),
})
export type SilenceState = z.output<typeof SilenceState>

/** State before the first block. */
export const EMPTY_SILENCE: SilenceState = {
  blocksRead: 0,
  readSince: null,
  sampleSize: null,
  peaks: {},
  silence: {},
  senders: {},
  updates: {},
}

/** An account that sent fast updates within this time counts as the provider's. */
const SENDER_SECONDS = DAY_SECONDS
/**
 * Anybody can submit a provider's signed update before the provider does. An account with fewer updates
 * than this, or with a smaller share of the recent updates, does not count as the provider's.
 */
const SENDER_UPDATES_MIN = 3
const SENDER_SHARE_MIN = 0.2
/** Number of updates beyond which all counts are halved, so that old updates lose weight. */
const UPDATES_COUNTED_MAX = 200

/** Adds a block: accepted fast updates end silences, and their senders are counted. */
export function nextSilence(
  state: SilenceState,
  block: ProtocolBlock,
  owners: AccountOwners,
): void {
  state.blocksRead += 1
  state.readSince ??= block.at
  for (const { signingPolicy, sender } of block.fastUpdates) {
    const voter = owners.bySigningPolicy.get(signingPolicy)
    if (voter === undefined) continue
    recordEndedSilence(state, voter, block)
    state.silence[voter] = {
      exponent: 0,
      blocks: 0,
      lastUpdateBlock: block.number,
      lastUpdateAt: block.at,
      countedTo: state.blocksRead,
    }
    if (countUpdate(state, voter, sender) && sender !== null) {
      state.senders[voter] = { ...state.senders[voter], [sender]: block.at }
    }
  }
}

/** Adds a block whose content is uncertain: all silences begin again. */
export function restartSilence(state: SilenceState): void {
  for (const voter of votersOf(state.silence)) {
    const before = state.silence[voter]
    if (before === undefined) continue
    state.silence[voter] = { ...before, exponent: 0, blocks: 0, countedTo: state.blocksRead }
  }
  state.readSince = null
}

/** Deletes the state of providers that are no members; blocks since the last round do not count for inactive ones. */
export function forgetSilence(
  state: SilenceState,
  {
    members,
    active,
    nowSeconds,
  }: {
    readonly members: ReadonlySet<Address>
    readonly active: ReadonlySet<Address>
    readonly nowSeconds: number
  },
): void {
  keepVoters(state.silence, members)
  for (const voter of votersOf(state.silence)) {
    if (!active.has(voter)) dropRecentSilence(state, voter)
  }
  for (const voter of votersOf(state.senders)) {
    const recent = sendersOf(state, voter, nowSeconds)
    const before = state.senders[voter] ?? {}
    const kept = recent.map((account) => [account, before[account] ?? 0] as const)
    if (kept.length === 0) delete state.senders[voter]
    else state.senders[voter] = Object.fromEntries(kept)
  }
  keepVoters(state.updates, members)
}

/**
 * Counts a fast update of a provider.
 *
 * @param sender null where the sender is unknown
 * @returns whether the sender has enough updates to count as the provider's account
 */
function countUpdate(state: SilenceState, voter: Address, sender: Address | null): boolean {
  const before = state.updates[voter] ?? { total: 0, byAccount: {} }
  const updatesOfSender = sender === null ? 0 : (before.byAccount[sender] ?? 0) + 1
  const total = before.total + 1
  const byAccount =
    sender === null ? before.byAccount : { ...before.byAccount, [sender]: updatesOfSender }
  state.updates[voter] =
    total <= UPDATES_COUNTED_MAX ? { total, byAccount } : halved({ total, byAccount })
  return updatesOfSender >= SENDER_UPDATES_MIN && updatesOfSender >= total * SENDER_SHARE_MIN
}

function halved({ total, byAccount }: SilenceState['updates'][Address]) {
  const halves = Object.entries(byAccount).map(([account, count]) => [account, count >> 1] as const)
  return {
    total: total >> 1,
    byAccount: Object.fromEntries(halves.filter(([, count]) => count > 0)),
  }
}

/**
 * Silence of a provider up to now, by its current weight and the current number of updates per block. A
 * provider that is seen for the first time starts without silence.
 */
export function currentSilenceOf(
  state: SilenceState,
  voter: Address,
  sortitionWeight: number,
  updatesPerBlock: number,
): Pick<
  SilenceState['silence'][Address],
  'exponent' | 'blocks' | 'lastUpdateBlock' | 'lastUpdateAt'
> {
  const before = state.silence[voter] ?? {
    exponent: 0,
    blocks: 0,
    lastUpdateBlock: null,
    lastUpdateAt: null,
    countedTo: state.blocksRead,
  }
  const blocks = state.blocksRead - before.countedTo
  const after = {
    ...before,
    exponent: before.exponent + silenceExponent(sortitionWeight, blocks, updatesPerBlock),
    blocks: before.blocks + blocks,
    countedTo: state.blocksRead,
  }
  state.silence[voter] = after
  return after
}

/** Records the silence that an update ends, if it is the longest since the last round. */
function recordEndedSilence(
  state: SilenceState,
  voter: Address,
  { number, at }: ProtocolBlock,
): void {
  const ended = state.silence[voter]
  if (ended === undefined) return
  const { exponent, lastUpdateBlock, lastUpdateAt } = ended
  // The block of the update is not part of the silence.
  const pending = Math.max(0, state.blocksRead - 1 - ended.countedTo)
  const blocks = ended.blocks + pending
  if (blocks <= (state.peaks[voter]?.blocks ?? 0)) return
  state.peaks[voter] = {
    exponent,
    blocks,
    pending,
    lastUpdateBlock,
    lastUpdateAt,
    block: number,
    at,
  }
}

/**
 * The longest silence that ended since the last round, with the blocks not yet counted added at the current
 * weight; undefined if none ended.
 */
export function longestEndedSilenceOf(
  state: SilenceState,
  voter: Address,
  sortitionWeight: number,
  updatesPerBlock: number,
): Omit<SilenceState['peaks'][Address], 'pending'> | undefined {
  const peak = state.peaks[voter]
  if (peak === undefined) return undefined
  const { pending, exponent, ...rest } = peak
  const added = silenceExponent(sortitionWeight, pending, updatesPerBlock)
  return { ...rest, exponent: exponent + added }
}

/**
 * Removes the blocks since the last round from a provider's silence, because the provider could not take
 * part.
 */
export function dropRecentSilence(state: SilenceState, voter: Address): void {
  const before = state.silence[voter]
  if (before !== undefined) state.silence[voter] = { ...before, countedTo: state.blocksRead }
}

/** A provider's accounts that sent a fast update within a day. */
export function sendersOf(state: SilenceState, voter: Address, nowSeconds: number): Address[] {
  return Object.entries(state.senders[voter] ?? {})
    .filter(([, at]) => nowSeconds - at <= SENDER_SECONDS)
    .map(([account]) => storedAddress(account))
}
