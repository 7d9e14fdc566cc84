/** Selection of due deliveries. */
import { randomInt } from 'node:crypto'
import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import type { Candidate } from './due-store.ts'
import type { ChannelSending } from './sending.ts'

/**
 * Share of the free places that is reserved for backlogs, and for the newest deliveries behind a long queue, while the
 * oldest would use more.
 */
const RESERVED_SHARE = 1 / 4
/** Time for which another process counts as claiming, after it claimed a delivery that this one had selected. */
const SHARED_MS = 10_000
const RANDOM_STEPS = 2 ** 32

/** Result of a selection. */
export interface DeliveryChoice {
  readonly taken: readonly Candidate[]
  /** Deliveries behind an earlier delivery of their key. */
  readonly behind: readonly Candidate[]
  /** Deliveries for which no place is available. */
  readonly left: readonly Candidate[]
}

/** Due deliveries, in the order of selection. */
interface Offered {
  /** The oldest deliveries outside backlogs. */
  readonly front: readonly Candidate[]
  /** The newest deliveries outside backlogs, one of each recipient that has none in `front`. */
  readonly newest: readonly Candidate[]
  /** Deliveries in backlogs, by recipient, each in the order of selection. */
  readonly backlog: readonly Candidate[]
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
 * select different ones. These are the oldest `OLDEST_READ_MAX`, so that none waits long for its turn.
 */
export function chooseAmong(
  { front, newest, backlog }: Offered,
  options: {
    readonly limiter: ConcurrencyLimiter
    readonly inHand: ReadonlySet<string>
    readonly isEach: boolean
    readonly isShared: boolean
  },
): DeliveryChoice {
  const { limiter, inHand, isEach, isShared } = options
  const choice = limiter.choose()
  const firstOf = firstOfKeys([...front, ...newest, ...backlog])
  const seen = new Set<number>()
  const taken: Candidate[] = []
  const behind: Candidate[] = []
  const left: Candidate[] = []
  const offer = (candidate: Candidate | undefined) => {
    if (candidate === undefined || inHand.has(candidate.id)) return
    if (isEach && firstOf.get(candidate.orderKey) !== candidate) behind.push(candidate)
    else if (!isEach && seen.has(candidate.recipientId)) return
    else if (choice.take(candidate)) {
      seen.add(candidate.recipientId)
      taken.push(candidate)
    } else left.push(candidate)
  }
  const mixed = (all: readonly Candidate[]) => inTurn(isShared ? shuffled(all) : all, urgencyOf)
  const share = Math.ceil(choice.left() * RESERVED_SHARE)
  const others = [inTurn(backlog, () => 0), mixed(newest)].flatMap((all) => {
    const before = choice.left()
    const rest = [...all]
    while (rest.length > 0 && before - choice.left() < share) offer(rest.shift())
    return rest
  })
  for (const candidate of [...mixed(front), ...others]) offer(candidate)
  return { taken, behind, left }
}

/** Records that another process has claimed deliveries that this one had selected. */
export function markLost(sending: ChannelSending): void {
  sending.lostAt = performance.now()
}

/** Whether other processes claim deliveries of the channel at the same time. */
export function hasRivals({ lostAt }: ChannelSending): boolean {
  return performance.now() - lostAt < SHARED_MS
}

function urgencyOf({ urgency }: Candidate): number {
  return urgency
}

function shuffled<T>(all: readonly T[]): readonly T[] {
  return all
    .map((item) => ({ one: item, place: randomInt(RANDOM_STEPS) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ one: item }) => item)
}

/** Ids of deliveries. */
export function idsOf(all: readonly Candidate[]): readonly string[] {
  return all.map(({ id }) => id)
}

function firstOfKeys(all: readonly Candidate[]): ReadonlyMap<string, Candidate> {
  const keys = new Map<string, Candidate>()
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
  candidates: readonly Candidate[],
  rankOf: (candidate: Candidate) => number,
): readonly Candidate[] {
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
function compare(a: Candidate, b: Candidate): number {
  return (
    a.firedAt.getTime() - b.firedAt.getTime() ||
    a.position - b.position ||
    (a.id < b.id ? -1 : Number(a.id > b.id))
  )
}
