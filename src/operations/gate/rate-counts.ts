/** Counts of requests that all processes on a database share. */
import type { Db } from '#src/db/connection.ts'
import { isConnectionFailure } from '#src/db/session.ts'
import { type BatchGroup, createBatcher } from '#src/kernel/batcher.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { RequestCount } from '#src/kernel/rate-limit.ts'
import { addRequestCounts, type StoredCount, subtractRequestCounts } from './limits-store.ts'

/** A count to change by one. */
interface Change {
  readonly key: string
  /** Seconds from the start of a new count to its end. */
  readonly seconds: number
}

/** Counts of requests by key. Concurrent changes by this process share a statement. */
export interface RateCounts {
  /** Counts a request, and returns the count after it, also if concurrent requests are counted by the same statement. */
  add(change: Change): Promise<RequestCount>
  /** Subtracts a request from the count; undefined if the count has ended. */
  takeBack(change: Change): Promise<RequestCount | undefined>
}

const LIMITS = {
  batchesAtOnce: 2,
  patienceMs: 20,
  groupsPerBatch: 100,
  itemsPerGroup: 200,
  itemsPerBatch: 400,
  waitingPerKeyMax: 1000,
  itemsMax: 20_000,
} as const

interface Counted {
  readonly count: RequestCount | undefined
}

/** Creates counts in this database. */
export function createRateCounts({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): RateCounts {
  const added = createCounting(async (groups) => {
    const now = clock.now()
    const changes = groups.map((group) => ({
      key: group[0].key,
      requests: group.length,
      expire: new Date(now.getTime() + group[0].seconds * 1000),
    }))
    const counts = await addRequestCounts(db, changes, now)
    return groups.map((group) => numbered(group, counts.get(group[0].key), now, 1))
  })
  const takenBack = createCounting(async (groups) => {
    const now = clock.now()
    const changes = groups.map((group) => ({ key: group[0].key, requests: group.length }))
    const counts = await subtractRequestCounts(db, changes, now)
    return groups.map((group) => numbered(group, counts.get(group[0].key), now, 0))
  })
  return {
    add: async (change) => {
      const { count } = await added(change)
      if (count === undefined) throw new Error('a count was not stored')
      return count
    },
    takeBack: async (change) => (await takenBack(change)).count,
  }
}

/** The count after each of the requests that one statement counted; after the last it is the stored count. */
function numbered(
  group: BatchGroup<Change>,
  stored: StoredCount | undefined,
  now: Date,
  step: 0 | 1,
): readonly Counted[] {
  return group.map((_, index) => {
    if (stored === undefined) return { count: undefined }
    const requests = stored.requests - step * (group.length - 1 - index)
    return { count: { requests, leftMs: Math.max(0, stored.expire.getTime() - now.getTime()) } }
  })
}

type Together = (groups: readonly BatchGroup<Change>[]) => Promise<readonly (readonly Counted[])[]>

function createCounting(together: Together): (change: Change) => Promise<Counted> {
  const batcher = createBatcher<Change, Counted>({
    ...LIMITS,
    processTogether: async (groups) => {
      try {
        return await together(groups)
      } catch (error) {
        // The statement changed nothing. A count that cannot be stored fails only its own requests.
        if (groups.length === 1 || isConnectionFailure(error)) throw error
        return []
      }
    },
    processAlone: async (group) => (await together([group]))[0] ?? [],
  })
  return (change) => {
    const counted = batcher.add(change.key, change)
    if (counted !== undefined) return counted
    throw new AppError('rate_limited', 'rate_limited', { retryAfterSeconds: 1 })
  }
}
