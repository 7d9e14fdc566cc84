import { and, desc, eq, gte, inArray, lt, lte, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { publications, readRanges, voteSignatures } from '../tables.ts'

/** A stored publication about a reward epoch. */
export type Publication = typeof publications.$inferSelect

/** The newest publication of a kind about a reward epoch up to `upToEpoch`. */
export async function findPublication(
  db: Db,
  kind: string,
  upToEpoch: number,
): Promise<Publication | undefined> {
  const [row] = await db
    .select()
    .from(publications)
    .where(and(eq(publications.kind, kind), lte(publications.rewardEpochId, upToEpoch)))
    .orderBy(desc(publications.rewardEpochId))
    .limit(1)
  return row
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

/** Publications of a kind about reward epochs from a given epoch on, oldest epoch first. */
export function listPublicationsFrom(
  db: Db,
  kind: string,
  fromEpoch: number,
): Promise<Publication[]> {
  return db
    .select()
    .from(publications)
    .where(and(eq(publications.kind, kind), gte(publications.rewardEpochId, fromEpoch)))
    .orderBy(publications.rewardEpochId)
}

/** Stores a publication; it keeps the time at which it was first seen. */
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

/** A signature of a vote. */
export type StoredSignature = typeof voteSignatures.$inferSelect

/** Stores signatures; known signatures stay unchanged. */
export async function insertSignatures(db: Db, rows: readonly StoredSignature[]): Promise<void> {
  if (rows.length > 0)
    await db
      .insert(voteSignatures)
      .values([...rows])
      .onConflictDoNothing()
}

/** All signatures of the votes about a reward epoch, oldest first. */
export function listSignatures(db: Db, rewardEpochId: number): Promise<StoredSignature[]> {
  return db
    .select()
    .from(voteSignatures)
    .where(eq(voteSignatures.rewardEpochId, rewardEpochId))
    .orderBy(voteSignatures.signedAt, voteSignatures.voter)
}

/** Block ranges that were read for a purpose, both ends included, in rising order. */
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

/**
 * Replaces the block ranges that were read for a purpose; ranges that another process adds meanwhile stay.
 */
export async function replaceRanges(
  tx: Db,
  name: string,
  ranges: readonly { readonly fromBlock: number; readonly toBlock: number }[],
): Promise<void> {
  await tx.delete(readRanges).where(eq(readRanges.name, name))
  if (ranges.length > 0) {
    await tx
      .insert(readRanges)
      .values(ranges.map((range) => ({ name, ...range })))
      .onConflictDoUpdate({
        target: [readRanges.name, readRanges.fromBlock],
        set: { toBlock: sql`greatest(${readRanges.toBlock}, excluded.to_block)` },
      })
  }
}

/** Deletes signatures of reward epochs before `beforeEpoch`. */
export async function deleteSignatures(db: Db, beforeEpoch: number): Promise<void> {
  await db.delete(voteSignatures).where(lt(voteSignatures.rewardEpochId, beforeEpoch))
}

/** The newest reward epoch with stored signatures. */
export async function findLastSignedEpoch(db: Db): Promise<number | undefined> {
  const [row] = await db
    .select({ epoch: voteSignatures.rewardEpochId })
    .from(voteSignatures)
    .orderBy(desc(voteSignatures.rewardEpochId))
    .limit(1)
  return row?.epoch
}

/** Deletes the block ranges read for these purposes. */
export async function deleteReadRanges(db: Db, names: readonly string[]): Promise<void> {
  await db.delete(readRanges).where(inArray(readRanges.name, [...names]))
}
