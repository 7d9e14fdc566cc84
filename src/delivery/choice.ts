/** What is taken of what is due. */

import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import type { Candidate } from './due-store.ts'

/** The share of the free places that is kept for what waits in backlogs, while there is more than that. */
const BACKLOG_SHARE = 1 / 4

/** What a look takes, by what becomes of it. */
export interface Chosen {
  readonly taken: readonly Candidate[]
  /** Behind an earlier one of their key. */
  readonly behind: readonly Candidate[]
  /** Without a place. */
  readonly left: readonly Candidate[]
}

/** What is due, the first to be taken first. */
interface Offered {
  /** In nobody's backlog. */
  readonly front: readonly Candidate[]
  /** By recipient, of each the first to be taken first. */
  readonly backlog: readonly Candidate[]
}

/**
 * Chooses among what is due, as far as there are places. For chats and mailboxes the first of each recipient;
 * where each delivery is a message by itself also more, but one of an order key. Backlogs have a share of
 * their own, so that neither waits for the other to end.
 *
 * @param inHand what this process has taken already
 */
export function chooseAmong(
  { front, backlog }: Offered,
  by: {
    readonly limiter: ConcurrencyLimiter
    readonly inHand: ReadonlySet<string>
    readonly isEach: boolean
  },
): Chosen {
  const { limiter, inHand, isEach } = by
  const choice = limiter.choose()
  const firstOf = firstOfKeys([...front, ...backlog])
  const seen = new Set<number>()
  const taken: Candidate[] = []
  const behind: Candidate[] = []
  const left: Candidate[] = []
  const offer = (one: Candidate) => {
    if (inHand.has(one.id)) return
    if (isEach && firstOf.get(one.orderKey) !== one) behind.push(one)
    else if (!isEach && seen.has(one.recipientId)) return
    else if (choice.take(one)) {
      seen.add(one.recipientId)
      taken.push(one)
    } else left.push(one)
  }
  const places = choice.left()
  const share = Math.ceil(places * BACKLOG_SHARE)
  const waiting = [...inTurn(backlog)]
  while (waiting.length > 0 && places - choice.left() < share) {
    const one = waiting.shift()
    if (one !== undefined) offer(one)
  }
  for (const one of [...front, ...waiting]) offer(one)
  return { taken, behind, left }
}

/** The ids of deliveries. */
export function idsOf(all: readonly Candidate[]): readonly string[] {
  return all.map(({ id }) => id)
}

function firstOfKeys(all: readonly Candidate[]): ReadonlyMap<string, Candidate> {
  const keys = new Map<string, Candidate>()
  for (const one of all) {
    const first = keys.get(one.orderKey)
    if (first === undefined || compare(one, first) < 0) keys.set(one.orderKey, one)
  }
  return keys
}

/** The first of each recipient, then the second of each, and so on. */
function inTurn(candidates: readonly Candidate[]): readonly Candidate[] {
  const counts = new Map<number, number>()
  return candidates
    .map((one) => {
      const turn = counts.get(one.recipientId) ?? 0
      counts.set(one.recipientId, turn + 1)
      return { one, turn }
    })
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ one }) => one)
}

/** In the order of a key. */
function compare(a: Candidate, b: Candidate): number {
  return (
    a.firedAt.getTime() - b.firedAt.getTime() ||
    a.position - b.position ||
    (a.id < b.id ? -1 : Number(a.id > b.id))
  )
}
