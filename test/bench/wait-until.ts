import { setTimeout as wait } from 'node:timers/promises'

const PATIENCE_MS = 300_000
const LOOK_MS = 20

/**
 * Waits for a condition.
 * @throws Error that names the condition, after five minutes
 */
export async function waitUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > endsAt) throw new Error(`in vain: ${what}`)
    await wait(LOOK_MS)
  }
}
