import { setTimeout as wait } from 'node:timers/promises'

/** A sleep that can be ended early. */
export interface Waker {
  wake(): void
  /** Ends after the time, when woken, immediately if woken since the last sleep, or when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export function createWaker(): Waker {
  let isWoken = false
  let timer: AbortController | undefined
  return {
    wake() {
      isWoken = true
      timer?.abort()
    },
    async sleep(ms, signal) {
      if (!isWoken) {
        timer = new AbortController()
        await pause(ms, AbortSignal.any([signal, timer.signal]))
      }
      isWoken = false
    },
  }
}

/** Ends after the time or when aborted, whichever is first. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}
