/** Moves deliveries into the backlogs of their recipients that hold up others. */
import type { ChannelKey } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { type DeliveryChoice, idsOf } from './choice.ts'
import * as due from './due-store.ts'
import type { ChannelSending } from './sending.ts'

/** Minimum interval between two looks at long queues: a look reads up to `LONG_QUEUE_MIN` deliveries of each urgency. */
const TIDY_MS = 5000

/** Urgencies of which a claim has read as many deliveries outside backlogs as it may. */
export function crowdedIn(front: readonly due.Candidate[]): readonly number[] {
  return SEVERITIES.map((_severity, urgency) => urgency).filter(
    (level) => front.filter(({ urgency }) => urgency === level).length >= due.SCAN_MAX,
  )
}

/**
 * Moves the deliveries of recipients that do not answer if they fill what a claim reads; and, from time to time, those
 * that hold up a long queue. The others stay: moving a delivery costs nearly as much as recording its result.
 *
 * @param claim `front`: the deliveries outside backlogs that the claim has read
 * @returns whether any were moved
 */
export async function tidy(
  { db, claimsDb }: { readonly db: Db; readonly claimsDb: Db },
  channel: ChannelKey,
  sending: ChannelSending,
  claim: {
    readonly front: readonly due.Candidate[]
    readonly chosen: DeliveryChoice
    readonly now: Date
  },
): Promise<boolean> {
  const { front, chosen, now } = claim
  const crowded = crowdedIn(front)
  const unanswered = chosen.left.filter(
    ({ backlog, urgency, recipientId }) =>
      !backlog && crowded.includes(urgency) && sending.limiter.isSuspect(recipientId),
  )
  await due.moveToBacklog(db, idsOf(unanswered))
  const stuck = sending.limiter.stuck()
  const mayBeLong = crowded.length + stuck.partitions.length + stuck.recipients.length > 0
  if (!mayBeLong || performance.now() - sending.tidiedAt < TIDY_MS) return unanswered.length > 0
  // Set before the look: a look that always fails then fails only one claim in `QUEUE_CHECK_MS`.
  sending.tidiedAt = performance.now()
  const inTheWay = await due.listInTheWay(claimsDb, channel, { stuck, now })
  await due.moveToBacklog(db, inTheWay)
  // If most of them hold up the queue, the next claim looks at the deliveries behind them.
  if (inTheWay.length >= due.DEEP / 2) sending.tidiedAt = Number.NEGATIVE_INFINITY
  return unanswered.length + inTheWay.length > 0
}
