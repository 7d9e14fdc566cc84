import { createWorkLimiter, type WorkLimiter, type WorkLimits } from './work-limiter.ts'

/** Limits the concurrent work of each key and of all keys together. */
export interface KeyedLimiter {
  /**
   * @throws the errors of `WorkLimiter.take`, with the refusal of the key's limits or of the limits of all
   * keys
   */
  take<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/**
 * Limits the work of each key first: further work of the key waits for the key's running work, and takes no
 * place in the queue of all keys. So if each key runs one piece of work at a time, a key with much work
 * delays another key by one piece at most.
 */
export function createKeyedLimiter(limits: {
  readonly each: WorkLimits
  readonly all: WorkLimits
}): KeyedLimiter {
  const total = createWorkLimiter(limits.all)
  const keys = new Map<string, { readonly turns: WorkLimiter; count: number }>()
  return {
    async take(key, work, signal) {
      const limiter = keys.get(key) ?? { turns: createWorkLimiter(limits.each), count: 0 }
      keys.set(key, limiter)
      limiter.count += 1
      try {
        return await limiter.turns.take(() => total.take(work, signal), signal)
      } finally {
        limiter.count -= 1
        if (limiter.count === 0) keys.delete(key)
      }
    },
  }
}
