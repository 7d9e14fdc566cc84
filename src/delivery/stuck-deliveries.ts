/** Moves deliveries into the backlogs of their recipients that hold up others. */
import type { ChannelKey } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import * as claims from './claim-store.ts'
import * as due from './due-store.ts'
import { type DeliverySelection, idsOfDeliveries } from './selection.ts'
import type { ChannelSendingState } from './sending-state.ts'

/** Minimum interval between two looks at long queues: a look reads up to `LONG_QUEUE_MIN` deliveries of each urgency. */
const QUEUE_CHECK_MS = 5000

/**
 * Moves the deliveries of recipients that do not answer if they fill what a claim reads; and, from time to time, those
 * that hold up a long queue. The others stay: moving a delivery costs nearly as much as recording its result.
 *
 * @param claim `crowded`: urgencies of which more deliveries may be due than the claim has read
 * @returns whether any were moved
 */
export async function moveStuckToBacklog(
  { db, claimsDb }: { readonly db: Db; readonly claimsDb: Db },
  channel: ChannelKey,
  sending: ChannelSendingState,
  claim: {
    readonly crowded: readonly number[]
    readonly selection: DeliverySelection
    readonly now: Date
  },
): Promise<boolean> {
  const { crowded, selection, now } = claim
  const unanswered = selection.withoutPlace.filter(
    ({ backlog, urgency, recipientId }) =>
      !backlog && crowded.includes(urgency) && sending.limiter.isSuspect(recipientId),
  )
  await claims.moveToBacklog(db, idsOfDeliveries(unanswered))
  const stuck = sending.limiter.stuck()
  const mayBeLong = crowded.length + stuck.partitions.length + stuck.recipients.length > 0
  if (!mayBeLong || performance.now() - sending.queueCheckedAt < QUEUE_CHECK_MS)
    return unanswered.length > 0
  // Set before the look: a look that always fails then fails only one claim in `QUEUE_CHECK_MS`.
  sending.queueCheckedAt = performance.now()
  const inTheWay = await due.listStuckInLongQueues(claimsDb, channel, { stuck, now })
  await claims.moveToBacklog(db, inTheWay)
  // If most of them hold up the queue, the next claim looks at the deliveries behind them.
  if (inTheWay.length >= due.LONG_QUEUE_MIN / 2) sending.queueCheckedAt = Number.NEGATIVE_INFINITY
  return unanswered.length + inTheWay.length > 0
}
