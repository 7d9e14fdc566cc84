import type { Sql } from '#src/db/connection.ts'

/** What the database says of itself. */
export interface DatabaseFacts {
  /** Such as `18.4`. */
  readonly version: string
  readonly major: number
  /** Connections that it allows in all. */
  readonly connectionsMax: number
  readonly isReadOnly: boolean
  readonly canCreate: boolean
}

/** Reads the facts. @throws errors of the connection */
export async function readDatabaseFacts(sql: Sql): Promise<DatabaseFacts> {
  const [row] = await sql<
    { version: string; num: number; max: number; readonly: boolean; create: boolean }[]
  >`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as num,
      current_setting('max_connections')::int as max,
      pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as readonly,
      has_schema_privilege(current_user, 'public', 'create') as create`
  if (row === undefined) throw new Error('the database returned nothing')
  return {
    version: row.version,
    major: Math.floor(row.num / 10_000),
    connectionsMax: row.max,
    isReadOnly: row.readonly,
    canCreate: row.create,
  }
}

/** Whether another transaction can write, and undoes it: a full disk refuses here. @throws why it cannot */
export async function tryToWrite(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`create temporary table doctor_write (text text) on commit drop`
    await tx`insert into doctor_write values (repeat('x', 8192))`
  })
}
