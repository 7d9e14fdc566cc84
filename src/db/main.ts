import { join } from 'node:path'
import { type Config, ConfigError, loadConfig } from '#src/config.ts'
import { createLogger } from '#src/log.ts'
import { connect, waitForDatabase } from './connection.ts'
import { startEmbedded } from './embedded/embedded.ts'
import { migrate } from './migrate.ts'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')
const DATABASE_DEADLINE_MS = 60_000

/** `npm run migrate`: applies the migrations to the service's database and ends. */
async function run({ database, logLevel }: Config): Promise<void> {
  const logger = createLogger(logLevel)
  const { dataDir } = database
  const embedded = database.url === undefined ? await startEmbedded({ dataDir, logger }) : undefined
  const { sql, close } = connect(database.url ?? embedded?.url ?? '', { max: 1 })
  try {
    await waitForDatabase(sql, { deadlineMs: DATABASE_DEADLINE_MS, logger })
    await migrate(sql, MIGRATIONS)
    logger.info({ folder: MIGRATIONS }, 'the database is up to date')
  } finally {
    await close()
    await embedded?.stop()
  }
}

try {
  await run(loadConfig(process.env))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  for (const problem of error.problems) process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}
