import type { Db } from '#src/db/connection.ts'
import { deleteInBatches } from '#src/db/delete-in-batches.ts'
import { deleteUnwatchedTargets } from '../target-store.ts'

/** Deletes targets without watches. */
export function pruneTargets({ db }: { readonly db: Db }): Promise<void> {
  return deleteInBatches((limit) => deleteUnwatchedTargets(db, limit))
}
