import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { type Connection, connect } from '#src/db/connection.ts'

/** A migrated database of one test file. */
export interface FreshDatabase extends Connection {
  readonly url: string
  /** Closes the connection and deletes the database. */
  drop(): Promise<void>
}

/** Clones the migrated template. Call it once per test file, and `drop` at its end. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const serverUrl = inject('databaseServerUrl')
  const name = `watchdog_test_${randomBytes(6).toString('hex')}`
  await onServer(serverUrl, async ({ sql }) => {
    await sql`create database ${sql(name)} template ${sql(inject('databaseTemplate'))} strategy file_copy`
  })
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const connection = connect(url.href)
  return {
    ...connection,
    url: url.href,
    drop: async () => {
      await connection.close()
      await onServer(serverUrl, async ({ sql }) => {
        await sql`drop database if exists ${sql(name)} with (force)`
      })
    },
  }
}

async function onServer(url: string, work: (admin: Connection) => Promise<void>): Promise<void> {
  const admin = connect(url, { max: 1 })
  try {
    await work(admin)
  } finally {
    await admin.close()
  }
}
