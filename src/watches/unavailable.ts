import { AppError } from '#src/kernel/errors.ts'

/**
 * Result of a call to the chain; undefined when the chain does not answer, or not before the signal aborts,
 * for callers that treat that as a result.
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
