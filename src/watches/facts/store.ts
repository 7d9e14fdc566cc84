import { and, desc, eq, inArray, lt, lte, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { publications, readRanges, voteSignatures } from '../tables.ts'

/** A price to be remembered. */
export interface NewPoint {
  readonly feed: string
  readonly value: bigint
  readonly decimals: number
}

/**
 * Remembers prices seen at one time; a time that is known stays as it is.
 *
 * @param grades coarsest first: only the first price of every so long has one; 0: every price
 */
export async function insertPoints(
  db: Db,
  points: readonly NewPoint[],
  {
    at,
    grades,
  }: {
    readonly at: Date
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
    insert into feed_points (feed, at, value, decimals, grade)
    select r.feed, ${at}, r.value, r.decimals, (
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

/** The oldest price per question, in their order; undefined where there is none. */
export async function findOldest(
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

/**
 * Deletes prices of a grade from before then.
 *
 * @returns how many, at most `limit`
 */
export async function deletePoints(
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

/** What was published about a reward epoch. */
export type Publication = typeof publications.$inferSelect

/** The newest publication of a kind about a reward epoch up to this one. */
export async function findPublication(
  db: Db,
  kind: string,
  upToEpoch: number,
): Promise<Publication | undefined> {
  const [found] = await db
    .select()
    .from(publications)
    .where(and(eq(publications.kind, kind), lte(publications.rewardEpochId, upToEpoch)))
    .orderBy(desc(publications.rewardEpochId))
    .limit(1)
  return found
}

/** Publications of a kind about these reward epochs. */
export function listPublications(
  db: Db,
  kind: string,
  epochs: readonly number[],
): Promise<Publication[]> {
  return db
    .select()
    .from(publications)
    .where(and(eq(publications.kind, kind), inArray(publications.rewardEpochId, [...epochs])))
}

/** Keeps what was published; what was seen first stays first seen then. */
export async function savePublication(db: Db, publication: Publication): Promise<void> {
  const { data } = publication
  await db
    .insert(publications)
    .values(publication)
    .onConflictDoUpdate({
      target: [publications.kind, publications.rewardEpochId],
      set: { data },
    })
}

/** A signature on a vote. */
export type StoredSignature = typeof voteSignatures.$inferSelect

/** Keeps signatures; those known already stay as they are. */
export async function insertSignatures(db: Db, rows: readonly StoredSignature[]): Promise<void> {
  if (rows.length > 0)
    await db
      .insert(voteSignatures)
      .values([...rows])
      .onConflictDoNothing()
}

/** Every signature on the votes about a reward epoch, oldest first. */
export function listSignatures(db: Db, rewardEpochId: number): Promise<StoredSignature[]> {
  return db
    .select()
    .from(voteSignatures)
    .where(eq(voteSignatures.rewardEpochId, rewardEpochId))
    .orderBy(voteSignatures.signedAt, voteSignatures.voter)
}

/** Blocks read for a purpose, both ends included, rising. */
export function listRanges(
  db: Db,
  name: string,
): Promise<{ readonly fromBlock: number; readonly toBlock: number }[]> {
  return db
    .select({ fromBlock: readRanges.fromBlock, toBlock: readRanges.toBlock })
    .from(readRanges)
    .where(eq(readRanges.name, name))
    .orderBy(readRanges.fromBlock)
}

/** Writes which blocks have been read, in place of what was written before. */
export async function replaceRanges(
  tx: Db,
  name: string,
  ranges: readonly { readonly fromBlock: number; readonly toBlock: number }[],
): Promise<void> {
  await tx.delete(readRanges).where(eq(readRanges.name, name))
  if (ranges.length > 0) {
    await tx.insert(readRanges).values(ranges.map((range) => ({ name, ...range })))
  }
}

/** Forgets signatures on reward epochs before this one. */
export async function deleteSignatures(db: Db, beforeEpoch: number): Promise<void> {
  await db.delete(voteSignatures).where(lt(voteSignatures.rewardEpochId, beforeEpoch))
}

/** The newest reward epoch that signatures are known of. */
export async function findLastSigned(db: Db): Promise<number | undefined> {
  const [found] = await db
    .select({ epoch: voteSignatures.rewardEpochId })
    .from(voteSignatures)
    .orderBy(desc(voteSignatures.rewardEpochId))
    .limit(1)
  return found?.epoch
}

/** Forgets which blocks were read for these purposes. */
export async function deleteRanges(db: Db, names: readonly string[]): Promise<void> {
  await db.delete(readRanges).where(inArray(readRanges.name, [...names]))
}
