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
  /** The oldest deliveries of each urgency, and some that are due behind many deliveries to full destinations. */
  readonly front: readonly due.DueDelivery[]
  /** After a notification, in a crowded queue: the newest, one of each recipient that has none in `front`. */
  readonly newest: readonly due.DueDelivery[]
  /** Urgencies of which more deliveries may be due than were read. */
  readonly crowded: readonly number[]
}

/**
 * Reads what is due. Each read looks at a limited number of deliveries. If those at the front are for destinations
 * without a free place, the next claims also look at the next ones behind them, until the end of the queue, and then
 * begin again. While nothing is full the front has all that may be sent, and the cursor is kept.
 */
export async function readDueQueue(
  db: Db,
  channel: ChannelKey,
  sending: ChannelSendingState,
  of: { readonly full: FullDestinations; readonly now: Date },
): Promise<DueQueue> {
  const { queueCursors } = sending
  const isSomeFull = of.full.partitions.length + of.full.recipients.length > 0
  const [oldest, further] = await Promise.all([
    due.listDueDeliveries(db, channel, of),
    isSomeFull && queueCursors.size > 0
      ? due.listDueDeliveries(db, channel, { ...of, after: queueCursors })
      : undefined,
  ])
  const crowded = crowdedUrgencies(oldest)
  sending.queueCursors = nextCursors(queueCursors, { oldest, further, crowded })
  const known = new Set(oldest.rows.map(({ id }) => id))
  const behind = further?.rows.filter(({ id }) => !known.has(id)) ?? []
  const front = [...oldest.rows, ...behind]
  // The oldest of a long queue would hold up a new delivery.
  const isAsked = sending.isNotified && crowded.length > 0
  sending.isNotified = false
  const newest = isAsked ? await due.listNewestDeliveries(db, channel, of) : []
  return { front, newest: firstOfOtherRecipients(newest, front), crowded }
}

/**
 * Per urgency the cursor from which the next claim reads on. It begins behind a front without enough free places, and is
 * kept until a claim reads the whole queue of the urgency.
 */
function nextCursors(
  before: ReadonlyMap<number, due.QueueCursor>,
  read: {
    readonly oldest: due.DuePage
    readonly further: due.DuePage | undefined
    readonly crowded: readonly number[]
  },
): ReadonlyMap<number, due.QueueCursor> {
  const { oldest, further, crowded } = read
  const cursorOf = (urgency: number): due.QueueCursor | undefined => {
    const endOfFront = oldest.ends.get(urgency)
    const cursor = before.get(urgency)
    if (cursor === undefined || further === undefined) return cursor ?? endOfFront
    const mayBeMore = countOf(further, urgency) >= due.OLDEST_READ_MAX
    return further.ends.get(urgency) ?? (mayBeMore ? cursor : endOfFront)
  }
  return new Map(
    crowded.flatMap((urgency) => {
      const cursor = cursorOf(urgency)
      return cursor === undefined ? [] : [[urgency, cursor] as const]
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
