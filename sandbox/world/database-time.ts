import { connect } from '#src/db/connection.ts'

/** The time that a database shows, ahead of its server's. */
export interface DatabaseTime {
  /**
   * Sets by how much it is ahead.
   *
   * @param meanwhile sets the clocks that agree with it; nobody reads the database's time while it runs
   */
  setAhead(ms: number, meanwhile: () => void): Promise<void>
  close(): Promise<void>
}

/** Number of the advisory lock of the database's time. */
const LOCK = 20_261_126

/**
 * `clock_timestamp()` of this schema comes before that of `pg_catalog`, so that every statement without a schema calls it.
 * The value of a sequence belongs to no transaction: a change is seen at once, also by those that are running.
 */
const INSTALL = `
  create schema sandbox;
  create sequence sandbox.ahead_ms minvalue 0 start 0;
  create function sandbox.clock_timestamp() returns timestamptz language plpgsql volatile as $$
    declare ahead bigint;
    begin
      perform pg_catalog.pg_advisory_lock_shared(${LOCK});
      select last_value into ahead from sandbox.ahead_ms;
      perform pg_catalog.pg_advisory_unlock_shared(${LOCK});
      return pg_catalog.clock_timestamp() + ahead * interval '1 millisecond';
    end
  $$;
  do $$ begin
    execute pg_catalog.format('alter database %I set search_path = public, sandbox, pg_catalog', current_database());
  end $$;`

/**
 * Makes the time of a new database movable, for connections that are opened afterwards. The service reads that time by
 * `clock_timestamp()` alone.
 */
export async function createDatabaseTime(url: string): Promise<DatabaseTime> {
  const connection = connect(url)
  const { sql } = connection
  await sql.unsafe(INSTALL)
  return {
    setAhead: async (ms, meanwhile) => {
      // One connection has the lock, which it loses if it breaks.
      const session = await sql.reserve()
      try {
        await session`select pg_advisory_lock(${LOCK})`
        try {
          await session`select setval('sandbox.ahead_ms', ${Math.round(ms)})`
          meanwhile()
        } finally {
          await session`select pg_advisory_unlock(${LOCK})`
        }
      } finally {
        session.release()
      }
    },
    close: () => connection.close(),
  }
}
