/** Selection of due deliveries. */
import { randomInt } from 'node:crypto'
import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import type { DueDelivery } from './due-store.ts'
import type { ChannelSendingState } from './sending-state.ts'

/**
 * Share of the free places that is reserved for backlogs, and the same share again for the newest deliveries of
 * recipients that have none among the oldest.
 */
const RESERVED_SHARE = 1 / 4
/** Time for which another process counts as claiming, after it claimed a delivery that this one had selected. */
const CLAIMS_COLLIDE_MS = 10_000
const RANDOM_STEPS = 2 ** 32

/** Result of a selection. */
export interface DeliverySelection {
  readonly selected: readonly DueDelivery[]
  /** Deliveries behind an earlier delivery of their key. */
  readonly behind: readonly DueDelivery[]
  /** Deliveries for which no place is available. */
  readonly withoutPlace: readonly DueDelivery[]
}

/** Due deliveries from which some are selected. */
interface DueDeliveries {
  /** The oldest deliveries outside backlogs. */
  readonly front: readonly DueDelivery[]
  /** The newest deliveries outside backlogs, one of each recipient that has none in `front`. */
  readonly newest: readonly DueDelivery[]
  /** Deliveries in backlogs, by recipient, each in the order of selection. */
  readonly backlog: readonly DueDelivery[]
}

/**
 * Selects due deliveries, as far as there are places. For chats and mailboxes it selects the first of each
 * recipient; for channels with one message per delivery it may select more, but only one per order key. Of
 * one urgency each recipient gets a place before another gets its second, so that a new recipient does not
 * wait behind many deliveries of recipients that do not answer. Backlogs and the newest deliveries have reserved
 * shares, so that backlogs, a long queue and new deliveries do not wait for each other.
 *
 * @param options `claimedIds`: deliveries that this process has already claimed; `isSentSeparately`: whether the channel
 * sends each delivery as a message of its own; `areOthersClaiming`: whether other processes claim, too. Deliveries of
 * one urgency outside backlogs are then selected in random order, so that processes that read the same deliveries
 * select different ones. At most the oldest `OLDEST_READ_MAX` are read, so that none waits long for its turn.
 */
export function selectDeliveries(
  { front, newest, backlog }: DueDeliveries,
  options: {
    readonly limiter: ConcurrencyLimiter
    readonly claimedIds: ReadonlySet<string>
    readonly isSentSeparately: boolean
    readonly areOthersClaiming: boolean
  },
): DeliverySelection {
  const { limiter, claimedIds, isSentSeparately, areOthersClaiming } = options
  const reservation = limiter.startReservation()
  const firstOf = firstOfKeys([...front, ...newest, ...backlog])
  const seen = new Set<number>()
  const selected: DueDelivery[] = []
  const behind: DueDelivery[] = []
  const withoutPlace: DueDelivery[] = []
  const offer = (candidate: DueDelivery | undefined) => {
    if (candidate === undefined || claimedIds.has(candidate.id)) return
    if (isSentSeparately && firstOf.get(candidate.orderKey) !== candidate) behind.push(candidate)
    else if (!isSentSeparately && seen.has(candidate.recipientId)) return
    else if (reservation.reserve(candidate)) {
      seen.add(candidate.recipientId)
      selected.push(candidate)
    } else withoutPlace.push(candidate)
  }
  const mixed = (all: readonly DueDelivery[]) =>
    inTurn(areOthersClaiming ? shuffled(all) : all, urgencyOf)
  const share = Math.ceil(reservation.placesLeft() * RESERVED_SHARE)
  const remaining = [inTurn(backlog, () => 0), mixed(newest)].flatMap((all) => {
    const before = reservation.placesLeft()
    const rest = [...all]
    while (rest.length > 0 && before - reservation.placesLeft() < share) offer(rest.shift())
    return rest
  })
  for (const candidate of [...mixed(front), ...remaining]) offer(candidate)
  return { selected, behind, withoutPlace }
}

/**
 * The first delivery of each recipient that has none in `front`, so that none gets its second place before another gets
 * its first.
 */
export function firstOfOtherRecipients(
  newest: readonly DueDelivery[],
  front: readonly DueDelivery[],
): readonly DueDelivery[] {
  const known = new Set(front.map(({ recipientId }) => recipientId))
  return newest.filter(({ recipientId }) => {
    const isNew = !known.has(recipientId)
    known.add(recipientId)
    return isNew
  })
}

/** Records that another process has claimed deliveries that this one had selected. */
export function recordLostClaim(sending: ChannelSendingState): void {
  sending.claimLostAt = performance.now()
}

/** Whether other processes claim deliveries of the channel at the same time. */
export function isAnotherProcessClaiming({ claimLostAt }: ChannelSendingState): boolean {
  return performance.now() - claimLostAt < CLAIMS_COLLIDE_MS
}

function urgencyOf({ urgency }: DueDelivery): number {
  return urgency
}

function shuffled<T>(all: readonly T[]): readonly T[] {
  return all
    .map((item) => ({ item, place: randomInt(RANDOM_STEPS) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** Ids of deliveries. */
export function idsOfDeliveries(all: readonly DueDelivery[]): readonly string[] {
  return all.map(({ id }) => id)
}

function firstOfKeys(all: readonly DueDelivery[]): ReadonlyMap<string, DueDelivery> {
  const keys = new Map<string, DueDelivery>()
  for (const candidate of all) {
    const first = keys.get(candidate.orderKey)
    if (first === undefined || compare(candidate, first) < 0)
      keys.set(candidate.orderKey, candidate)
  }
  return keys
}

/**
 * Orders candidates by rank, the highest first, and those of one rank in turns: the first of each recipient,
 * then the second of each, and so on.
 */
function inTurn(
  candidates: readonly DueDelivery[],
  rankOf: (candidate: DueDelivery) => number,
): readonly DueDelivery[] {
  const counts = new Map<string, number>()
  return candidates
    .map((candidate) => {
      const rank = rankOf(candidate)
      const key = `${rank} ${candidate.recipientId}`
      const turn = counts.get(key) ?? 0
      counts.set(key, turn + 1)
      return { candidate, rank, turn }
    })
    .toSorted((a, b) => b.rank - a.rank || a.turn - b.turn)
    .map(({ candidate }) => candidate)
}

/** Compares two candidates by their order within a key. */
function compare(a: DueDelivery, b: DueDelivery): number {
  return (
    a.firedAt.getTime() - b.firedAt.getTime() ||
    a.position - b.position ||
    (a.id < b.id ? -1 : Number(a.id > b.id))
  )
}
