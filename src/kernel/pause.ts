import { setTimeout as wait } from 'node:timers/promises'

/** Ends after the time or when aborted, whichever is first. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}
