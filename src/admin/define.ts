import type { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import type { App } from '#src/operations/define.ts'

/** Where a command runs: in a transaction, which a dry run rolls back. */
export interface CommandContext {
  /** The parts of the service; `db` is the transaction. */
  readonly app: App
  readonly at: Date
}

/** What a command did, in words for the operator. */
export interface CommandOutcome {
  /** Whether it changed something; false where it had been done before, and of commands that only read. */
  readonly changed: boolean
  readonly lines: readonly string[]
  /** What is written to standard output instead of the lines, as JSON. */
  readonly document?: unknown
}

/** A command of `npm run admin`. */
export interface AdminCommand<Input, Prepared> {
  readonly name: string
  /** Names of the values that follow the name, in order. */
  readonly values: readonly string[]
  /** What it does, in one sentence. */
  readonly about: string
  /** Whether it only reads: then it runs without `--yes`. */
  readonly isRead?: true
  /** Decodes values and options by name, as typed. */
  readonly input: z.ZodType<Input>
  /** Requests data from outside the database, before the transaction. */
  prepare?(app: App, input: Input): Promise<Prepared>
  /**
   * @param count sum of what the parts counted
   * @throws OperatorError, AppError
   */
  run(
    context: CommandContext,
    input: Input,
    prepared: Prepared,
    count: number,
  ): Promise<CommandOutcome>
  /**
   * Parts of the work before `run`, for work on all wallets: each in a transaction of its own. Repeated after a kill, they
   * do what is left. Each returns a count.
   */
  parts?(app: App, input: Input): AsyncIterable<(tx: Db) => Promise<number>>
}

/** Any command. Inputs pass its schema before it runs. */
export type AnyCommand = AdminCommand<unknown, unknown>

/** Defines a command. */
export function defineCommand<Input, Prepared = undefined>(
  command: AdminCommand<Input, Prepared>,
): AdminCommand<Input, Prepared> {
  return command
}
