/** Runs a command of the operator: with its audit in one transaction, or as a rehearsal that leaves nothing. */
import { type Db, transact } from '#src/db/connection.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { OperatorError } from '#src/kernel/operator-error.ts'
import type { App } from '#src/operations/define.ts'
import type { AnyCommand, CommandOutcome } from './define.ts'
import { insertAct } from './store.ts'

class Rehearsed extends Error {}

/** How a command is run. */
export interface RunOptions {
  /** Name of the operator, for the audit. */
  readonly operator: string
  /** Whether everything is rolled back at the end, so that nothing happens. */
  readonly isDry: boolean
}

/**
 * Runs a command. What it did and its line of the audit are committed together.
 *
 * @param typed values and options by name, as typed
 * @throws OperatorError with what is wrong; other errors of the verbs
 */
export async function runCommand(
  app: App,
  command: AnyCommand,
  typed: Readonly<Record<string, unknown>>,
  options: RunOptions,
): Promise<CommandOutcome> {
  const input = decode(command, typed)
  const prepared = await command.prepare?.(app, input)
  let count = 0
  for await (const part of command.parts?.(app, input) ?? []) {
    count += await inTransaction(app.db, options, part)
  }
  const at = app.clock.now()
  return await inTransaction(app.db, options, async (tx) => {
    const log = options.isDry ? silentLogger : app.log
    const inside = { ...app, db: tx, log }
    const outcome = await command.run({ app: inside, at }, input, prepared, count)
    const { changed, lines: result } = outcome
    const { operator } = options
    await insertAct(tx, { at, operator, command: command.name, input: typed, changed, result })
    return outcome
  })
}

function decode(command: AnyCommand, typed: Readonly<Record<string, unknown>>): unknown {
  const parsed = command.input.safeParse(typed)
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map(({ path, code, message }) => {
    const name = path.join('.')
    if (code === 'unrecognized_keys') return message
    if (typed[name] === undefined) return `${name} is missing`
    return `${name} is wrong: ${code === 'custom' ? 'no valid address' : message}`
  })
  throw new OperatorError([...new Set(lines)].join('\n'))
}

/** Runs work in a transaction; a dry one is rolled back. */
async function inTransaction<T>(
  db: Db,
  { isDry }: RunOptions,
  work: (tx: Db) => Promise<T>,
): Promise<T> {
  let result: { readonly value: T } | undefined
  try {
    return await transact(db, async (tx) => {
      const value = await work(tx)
      if (!isDry) return value
      result = { value }
      throw new Rehearsed()
    })
  } catch (error) {
    if (error instanceof Rehearsed && result !== undefined) return result.value
    throw error
  }
}
