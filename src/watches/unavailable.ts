import { AppError } from '#src/kernel/errors.ts'

/**
 * Returns the result of a call to the chain; undefined when the chain does not answer, or the signal aborts first. For
 * callers that can go on without an answer.
 */
export async function undefinedIfUnavailable<T>(
  ask: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof AppError && error.kind === 'upstream') return undefined
    if (signal?.aborted === true) return undefined
    throw error
  }
}
