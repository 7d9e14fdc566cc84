import { asc, gt, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { RESEAL_BATCH, type Resealed } from '#src/db/reseal.ts'
import { recipients } from './tables.ts'

/** Reads sealed destinations in order of ids, after one of them. */
export async function listSealed(db: Db, after = 0) {
  return db
    .select({ key: recipients.id, sealed: recipients.destination })
    .from(recipients)
    .where(gt(recipients.id, after))
    .orderBy(asc(recipients.id))
    .limit(RESEAL_BATCH)
}

/** Replaces sealed destinations that did not change since they were read. */
export async function replaceSealed(db: Db, rows: readonly Resealed<number>[]): Promise<void> {
  const column = (pick: (row: Resealed<number>) => string | number) => sql.param(rows.map(pick))
  await db.execute(sql`
    update recipients set destination = row.resealed
    from unnest(${column(({ key }) => key)}::int[], ${column(({ sealed }) => sealed)}::text[],
      ${column(({ resealed }) => resealed)}::text[]) as row(id, sealed, resealed)
    where recipients.id = row.id and recipients.destination = row.sealed`)
}
