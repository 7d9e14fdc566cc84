import { join } from 'node:path'
import { type Config, ConfigError, loadConfig } from '#src/config.ts'
import { openBeside } from '#src/db/embedded/running.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { createLogger } from '#src/log.ts'
import { examine } from './examine.ts'
import { lineOf } from './finding.ts'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')
const EXIT_MS = 1000

/** `npm run doctor`: asks everything that the configuration points to; one line each. Exit code 1 if something is wrong. */
async function run(config: Config): Promise<void> {
  await using undo = new AsyncDisposableStack()
  // The findings alone are on standard output.
  const logger = createLogger('warn', { write: (text) => process.stderr.write(text) })
  const databaseUrl = await openBeside(config.database, { logger, undo })
  const findings = await examine(config, {
    clock: systemClock,
    databaseUrl,
    migrations: MIGRATIONS,
  })
  for (const finding of findings) process.stdout.write(`${lineOf(finding)}\n`)
  const count = (level: string) => findings.filter((finding) => finding.level === level).length
  process.stdout.write(`${count('wrong')} wrong, ${count('warn')} warnings, ${count('ok')} ok\n`)
  process.exitCode = count('wrong') > 0 ? 1 : 0
}

try {
  await run(loadConfig(process.env))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  for (const problem of error.problems) process.stdout.write(`WRONG configuration: ${problem}\n`)
  process.exitCode = 1
}
// A mail server that does not end its connection would keep the process.
setTimeout(() => process.exit(), EXIT_MS).unref()
