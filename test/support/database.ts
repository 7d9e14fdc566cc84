import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { type Connection, connect } from '#src/db/connection.ts'

/** A migrated database of one test file. */
export interface FreshDatabase extends Connection {
  readonly url: string
  /** Its URL for this process, which costs less: a Unix socket, if the server has one. */
  readonly nearUrl: string
  /** Deletes all rows, which costs less than another clone. */
  empty(): Promise<void>
  /** Closes the connection and deletes the database. */
  drop(): Promise<void>
}

/**
 * Maximum number of connections of a test's own pool: enough for races. Tests that begin many statements at once would
 * open all ten of a pool, each of which reads the catalogues and plans the statements anew. `npm run test:soak` has ten.
 */
const CONNECTIONS_MAX = process.env['SOAK'] === 'whole' ? 10 : 4

/** Clones the migrated template. Call it once per test file, and `drop` at its end. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const { sql } = administration()
  const name = `watchdog_test_${randomBytes(6).toString('hex')}`
  await sql`create database ${sql(name)} template ${sql(inject('databaseTemplate'))} strategy file_copy`
  const url = withName(inject('databaseServerUrl'), name)
  const nearUrl = withName(inject('databaseNearUrl'), name)
  const connection = connect(nearUrl, { max: CONNECTIONS_MAX })
  return {
    ...connection,
    url,
    nearUrl,
    empty: () => deleteRows(connection),
    drop: async () => {
      await connection.close()
      await sql`drop database if exists ${sql(name)} with (force)`
    },
  }
}

/** Empties the tables of a clone that have rows: the migrated template has none. */
async function deleteRows({ sql }: Connection): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0`
  if (tables.length === 0) return
  const names = tables.map(({ name }) => name).join(', ')
  await sql.unsafe(`truncate ${names} restart identity cascade`)
}

let known: Connection | undefined

/** The connection that creates and deletes databases: one in a worker, which goes from file to file. */
function administration(): Connection {
  known ??= connect(inject('databaseNearUrl'), { max: 1 })
  return known
}

function withName(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
