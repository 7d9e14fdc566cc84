import { and, eq, gte, lt, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { figureHours, publicFigures } from '../tables.ts'

/** Name of the only row of the public figures. */
const ROW = 'now'

/** Counts of the hours that start in a period, unordered. */
export function listHours(
  db: Db,
  kind: string,
  since: Date,
  until: Date,
): Promise<{ hour: Date; counts: unknown }[]> {
  const { hour, counts } = figureHours
  return db
    .select({ hour, counts })
    .from(figureHours)
    .where(and(eq(figureHours.kind, kind), gte(hour, since), lt(hour, until)))
}

/** Inserts the counts of an hour; existing counts are kept. */
export async function insertHour(
  db: Db,
  row: { readonly kind: string; readonly hour: Date; readonly counts: unknown },
): Promise<void> {
  await db.insert(figureHours).values(row).onConflictDoNothing()
}

/** Deletes the counts of hours outside a period: earlier hours belong to no sum any more, later ones are not over. */
export async function deleteHoursOutside(
  db: Db,
  kind: string,
  { from, until }: { readonly from: Date; readonly until: Date },
): Promise<void> {
  const { hour } = figureHours
  await db
    .delete(figureHours)
    .where(and(eq(figureHours.kind, kind), or(lt(hour, from), gte(hour, until))))
}

/** The last figures, if any. */
export async function findFigures(db: Db): Promise<{ figures: unknown; asOf: Date } | undefined> {
  const { figures, asOf } = publicFigures
  const [found] = await db
    .select({ figures, asOf })
    .from(publicFigures)
    .where(eq(publicFigures.id, ROW))
  return found
}

export async function saveFigures(
  db: Db,
  row: { readonly figures: unknown; readonly asOf: Date },
): Promise<void> {
  await db
    .insert(publicFigures)
    .values({ id: ROW, ...row })
    .onConflictDoUpdate({
      target: publicFigures.id,
      set: { figures: sql`excluded.figures`, asOf: sql`excluded.as_of` },
    })
}
