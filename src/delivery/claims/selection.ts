/** Selection of due deliveries. */
import { rankOfPlace } from '../rules.ts'
import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import type { DueDelivery } from './head-store.ts'

/** Result of a selection. */
export interface DeliverySelection {
  readonly selected: readonly DueDelivery[]
  /** Deliveries behind an earlier delivery of their key. */
  readonly behind: readonly DueDelivery[]
  /** Whether a delivery has no place. */
  readonly isSomeLeft: boolean
  /** Recipients that get no place now although there are free ones: those are for others. */
  readonly refused: ReadonlySet<number>
}

/**
 * Selects due deliveries, as far as there are places. For chats and mailboxes it selects the first of each
 * recipient; for channels with one message per delivery it may select more, but only one per order key. Of
 * one urgency each recipient gets a place before another gets its second, so that a new recipient does not
 * wait behind many deliveries of recipients that do not answer.
 *
 * @param due by recipient, each in the order of selection
 * @param options `claimedIds`: deliveries that this process has already claimed; `isSentSeparately`: whether the channel
 * sends each delivery as a message of its own; `placesGiven`: number of places that earlier selections gave
 */
export function selectDeliveries(
  due: readonly DueDelivery[],
  options: {
    readonly limiter: ConcurrencyLimiter
    readonly claimedIds: ReadonlySet<string>
    readonly isSentSeparately: boolean
    readonly placesGiven: number
  },
): DeliverySelection {
  const { limiter, claimedIds, isSentSeparately, placesGiven } = options
  const reservation = limiter.startReservation()
  const firstOf = firstOfKeys(due)
  const seen = new Set<number>()
  const selected: DueDelivery[] = []
  const behind: DueDelivery[] = []
  const refused = new Set<number>()
  let isSomeLeft = false
  const isTimeFor = ({ recipientId, attempts }: DueDelivery) =>
    attempts > 0 || limiter.pauseMsOf(recipientId) === 0
  for (const candidate of inTurn(due, () => placesGiven + selected.length)) {
    const { id, recipientId, partitionKey, orderKey, attempts } = candidate
    const destination = { recipientId, partitionKey, wasTried: attempts > 0 }
    if (claimedIds.has(id)) continue
    if (isSentSeparately && firstOf.get(orderKey) !== candidate) behind.push(candidate)
    else if (!isSentSeparately && seen.has(recipientId)) continue
    else if (isTimeFor(candidate) && reservation.reserve(destination)) {
      seen.add(recipientId)
      selected.push(candidate)
      refused.delete(recipientId)
    } else {
      isSomeLeft = true
      if (reservation.placesLeft() > 0 && !seen.has(recipientId)) refused.add(recipientId)
    }
  }
  return { selected, behind, isSomeLeft, refused }
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
 * Orders deliveries by urgency, the highest first, and those of one urgency in turns: the first of each recipient,
 * then the second of each, and so on. Before every eighth place the first one of a lower urgency comes, of each in turn.
 *
 * @param placesGiven number of places that were given until now
 */
function* inTurn(
  due: readonly DueDelivery[],
  placesGiven: () => number,
): Generator<DueDelivery, void, undefined> {
  const counts = new Map<string, number>()
  const inTurns = due
    .map((delivery) => {
      const key = `${delivery.urgency} ${delivery.recipientId}`
      const turn = counts.get(key) ?? 0
      counts.set(key, turn + 1)
      return { delivery, turn }
    })
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ delivery }) => delivery)
  const queues = [...Map.groupBy(inTurns, ({ urgency }) => urgency)]
    .toSorted(([a], [b]) => b - a)
    .map(([, queue]) => queue.values())
  while (queues.length > 0) {
    const place = rankOfPlace(placesGiven(), queues.length)
    const next = queues[place]?.next()
    if (next === undefined || next.done) queues.splice(place, 1)
    else yield next.value
  }
}

/** Compares two deliveries by their order within a key. */
function compare(a: DueDelivery, b: DueDelivery): number {
  return (
    a.firedAt.getTime() - b.firedAt.getTime() ||
    a.position - b.position ||
    (a.id < b.id ? -1 : Number(a.id > b.id))
  )
}
