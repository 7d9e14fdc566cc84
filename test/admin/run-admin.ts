import { readCommandLine } from '#src/admin/arguments.ts'
import { REGISTRY } from '#src/admin/index.ts'
import { runCommand } from '#src/admin/run.ts'
import type { Service } from '#src/app.ts'

/** Runs a command of the operator as it is typed; `--yes` does it. @returns its lines, or the words of a refusal */
export async function admin(
  { app }: Pick<Service, 'app'>,
  ...words: readonly string[]
): Promise<{
  readonly lines: readonly string[]
  readonly changed: boolean
  readonly document?: unknown
}> {
  const { command, typed, isYes } = readCommandLine(REGISTRY, words)
  const isDry = command.isRead !== true && !isYes
  return await runCommand(app, command, typed, { operator: 'olga', isDry })
}

/** The words with which a command is refused. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    (done) => `not refused: ${JSON.stringify(done)}`,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}
