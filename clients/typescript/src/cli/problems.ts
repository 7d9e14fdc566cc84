/** A mistake in a file of the user, with its line, counted from 1. */
export interface Mistake {
  readonly line: number
  readonly text: string
}

/** A file that cannot be used. Nothing was sent. */
export class FileError extends Error {
  override readonly name = 'FileError'

  constructor(file: string, mistakes: readonly Mistake[]) {
    const lines = mistakes.toSorted((one, other) => one.line - other.line)
    super(lines.map(({ line, text }) => `${file}:${line}: ${text}`).join('\n'))
  }
}

/** A problem that a person must solve before the command can go on. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
