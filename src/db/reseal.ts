import type { Logger } from '#src/kernel/logger.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'

/** Rows read and written by one statement each. */
export const RESEAL_BATCH = 500

/** A stored text that was sealed, and the key of its row. */
interface SealedRow<Key> {
  readonly key: Key
  readonly sealed: string
}

/** A row whose text has to be replaced. */
export interface Resealed<Key> extends SealedRow<Key> {
  readonly resealed: string
}

/** One sealed column of a table. */
export interface SealedColumn<Key> {
  /** Purpose that its texts are sealed for. */
  readonly purpose: string
  /** Reads at most `RESEAL_BATCH` rows after a key, in order of keys. */
  read(after: Key | undefined): Promise<readonly SealedRow<Key>[]>
  /** Replaces texts that are still as they were read. */
  write(rows: readonly Resealed<Key>[]): Promise<void>
}

/**
 * Seals every text of a column that the previous secret key sealed with the current one, batch by batch. A
 * text that neither key opens stays as it is and is logged. Stops between batches when aborted.
 *
 * @returns number of texts replaced
 */
export async function resealColumn<Key>(
  { box, log }: { readonly box: SecretBox; readonly log: Logger },
  column: SealedColumn<Key>,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  let rows = await column.read(undefined)
  while (rows.length > 0 && !signal.aborted) {
    const resealed = rows.flatMap((row) => reseal({ box, log }, column.purpose, row))
    if (resealed.length > 0) await column.write(resealed)
    count += resealed.length
    rows = await column.read(rows.at(-1)?.key)
  }
  return count
}

function reseal<Key>(
  { box, log }: { readonly box: SecretBox; readonly log: Logger },
  purpose: string,
  row: SealedRow<Key>,
): readonly Resealed<Key>[] {
  try {
    const resealed = box.reseal(purpose, row.sealed)
    return resealed === undefined ? [] : [{ ...row, resealed }]
  } catch {
    log.error(
      { purpose, row: row.key },
      'a stored text opens with neither SECRET_KEY nor SECRET_KEY_PREVIOUS; it stays as it is',
    )
    return []
  }
}
