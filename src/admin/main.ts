import { userInfo } from 'node:os'
import { join } from 'node:path'
import { createApp } from '#src/app.ts'
import { type Config, ConfigError, loadConfig } from '#src/config.ts'
import { openBeside } from '#src/db/embedded/running.ts'
import { countPending } from '#src/db/migrate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { OperatorError } from '#src/kernel/operator-error.ts'
import { createLogger } from '#src/log.ts'
import { readCommandLine, usageOf } from './arguments.ts'
import { REGISTRY } from './index.ts'
import { runCommand } from './run.ts'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')

/** `npm run admin -- <command>`: what an operator does to accounts, payments and messages. */
async function run(config: Config, args: readonly string[]): Promise<void> {
  const line = readCommandLine(REGISTRY, args)
  const { command, typed } = line
  // The result alone is on standard output.
  const log = createLogger('warn', { write: (text) => process.stderr.write(text) })
  await using undo = new AsyncDisposableStack()
  const databaseUrl = await openBeside(config.database, { logger: log, undo })
  const service = createApp(config, { databaseUrl, log })
  undo.defer(() => service.stop())
  const pending = await countPending(service.sql, MIGRATIONS)
  if (pending > 0) throw new OperatorError('the database lacks migrations: npm run migrate')
  const isDry = command.isRead !== true && !line.isYes
  const operator = line.by ?? userInfo().username
  const { lines, document } = await runCommand(service.app, command, typed, { operator, isDry })
  if (document !== undefined) process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
  const output = document === undefined ? process.stdout : process.stderr
  for (const text of lines) output.write(`${text}\n`)
  if (isDry) output.write('nothing was changed: this was a dry run; add --yes to do it\n')
}

function help(): string {
  const commands = REGISTRY.map((command) => `  ${usageOf(command)}\n      ${command.about}`)
  return [
    'npm run admin -- <command> … [--by <name>] [--yes]',
    'Without --yes a command that changes something is a dry run.',
    '',
    ...commands,
    '',
  ].join('\n')
}

const args = process.argv.slice(2)
try {
  if (args.length === 0 || args.includes('--help')) process.stdout.write(help())
  else await run(loadConfig(process.env), args)
} catch (error) {
  process.exitCode = 1
  if (error instanceof ConfigError) process.stderr.write(`${error.problems.join('\n')}\n`)
  else if (error instanceof OperatorError) process.stderr.write(`${error.message}\n`)
  else if (error instanceof AppError) process.stderr.write(`${error.code}\n`)
  else throw error
}
