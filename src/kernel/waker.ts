import { pause } from './pause.ts'

/** A sleep that can be ended early. */
export interface Waker {
  wake(): void
  /** Waits for a time, or until `wake` is called or the signal aborts. Returns at once if `wake` was called since the last `reset`. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** Ignores the calls of `wake` so far, so that the next `sleep` waits. */
  reset(): void
}

export function createWaker(): Waker {
  let isWoken = false
  let sleeping: AbortController | undefined
  return {
    wake() {
      // An abort costs time, and the first wake-up has already ended the sleep.
      if (isWoken) return
      isWoken = true
      sleeping?.abort()
    },
    async sleep(ms, signal) {
      if (isWoken) return
      sleeping = new AbortController()
      await pause(ms, AbortSignal.any([signal, sleeping.signal]))
    },
    reset() {
      isWoken = false
    },
  }
}
