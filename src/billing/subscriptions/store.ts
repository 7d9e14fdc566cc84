import { eq } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { trials } from './tables.ts'

export type TrialRow = typeof trials.$inferSelect

/** The wallet's trial, running or over. */
export async function findTrial(db: Db, wallet: Address): Promise<TrialRow | undefined> {
  const [found] = await db.select().from(trials).where(eq(trials.wallet, wallet))
  return found
}

/** @returns false when this wallet or Telegram account has had its trial */
export async function insertTrial(db: Db, trial: TrialRow): Promise<boolean> {
  const inserted = await db
    .insert(trials)
    .values(trial)
    .onConflictDoNothing()
    .returning({ wallet: trials.wallet })
  return inserted.length > 0
}
