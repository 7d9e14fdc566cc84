/** What the doctor asks the database. */
import { msAheadOfDatabase } from '#src/db/clock.ts'
import { connect } from '#src/db/connection.ts'
import { countPending } from '#src/db/migrate.ts'
import { postgresError } from '#src/db/session.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { type Finding, ok, warn, wrong } from './finding.ts'
import { type DatabaseFacts, readDatabaseFacts, tryToWrite } from './store.ts'

const SUBJECT = 'database'
const MAJOR_MIN = 14
/** Connections of a process with all roles, with some room. */
const CONNECTIONS_MIN = 40
const CLOCK_SECONDS_MAX = 5

/** Examines the database at `url`. */
export async function examineDatabase(
  url: string,
  { clock, migrations }: { readonly clock: Clock; readonly migrations: string },
): Promise<readonly Finding[]> {
  const connection = connect(url, { max: 1, waitMs: 10_000, answerMs: 10_000 })
  try {
    const facts = await readDatabaseFacts(connection.sql)
    const aheadMs = await msAheadOfDatabase({ db: connection.db, clock })
    const findings = judgeDatabase({ ...facts, aheadMs })
    const written = facts.isReadOnly ? [] : await writing(tryToWrite(connection.sql))
    return [...findings, ...written, ...(await migrated(countPending(connection.sql, migrations)))]
  } catch (error) {
    const why = postgresError(error)?.message ?? (error instanceof Error ? error.message : '')
    return [
      wrong(
        SUBJECT,
        `cannot be used (${why.slice(0, 160)})`,
        'check DATABASE_URL: host, name, user, password and TLS',
      ),
    ]
  } finally {
    await connection.close(1000)
  }
}

/** Judges what the database says of itself, and how far the clock of this host is ahead of its own. Pure. */
export function judgeDatabase({
  version,
  major,
  connectionsMax,
  isReadOnly,
  canCreate,
  aheadMs,
}: DatabaseFacts & { readonly aheadMs: number }): readonly Finding[] {
  const ahead = Math.round(aheadMs / 1000)
  return [
    major < MAJOR_MIN
      ? wrong(SUBJECT, `PostgreSQL ${version} is too old`, `use PostgreSQL ${MAJOR_MIN} or newer`)
      : ok(SUBJECT, `PostgreSQL ${version}`),
    ...(isReadOnly
      ? [wrong(SUBJECT, 'is read-only: a standby, or set so', 'give DATABASE_URL the primary')]
      : []),
    ...(canCreate
      ? []
      : [
          wrong(
            SUBJECT,
            'its user may create no tables',
            'grant create on schema public, or make it the owner of the database',
          ),
        ]),
    ...(connectionsMax < CONNECTIONS_MIN
      ? [
          warn(
            SUBJECT,
            `allows ${connectionsMax} connections; a process uses up to 31`,
            'raise max_connections',
          ),
        ]
      : []),
    Math.abs(ahead) > CLOCK_SECONDS_MAX
      ? wrong(
          'clock',
          `of this host is ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} that of the database`,
          'synchronize both with NTP',
        )
      : ok('clock', 'agrees with that of the database'),
  ]
}

async function writing(written: Promise<void>): Promise<readonly Finding[]> {
  try {
    await written
    return [ok(SUBJECT, 'can be written')]
  } catch (error) {
    const why = postgresError(error)?.message ?? 'no answer'
    return [
      wrong(SUBJECT, `cannot be written (${why})`, 'look at its disk and the rights of its user'),
    ]
  }
}

async function migrated(pending: Promise<number>): Promise<readonly Finding[]> {
  const count = await pending.catch(() => undefined)
  if (count === 0) return [ok(SUBJECT, 'is up to date')]
  const what = count === undefined ? 'has no tables yet' : `lacks ${count} migrations`
  return [warn(SUBJECT, what, 'nothing: the next start migrates it, or npm run migrate')]
}
