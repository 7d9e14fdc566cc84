import type { Db } from '#src/db/connection.ts'
import { operatorActs } from './tables.ts'

/** Writes what an operator did. */
export async function insertAct(tx: Db, act: typeof operatorActs.$inferInsert): Promise<void> {
  await tx.insert(operatorActs).values(act)
}
