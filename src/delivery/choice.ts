/** Selection of due deliveries. */

import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import type { Candidate } from './due-store.ts'

/**
 * Share of the free places that is reserved for backlogs while deliveries outside backlogs would use more.
 */
const BACKLOG_SHARE = 1 / 4

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
  /** Deliveries outside backlogs. */
  readonly front: readonly Candidate[]
  /** Deliveries in backlogs, by recipient, each in the order of selection. */
  readonly backlog: readonly Candidate[]
}

/**
 * Selects due deliveries, as far as there are places. For chats and mailboxes it selects the first of each
 * recipient; for channels with one message per delivery it may select more, but only one per order key. Of
 * one urgency each recipient gets a place before another gets its second, so that a new recipient does not
 * wait behind many deliveries of recipients that do not answer. Backlogs have a reserved share, so that
 * backlogs and new deliveries do not wait for each other.
 *
 * @param inHand deliveries that this process has already claimed
 */
export function chooseAmong(
  { front, backlog }: Offered,
  by: {
    readonly limiter: ConcurrencyLimiter
    readonly inHand: ReadonlySet<string>
    readonly isEach: boolean
  },
): DeliveryChoice {
  const { limiter, inHand, isEach } = by
  const choice = limiter.choose()
  const firstOf = firstOfKeys([...front, ...backlog])
  const seen = new Set<number>()
  const taken: Candidate[] = []
  const behind: Candidate[] = []
  const left: Candidate[] = []
  const offer = (candidate: Candidate) => {
    if (inHand.has(candidate.id)) return
    if (isEach && firstOf.get(candidate.orderKey) !== candidate) behind.push(candidate)
    else if (!isEach && seen.has(candidate.recipientId)) return
    else if (choice.take(candidate)) {
      seen.add(candidate.recipientId)
      taken.push(candidate)
    } else left.push(candidate)
  }
  const places = choice.left()
  const share = Math.ceil(places * BACKLOG_SHARE)
  const waiting = [...inTurn(backlog, () => 0)]
  while (waiting.length > 0 && places - choice.left() < share) {
    const candidate = waiting.shift()
    if (candidate !== undefined) offer(candidate)
  }
  for (const candidate of [...inTurn(front, ({ urgency }) => urgency), ...waiting]) offer(candidate)
  return { taken, behind, left }
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
