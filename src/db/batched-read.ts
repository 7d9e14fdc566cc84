import { PgTransaction } from 'drizzle-orm/pg-core'
import { type Batcher, createBatcher } from '#src/kernel/batcher.ts'
import type { Db } from './connection.ts'
import { publishPoolRequest } from './diagnostics.ts'
import { isConnectionFailure, noConnectionFreeError } from './session.ts'

/** Statements of one kind in progress beyond which reads wait, for at most `PATIENCE_MS`. */
const STATEMENTS_AT_ONCE = 2
/** Maximum number of keys that one statement reads. */
const KEYS_MAX = 200
/** Wait after which another statement starts, although others are slow. */
const PATIENCE_MS = 20
/** Maximum number of reads that wait or are in progress. */
const READS_MAX = 20_000

interface Found<Row> {
  readonly row: Row | undefined
}

/**
 * Creates a function that reads one row by its key. Concurrent calls share one statement. The statement
 * begins after the call, so it sees everything that was committed before the call. Equal keys get the same
 * row object, which must not be changed.
 *
 * In a transaction every call sends a separate statement. If a statement for several keys fails, each key
 * is read separately, so that a key that cannot be read fails only its own calls.
 *
 * @param nameOf text that is equal for equal keys
 * @param read runs one statement and returns the rows of these keys by name; keys without a row are missing
 */
export function batchedRead<Key, Row extends object>(
  nameOf: (key: Key) => string,
  read: (db: Db, keys: readonly Key[]) => Promise<ReadonlyMap<string, Row>>,
): (db: Db, key: Key) => Promise<Row | undefined> {
  const batchers = new WeakMap<Db, Batcher<Key, Found<Row>>>()
  const batcherOf = (db: Db) => {
    const known = batchers.get(db)
    if (known !== undefined) return known
    const made = createReads(db, nameOf, read)
    batchers.set(db, made)
    return made
  }
  return async (db, key) => {
    if (isTransaction(db)) return (await read(db, [key])).get(nameOf(key))
    // Another caller may send the statement, so this caller's request for a connection is published here.
    publishPoolRequest()
    const reading = batcherOf(db).add(undefined, key)
    if (reading === undefined) throw noConnectionFreeError()
    return (await reading).row
  }
}

function isTransaction(db: Db): boolean {
  return db instanceof PgTransaction
}

function createReads<Key, Row extends object>(
  db: Db,
  nameOf: (key: Key) => string,
  read: (db: Db, keys: readonly Key[]) => Promise<ReadonlyMap<string, Row>>,
): Batcher<Key, Found<Row>> {
  return createBatcher<Key, Found<Row>>({
    batchesAtOnce: STATEMENTS_AT_ONCE,
    patienceMs: PATIENCE_MS,
    groupsPerBatch: KEYS_MAX,
    itemsPerGroup: 1,
    itemsPerBatch: KEYS_MAX,
    waitingPerKeyMax: 1,
    itemsMax: READS_MAX,
    processTogether: async (groups) => {
      const asked = new Map(groups.map(([key]) => [nameOf(key), key]))
      try {
        const rows = await read(db, [...asked.values()])
        return groups.map(([key]) => [{ row: rows.get(nameOf(key)) }])
      } catch (error) {
        if (asked.size === 1 || isConnectionFailure(error)) throw error
        return []
      }
    },
    processAlone: async ([key]) => [{ row: (await read(db, [key])).get(nameOf(key)) }],
  })
}
