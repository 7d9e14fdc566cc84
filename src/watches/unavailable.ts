import { AppError } from '#src/kernel/errors.ts'

/** What the chain says; undefined when it does not answer, where that is an answer too. */
export async function undefinedIfUnavailable<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof AppError && error.kind === 'upstream') return undefined
    throw error
  }
}
