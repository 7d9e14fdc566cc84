import { and, eq } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { freeCalls } from './tables.ts'

/** Free calls made on a UTC day (`YYYY-MM-DD`). */
export async function countFreeCalls(db: Db, subject: string, day: string): Promise<number> {
  const [found] = await db
    .select({ calls: freeCalls.calls })
    .from(freeCalls)
    .where(and(eq(freeCalls.subject, subject), eq(freeCalls.day, day)))
  return found?.calls ?? 0
}
