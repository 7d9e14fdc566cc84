/** Reads the due deliveries outside backlogs, as many as one claim needs. */
import type { ChannelKey } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import type { FullDestinations } from './concurrency-limiter.ts'
import * as due from './due-store.ts'
import { firstOfOtherRecipients } from './selection.ts'
import type { ChannelSendingState } from './sending-state.ts'

/** What one claim has read of the queue. */
export interface DueQueue {
  /** The oldest deliveries of each urgency, and those behind a long row of deliveries to full destinations. */
  readonly front: readonly due.DueDelivery[]
  /** After a notification, in a crowded queue: the newest, one of each recipient that has none in `front`. */
  readonly newest: readonly due.DueDelivery[]
  /** Urgencies of which more deliveries may be due than were read. */
  readonly crowded: readonly number[]
}

const EMPTY: due.DuePage = { rows: [], ends: new Map() }

/**
 * Reads what is due. Each read looks at a limited number of deliveries. If those at the front are for destinations
 * without a free place, each claim also looks at the next ones behind them, and begins again at the end of the queue.
 */
export async function readDueQueue(
  db: Db,
  channel: ChannelKey,
  sending: ChannelSendingState,
  of: { readonly full: FullDestinations; readonly now: Date },
): Promise<DueQueue> {
  const { queuePlaces } = sending
  const [oldest, further] = await Promise.all([
    due.listDueDeliveries(db, channel, of),
    queuePlaces.size === 0
      ? EMPTY
      : due.listDueDeliveries(db, channel, { ...of, after: queuePlaces }),
  ])
  sending.queuePlaces = placesBehind(queuePlaces, { oldest, further })
  const crowded = crowdedUrgencies(oldest)
  const known = new Set(oldest.rows.map(({ id }) => id))
  const front = [...oldest.rows, ...further.rows.filter(({ id }) => !known.has(id))]
  // The oldest of a long queue would hold up a new delivery.
  const isAsked = sending.isNotified && crowded.length > 0
  sending.isNotified = false
  const newest = isAsked ? await due.listNewestDeliveries(db, channel, of) : []
  return { front, newest: firstOfOtherRecipients(newest, front), crowded }
}

/** Per urgency the place from which the next claim reads on. */
function placesBehind(
  before: ReadonlyMap<number, due.QueuePlace>,
  { oldest, further }: { readonly oldest: due.DuePage; readonly further: due.DuePage },
): ReadonlyMap<number, due.QueuePlace> {
  return new Map(
    [...oldest.ends].map(([urgency, endOfFront]) => {
      const mayBeMore = countOf(further, urgency) >= due.OLDEST_READ_MAX
      const same = mayBeMore ? before.get(urgency) : undefined
      return [urgency, further.ends.get(urgency) ?? same ?? endOfFront] as const
    }),
  )
}

function crowdedUrgencies(oldest: due.DuePage): readonly number[] {
  return SEVERITIES.map((_severity, urgency) => urgency).filter(
    (urgency) => oldest.ends.has(urgency) || countOf(oldest, urgency) >= due.OLDEST_READ_MAX,
  )
}

function countOf({ rows }: due.DuePage, urgency: number): number {
  return rows.filter((row) => row.urgency === urgency).length
}
