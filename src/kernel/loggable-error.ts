const CALL = /^ {4}at .*:\d+:\d+\)?$/

/**
 * The part of an error that is logged: name, code and message of its first cause, and the stack.
 *
 * Messages of wrapping errors are omitted, because the message of a failed query repeats its parameters,
 * which may be secret.
 */
export function loggableError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  let first = error
  while (first.cause instanceof Error) first = first.cause
  const code = 'code' in first && first.code !== undefined ? ` ${first.code}` : ''
  const calls = (error.stack ?? '').split('\n').filter((line) => CALL.test(line))
  return [`${first.name}${code}: ${first.message}`, ...calls].join('\n')
}
