import { setTimeout as wait } from 'node:timers/promises'

/** Waits for a time, or until the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}
