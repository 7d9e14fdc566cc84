import { setTimeout as wait } from 'node:timers/promises'

/** Spaces sends out: so far apart in all, and so far apart for each key. */
export interface Pace {
  /**
   * Waits for the key's turn.
   *
   * @returns how many milliseconds too early it is when the turn is further away than `patienceMs`;
   * no turn is taken then. undefined when it is time.
   * @throws the signal's reason when it is aborted meanwhile
   */
  turn(key: string, patienceMs: number, signal: AbortSignal): Promise<number | undefined>
  /** Gives the key no turn for so long. */
  hold(key: string, ms: number): void
}

/** A key is forgotten when its next turn is long due; so many are kept before looking. */
const KEYS_KEPT = 1000

/**
 * A pace inside this process.
 *
 * @param now milliseconds on a clock that never goes back
 */
export function createPace(options: {
  readonly allMs: number
  readonly keyMs: number
  readonly now: () => number
}): Pace {
  const { allMs, keyMs, now } = options
  const nextOfKey = new Map<string, number>()
  let next = 0

  function forgetPast(): void {
    if (nextOfKey.size < KEYS_KEPT) return
    for (const [key, at] of nextOfKey) if (at < now()) nextOfKey.delete(key)
  }

  return {
    async turn(key, patienceMs, signal) {
      const present = now()
      const at = Math.max(present, next, nextOfKey.get(key) ?? 0)
      if (at - present > patienceMs) return at - present
      forgetPast()
      next = Math.max(present, next) + allMs
      nextOfKey.set(key, at + keyMs)
      if (at > present) await wait(at - present, undefined, { signal })
      return undefined
    },
    hold(key, ms) {
      nextOfKey.set(key, Math.max(nextOfKey.get(key) ?? 0, now() + ms))
    },
  }
}
