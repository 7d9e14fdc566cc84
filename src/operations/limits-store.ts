import { lt } from 'drizzle-orm'
import { RateLimiterDrizzle } from 'rate-limiter-flexible'
import type { Db } from '#src/db/connection.ts'
import { deleteBatch } from '#src/db/delete-batch.ts'
import { rateCounts } from './tables.ts'

/** Creates a limiter whose counts all processes on the database share. */
export function createSharedLimiter(
  db: Db,
  options: {
    readonly keyPrefix: string
    readonly points: number
    /** In seconds. */
    readonly duration: number
  },
): RateLimiterDrizzle {
  return new RateLimiterDrizzle({
    ...options,
    storeClient: db,
    schema: rateCounts,
    // `prune` deletes them.
    clearExpiredByTimeout: false,
  })
}

/**
 * Deletes counts that ended before a time.
 *
 * @returns their number, at most `limit`
 */
export function deleteCounts(db: Db, before: Date, limit: number): Promise<number> {
  return deleteBatch(db, rateCounts, { id: ['key'], where: lt(rateCounts.expire, before), limit })
}
