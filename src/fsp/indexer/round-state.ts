import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { silenceExponent } from '../protocol/silence.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { AccountOwners } from './account-owners.ts'
import { functionNameOf, isBenignFailure } from './called-functions.ts'
import type { CarriedState } from './carried-state.ts'
import { recordUpdateLength } from './long-updates.ts'
import { TransactionPart } from './observation-model.ts'

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
/** Number of consecutive polls without a node after which the node counts as gone. */
const ABSENT_POLLS = 2

/** Adds a block: accepted fast updates, their senders, and calls of watched providers. */
export function addBlock(state: CarriedState, block: ProtocolBlock, owners: AccountOwners): void {
  state.blocksRead += 1
  state.readSince ??= block.at
  state.registrationsSince ??= block.at
  for (const { voter, epoch, isRegistered } of block.registrations) {
    state.registrations[voter] = { epoch, isRegistered }
    if (isRegistered) {
      state.registrationMoments[voter] ??= { epoch, block: block.number, at: block.at }
    }
  }
  for (const { signingPolicy, sender, tx, feedsSent } of block.fastUpdates) {
    const voter = owners.bySigningPolicy.get(signingPolicy)
    if (voter === undefined) continue
    if (feedsSent !== null) {
      const { number, at } = block
      recordUpdateLength(state, voter, { tx, block: number, at, feedsSent, isAccepted: true })
    }
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
  for (const call of block.calls) {
    const owner = owners.byAccount.get(call.from.toLowerCase())
    if (owner === undefined) continue
    const { voter, role } = owner
    const recorded = {
      ...call,
      role,
      isBenign: isBenignFailure(call),
      function: functionNameOf(call.selector),
    }
    state.calls[voter] = [...(state.calls[voter] ?? []), TransactionPart.parse(recorded)]
  }
}

/**
 * Counts a fast update of a provider.
 *
 * @param sender null where the sender is unknown
 * @returns whether the sender has enough updates to count as the provider's account
 */
function countUpdate(state: CarriedState, voter: Address, sender: Address | null): boolean {
  const before = state.updates[voter] ?? { total: 0, byAccount: {} }
  const updatesOfSender = sender === null ? 0 : (before.byAccount[sender] ?? 0) + 1
  const total = before.total + 1
  const byAccount =
    sender === null ? before.byAccount : { ...before.byAccount, [sender]: updatesOfSender }
  state.updates[voter] =
    total <= UPDATES_COUNTED_MAX ? { total, byAccount } : halved({ total, byAccount })
  return updatesOfSender >= SENDER_UPDATES_MIN && updatesOfSender >= total * SENDER_SHARE_MIN
}

function halved({ total, byAccount }: CarriedState['updates'][Address]) {
  const halves = Object.entries(byAccount).map(([account, count]) => [account, count >> 1] as const)
  return {
    total: total >> 1,
    byAccount: Object.fromEntries(halves.filter(([, count]) => count > 0)),
  }
}

/**
 * Adds a block whose content is uncertain: restarts all silences and discards the registrations
 * read from events, so that nothing in the block counts against a provider.
 */
export function addUncertainBlock(state: CarriedState): void {
  for (const voter of addressesIn(state.silence)) {
    const before = state.silence[voter]
    if (before === undefined) continue
    state.silence[voter] = { ...before, exponent: 0, blocks: 0, countedTo: state.blocksRead }
  }
  state.readSince = null
  state.registrationsSince = null
  state.registrations = {}
}

/** A validator in a poll; null if it is not listed. */
export type PolledValidator = {
  readonly connected: boolean | null
  readonly endsAt: number | null
} | null

/** Adds a poll of validators, by node. */
export function addValidatorPoll(
  state: CarriedState,
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
export function takeNodePolls(state: CarriedState, nodeIds: readonly string[]) {
  const nodes = nodeIds.flatMap((nodeId) => {
    const poll = state.polls[nodeId]
    if (poll === undefined) return []
    state.polls[nodeId] = { ...poll, polls: 0, connectedPolls: 0 }
    const { polls, connectedPolls, absentPolls, endsAt } = poll
    return [{ nodeId, polls, connectedPolls, isListed: absentPolls < ABSENT_POLLS, endsAt }]
  })
  return nodes.length === 0 ? null : nodes
}

/** Returns the calls since the last round and resets the list. */
export function takeCalls(state: CarriedState, voter: Address): TransactionPart[] {
  const calls = state.calls[voter] ?? []
  delete state.calls[voter]
  return calls
}

/**
 * Silence of a provider up to now, by its current weight and the current number of updates per block. A
 * provider that is seen for the first time starts without silence.
 */
export function currentSilenceOf(
  state: CarriedState,
  voter: Address,
  sortitionWeight: number,
  updatesPerBlock: number,
): Pick<
  CarriedState['silence'][Address],
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
  state: CarriedState,
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
  state: CarriedState,
  voter: Address,
  sortitionWeight: number,
  updatesPerBlock: number,
): Omit<CarriedState['peaks'][Address], 'pending'> | undefined {
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
export function dropRecentSilence(state: CarriedState, voter: Address): void {
  const before = state.silence[voter]
  if (before !== undefined) state.silence[voter] = { ...before, countedTo: state.blocksRead }
}

/** A provider's accounts that sent a fast update within a day. */
export function sendersOf(state: CarriedState, voter: Address, nowSeconds: number): Address[] {
  return Object.entries(state.senders[voter] ?? {})
    .filter(([, at]) => nowSeconds - at <= SENDER_SECONDS)
    .map(([account]) => storedAddress(account))
}

/** Providers and nodes whose state is kept after a round is stored. */
export interface RetainedProviders {
  /** Members of any known signing policy. */
  readonly members: ReadonlySet<Address>
  /** Members of the policy of the round. */
  readonly active: ReadonlySet<Address>
  /** Watched providers. */
  readonly watched: ReadonlySet<Address>
  /** Validators of the watched providers; undefined if they are not known now. */
  readonly nodeIds: ReadonlySet<string> | undefined
  readonly nowSeconds: number
}

/** Deletes the state of all other providers and nodes, so that the state stays small. */
export function forgetOtherProviders(state: CarriedState, remembered: RetainedProviders): void {
  const { members, active, watched, nodeIds, nowSeconds } = remembered
  for (const voter of addressesIn(state.silence)) {
    if (!members.has(voter)) delete state.silence[voter]
    else if (!active.has(voter)) dropRecentSilence(state, voter)
  }
  for (const voter of addressesIn(state.senders)) {
    const recent = sendersOf(state, voter, nowSeconds)
    const before = state.senders[voter] ?? {}
    const kept = recent.map((account) => [account, before[account] ?? 0] as const)
    if (kept.length === 0) delete state.senders[voter]
    else state.senders[voter] = Object.fromEntries(kept)
  }
  for (const voter of addressesIn(state.updates)) {
    if (!members.has(voter)) delete state.updates[voter]
  }
  for (const voter of addressesIn(state.refused)) {
    if (!members.has(voter)) delete state.refused[voter]
  }
  for (const voter of addressesIn(state.refusals)) {
    if (!members.has(voter)) delete state.refusals[voter]
  }
  for (const voter of addressesIn(state.registrations)) {
    if (!members.has(voter) && !watched.has(voter)) delete state.registrations[voter]
  }
  for (const voter of addressesIn(state.calls)) if (!watched.has(voter)) delete state.calls[voter]
  for (const nodeId of Object.keys(state.polls)) {
    if (nodeIds !== undefined && !nodeIds.has(nodeId)) delete state.polls[nodeId]
  }
}

/** The keys are checksummed: they are addresses of policies, or were decoded with the state. */
function addressesIn(record: Readonly<Record<Address, unknown>>): Address[] {
  return Object.keys(record).map(storedAddress)
}
