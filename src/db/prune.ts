/** Rows deleted by one statement: few enough to stay far below the statement time-out. */
const ROWS_PER_BATCH = 1000

/**
 * Deletes old rows in statements of their own, so that a backlog of any size is worked off and a failure
 * loses no more than one batch.
 *
 * @param deleteBatch deletes at most so many rows, found by an index; answers how many
 */
export async function deleteInBatches(
  deleteBatch: (limit: number) => Promise<number>,
): Promise<void> {
  let deleted: number
  do deleted = await deleteBatch(ROWS_PER_BATCH)
  while (deleted >= ROWS_PER_BATCH)
}
