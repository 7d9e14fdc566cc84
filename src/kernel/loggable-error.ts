const STACK_LINE = /^ {4}at .*:\d+:\d+\)?$/

/**
 * The part of an error that is logged: name, code and message of its innermost cause, and the calls of the error's own
 * stack.
 *
 * Messages of wrapping errors are omitted, because the message of a failed query repeats its parameters,
 * which may be secret.
 */
export function loggableError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  let innermost = error
  while (innermost.cause instanceof Error) innermost = innermost.cause
  const code = 'code' in innermost && innermost.code !== undefined ? ` ${innermost.code}` : ''
  const calls = (error.stack ?? '').split('\n').filter((line) => STACK_LINE.test(line))
  return [`${innermost.name}${code}: ${innermost.message}`, ...calls].join('\n')
}
