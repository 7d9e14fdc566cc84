/** Number of rows that one statement deletes, few enough to stay far below the statement timeout. */
const ROWS_PER_BATCH = 1000

/**
 * Deletes old rows in separate statements, so that a backlog of any size is worked off and a failure loses
 * at most one batch.
 *
 * @param deleteBatch deletes at most `limit` rows, found by an index; returns their number
 */
export async function deleteInBatches(
  deleteBatch: (limit: number) => Promise<number>,
): Promise<void> {
  let deleted: number
  do deleted = await deleteBatch(ROWS_PER_BATCH)
  while (deleted >= ROWS_PER_BATCH)
}
