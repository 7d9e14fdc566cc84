import { AppError } from '#src/kernel/errors.ts'

/**
 * Returns the result of a call to the chain, or undefined when the chain does not answer before the signal
 * aborts. For callers that treat a missing answer as a result.
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
