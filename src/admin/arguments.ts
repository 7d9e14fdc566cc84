/** Reads the command line of `npm run admin`. Pure. */
import { OperatorError } from '#src/kernel/operator-error.ts'
import type { AnyCommand } from './define.ts'

/** A command with its values and options as typed. */
export interface CommandLine {
  readonly command: AnyCommand
  readonly typed: Readonly<Record<string, string | boolean>>
  /** Whether it may change something: `--yes`. */
  readonly isYes: boolean
  /** Name of the operator: `--by`; undefined if it was not said. */
  readonly by: string | undefined
}

/**
 * Reads the arguments after the program.
 * @throws OperatorError when the command is unknown, or a value is missing or too many
 */
export function readCommandLine(
  registry: readonly AnyCommand[],
  [name = '', ...rest]: readonly string[],
): CommandLine {
  const command = registry.find((one) => one.name === name)
  if (command === undefined) throw new OperatorError(`there is no command “${name}”`)
  const values: string[] = []
  const options: Record<string, string | boolean> = {}
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? ''
    if (!word.startsWith('--')) {
      values.push(word)
      continue
    }
    const next = rest[at + 1]
    const isAlone = next === undefined || next.startsWith('--')
    options[word.slice(2)] = isAlone ? true : next
    if (!isAlone) at += 1
  }
  if (values.length !== command.values.length) {
    throw new OperatorError(`“${name}” takes ${command.values.length} values: ${usageOf(command)}`)
  }
  const { yes, by, ...others } = options
  // What follows --yes is no value of it: values stand before options.
  if (yes !== undefined && yes !== true)
    throw new OperatorError('--yes takes no value; write it last')
  const named = Object.fromEntries(command.values.map((key, place) => [key, values[place] ?? '']))
  return {
    command,
    typed: { ...others, ...named },
    isYes: yes === true,
    by: typeof by === 'string' ? by : undefined,
  }
}

/** How a command is written. */
export function usageOf({ name, values }: Pick<AnyCommand, 'name' | 'values'>): string {
  return [name, ...values.map((value) => `<${value}>`)].join(' ')
}
