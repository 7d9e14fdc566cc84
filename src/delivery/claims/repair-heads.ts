import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { LEASE_SECONDS } from '../model.ts'
import { findLateHeads, markDue } from './head-store.ts'

/** Recipients that are looked at together. */
const RECIPIENTS_MAX = 256

/**
 * Makes recipients due that have a delivery to send but are not looked at in time, as after a clock was set back. There are
 * none unless something is wrong, so each is logged.
 *
 * @returns their number
 */
export async function repairHeads(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<number> {
  let repaired = 0
  let after: number | undefined = 0
  while (after !== undefined && !signal.aborted) {
    const now = clock.now()
    const leasedUntil = new Date(now.getTime() + LEASE_SECONDS * 1000)
    const page = { after, recipientsMax: RECIPIENTS_MAX, now, leasedUntil }
    const { late, last } = await findLateHeads(db, page)
    await markDue(db, late)
    for (const { recipientId, channel } of late)
      log.warn({ recipientId, channel }, 'deliveries of a recipient were overlooked')
    repaired += late.length
    after = last
  }
  return repaired
}
