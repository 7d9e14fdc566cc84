import type { BlockRef, Chain, FeedReading } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import { deleteInBatches } from '#src/db/delete-in-batches.ts'
import { type Fence, transactUnder } from '#src/db/leases.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import * as store from './store.ts'

/** A price that was read: `value / 10 ** decimals` US dollars. */
export interface FeedPoint {
  readonly value: bigint
  readonly decimals: number
  readonly at: Date
}

/** A price, and the price with which it is compared. */
export interface FeedWindow {
  readonly now: FeedReading
  /** The oldest valid price inside the window, possibly the current price. */
  readonly oldest: FeedPoint
}

/** A stored price, and the oldest price of the window before it. */
export interface PastPrice {
  readonly price: FeedPoint & { readonly block: number }
  readonly oldest: FeedPoint
}

/**
 * Retention of prices by grade, coarsest first. A price has the coarsest grade in whose interval (`stepMs`) it is the
 * first price; an interval of 0 takes every price. A grade is kept for `windowMsMax`. A window compares with prices of
 * the finest grade that is kept for its length, and of coarser grades, so it always compares with the same prices,
 * whatever was deleted: a window of up to a day with every price.
 */
const GRADES = [
  { grade: 1, stepMs: 5 * MINUTE_MS, windowMsMax: 7 * DAY_MS },
  { grade: 2, stepMs: 0, windowMsMax: DAY_MS },
] as const
/** Number of prices that one query reads. */
const POINTS_PER_READ = 2000
/** Additional retention, because the chain's clock may be behind the service's. */
const SPARE_MS = HOUR_MS

/**
 * Creates the store of prices, which finds the oldest price of a window. Long because reading and storing
 * share the last readings.
 */
export function createFeedFacts({
  db,
  chain,
  clock,
}: {
  readonly db: Db
  readonly chain: Chain
  readonly clock: Clock
}) {
  let last:
    | { readonly block: BlockRef; readonly readings: Map<string, FeedReading | null> }
    | undefined

  /** Reads prices at a block, each feed once. */
  async function readingsAt(
    feeds: readonly string[],
    block: BlockRef,
    signal: AbortSignal | undefined,
    fence: Fence | undefined,
  ): Promise<ReadonlyMap<string, FeedReading | null>> {
    const known = last?.block.hash === block.hash ? last.readings : new Map()
    const wanted = [...new Set(feeds)].filter((feed) => !known.has(feed))
    if (wanted.length > 0) {
      const read = await chain.feedPrices(wanted, block, signal)
      for (const [index, feed] of wanted.entries()) known.set(feed, read[index] ?? null)
      const valid = new Map(
        read.flatMap((feedReading) =>
          feedReading === undefined ? [] : [[feedReading.id, feedReading]],
        ),
      )
      const points = [...valid.values()].map(({ id, value, decimals }) => ({
        feed: id,
        value,
        decimals,
      }))
      await transactUnder(fence, db, (tx) =>
        store.insertFeedPoints(tx, points, { at: block.at, block: block.number, grades: GRADES }),
      )
    }
    last = { block, readings: known }
    return known
  }

  return {
    async windows(
      windows: readonly { readonly feed: string; readonly windowSeconds: number }[],
      block: BlockRef,
      signal?: AbortSignal,
      fence?: Fence,
    ): Promise<readonly (FeedWindow | undefined)[]> {
      const names = windows.map(({ feed }) => feed)
      const readings = await readingsAt(names, block, signal, fence)
      const asked = windows.map(({ feed, windowSeconds }) => {
        const now = readings.get(feed) ?? undefined
        return now && { now, feed: now.id, windowMs: windowSeconds * 1000 }
      })
      const questions = asked.flatMap((query) =>
        query === undefined
          ? []
          : [
              {
                feed: query.feed,
                from: new Date(block.at.getTime() - query.windowMs),
                grade: gradeOf(query.windowMs),
              },
            ],
      )
      const oldest = (await store.findOldestFeedPoints(db, questions, block.at)).values()
      return asked.map((query) => {
        if (query === undefined) return undefined
        const { value, decimals } = query.now
        const oldestPoint = oldest.next().value
        return { now: query.now, oldest: oldestPoint ?? { value, decimals, at: block.at } }
      })
    },

    /**
     * Stored prices from `from` to `to`, oldest first. Each has the oldest price of its window, but none from before
     * `from`.
     */
    async *history(
      feed: string,
      windowSeconds: number,
      { from, to }: { readonly from: Date; readonly to: Date },
    ): AsyncGenerator<readonly PastPrice[]> {
      const grade = gradeOf(windowSeconds * 1000)
      const inWindow: FeedPoint[] = []
      let start = 0
      for (let after = new Date(from.getTime() - 1); ; ) {
        const points = await store.listFeedPoints(db, feed, { after, to }, POINTS_PER_READ)
        const last = points.at(-1)
        if (last === undefined) return
        yield points.map((point) => {
          if (point.grade <= grade) inWindow.push(point)
          const oldestMs = point.at.getTime() - windowSeconds * 1000
          while ((inWindow[start]?.at.getTime() ?? oldestMs) < oldestMs) start += 1
          return { price: point, oldest: inWindow[start] ?? point }
        })
        inWindow.splice(0, start)
        start = 0
        after = last.at
      }
    },

    async prune(): Promise<void> {
      const nowMs = clock.now().getTime()
      for (const { grade, windowMsMax } of GRADES) {
        const before = new Date(nowMs - windowMsMax - SPARE_MS)
        await deleteInBatches((limit) => store.deleteFeedPoints(db, grade, before, limit))
      }
    },
  }
}

/** The finest grade with whose prices a window of this length compares. */
function gradeOf(windowMs: number): number {
  return GRADES.findLast(({ windowMsMax }) => windowMs <= windowMsMax)?.grade ?? GRADES[0].grade
}
