import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'

/** A price to store. */
export interface NewFeedPoint {
  readonly feed: string
  readonly value: bigint
  readonly decimals: number
}

/**
 * Stores prices of one time; an existing time stays unchanged.
 *
 * @param grades coarsest first. Each price gets the coarsest grade in whose interval it is the first price; with the
 * interval 0 every price is
 */
export async function insertFeedPoints(
  db: Db,
  points: readonly NewFeedPoint[],
  {
    at,
    block,
    grades,
  }: {
    readonly at: Date
    readonly block: number
    readonly grades: readonly { readonly grade: number; readonly stepMs: number }[]
  },
): Promise<void> {
  if (points.length === 0) return
  const rows = points.map(({ feed, value, decimals }) => ({
    feed,
    value: value.toString(),
    decimals,
  }))
  const steps = grades.map(({ grade, stepMs }) => ({
    grade,
    start: new Date(stepMs === 0 ? at : Math.floor(at.getTime() / stepMs) * stepMs).toISOString(),
  }))
  await db.execute(sql`
    insert into feed_points (feed, at, block, value, decimals, grade)
    select r.feed, ${at}, ${block}::int, r.value, r.decimals, (
      select min(g.grade) from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb)
        as g(start timestamptz, grade smallint)
      where not exists (
        select from feed_points p
        where p.feed = r.feed and p.at >= g.start and p.at < ${at} and p.grade <= g.grade
      )
    )
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r(feed text, value numeric, decimals smallint)
    on conflict do nothing`)
}

const Point = z.object({
  value: z.string().transform((text) => BigInt(text)),
  decimals: z.int(),
  at: z.coerce.date(),
})

/** The oldest price for each query, in order; undefined where there is none. */
export async function findOldestFeedPoints(
  db: Db,
  questions: readonly { readonly feed: string; readonly from: Date; readonly grade: number }[],
  to: Date,
): Promise<readonly (z.output<typeof Point> | undefined)[]> {
  if (questions.length === 0) return []
  const numbered = questions.map((question, place) => ({ ...question, place }))
  const rows = await db.execute<{ found: unknown }>(sql`
    select p.found from jsonb_to_recordset(${JSON.stringify(numbered)}::jsonb)
        as q(feed text, "from" timestamptz, grade smallint, place int)
      left join lateral (
        select jsonb_build_object('value', f.value::text, 'decimals', f.decimals, 'at', f.at) as found
        from feed_points f
        where f.feed = q.feed and f.at >= q."from" and f.at <= ${to} and f.grade <= q.grade
        order by f.at limit 1
      ) p on true
    order by q.place`)
  return rows.map(({ found }) => (found === null ? undefined : Point.parse(found)))
}

/** Prices of a feed after one time and up to another, oldest first, with their grades. */
export async function listFeedPoints(
  db: Db,
  feed: string,
  { after, to }: { readonly after: Date; readonly to: Date },
  limit: number,
): Promise<readonly StoredFeedPoint[]> {
  const rows = await db.execute(sql`
    select value::text as value, decimals, at, grade, block from feed_points
    where feed = ${feed} and at > ${after} and at <= ${to}
    order by at limit ${limit}`)
  return z.array(StoredFeedPoint).parse(rows)
}

const StoredFeedPoint = Point.extend({ grade: z.int(), block: z.int() })
export type StoredFeedPoint = z.output<typeof StoredFeedPoint>

/**
 * Deletes prices of a grade before a time.
 *
 * @returns their number, at most `limit`
 */
export async function deleteFeedPoints(
  db: Db,
  grade: number,
  before: Date,
  limit: number,
): Promise<number> {
  const gone = await db.execute(sql`
    delete from feed_points where (feed, at) in (
      select feed, at from feed_points where grade = ${grade} and at < ${before} limit ${limit}
    ) returning 1`)
  return gone.length
}
