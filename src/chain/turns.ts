import { AppError } from '#src/kernel/errors.ts'

/** Lets so many do something at once, and others wait for their turn. */
export interface Turns {
  /** Runs `work` when it is its turn. @throws AppError upstream `dependency_unavailable` when too many wait */
  take<T>(work: () => Promise<T>): Promise<T>
}

const RETRY_AFTER_SECONDS = 5

/** @param waitingMax how many may wait at once: more are refused, so that a queue never outlives its callers */
export function createTurns(limits: {
  readonly atOnce: number
  readonly waitingMax: number
}): Turns {
  const waiting: (() => void)[] = []
  let busy = 0
  return {
    async take(work) {
      if (busy < limits.atOnce) busy += 1
      else {
        if (waiting.length >= limits.waitingMax) {
          const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
          throw new AppError('upstream', 'dependency_unavailable', details)
        }
        // Whoever has had a turn hands it on, so `busy` stays as it is.
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) busy -= 1
        else next()
      }
    },
  }
}
