/**
 * Maximum time for which a send waits for its turn. A send with a longer wait goes back to the outbox, so
 * that no worker waits long.
 */
export const TURN_WAIT_MS_MAX = 5000

/** Spaces sends by a minimum interval, in total and per key. */
export interface RateLimiter {
  /**
   * Waits for the key's turn. Among waiters the most urgent goes first, then the first to wait.
   *
   * @returns milliseconds until the turn if it is further away than `patienceMs` (no turn is taken then);
   * undefined when it is the key's turn
   * @throws the signal's reason when it is aborted
   */
  turn(
    key: string,
    request: {
      readonly patienceMs: number
      /** Sends with a higher urgency go first; 0 by default. */
      readonly urgency?: number
      readonly signal: AbortSignal
    },
  ): Promise<number | undefined>
  /** Blocks the key for this time. */
  hold(key: string, ms: number): void
  /** Blocks all keys for this time. */
  holdAll(ms: number): void
}

/** Intervals of a rate limiter, in milliseconds. */
interface RateLimiterOptions {
  /** Minimum interval between two sends. */
  readonly allMs: number
  /** Minimum interval between two sends of one key. */
  readonly keyMs: number
  /** Maximum count per window, for keys that have one. */
  readonly windowOf?: (key: string) => { readonly count: number; readonly ms: number } | undefined
  /** Monotonic clock in milliseconds. */
  readonly now: () => number
}

interface Key {
  nextAt: number
  /** Times of the last sends, oldest first; only for keys with a window. */
  readonly sentAt: number[]
}

interface Waiter {
  readonly key: string
  readonly urgency: number
  readonly until: number
  readonly end: (earlyMs: number | undefined) => void
}

/** Number of keys beyond which keys without an active limit are removed. */
const KEYS_KEPT = 1000

/**
 * Creates a rate limiter for this process. Long because waiting, sending and cleaning up share the state of
 * the keys.
 */
export function createRateLimiter({
  allMs,
  keyMs,
  windowOf = () => undefined,
  now,
}: RateLimiterOptions): RateLimiter {
  const keys = new Map<string, Key>()
  let waiting: Waiter[] = []
  let nextAt = 0
  let timer: NodeJS.Timeout | undefined

  function readyAt(name: string): number {
    const key = keys.get(name)
    const window = windowOf(name)
    const first = window && key?.sentAt.at(-window.count)
    const windowAt = window && first !== undefined ? first + window.ms : 0
    return Math.max(key?.nextAt ?? 0, windowAt)
  }

  function expectedAt(name: string, urgency: number): number {
    const ahead = waiting.filter((waiter) => waiter.urgency >= urgency)
    const same = ahead.filter(({ key }) => key === name)
    return Math.max(nextAt + ahead.length * allMs, readyAt(name) + same.length * keyMs)
  }

  function take(name: string): void {
    forgetPast()
    const at = now()
    nextAt = Math.max(nextAt, at - allMs) + allMs
    const key = keys.get(name) ?? { nextAt: 0, sentAt: [] }
    keys.set(name, key)
    key.nextAt = at + keyMs
    const window = windowOf(name)
    if (window === undefined) return
    key.sentAt.push(at)
    if (key.sentAt.length > window.count) key.sentAt.shift()
  }

  function forgetPast(): void {
    if (keys.size < KEYS_KEPT) return
    for (const name of keys.keys()) if (readyAt(name) < now()) keys.delete(name)
  }

  /**
   * Resolves waiting calls whose turn it is, rejects calls whose patience is over, and schedules the next
   * run.
   */
  function serve(): void {
    clearTimeout(timer)
    const next = () =>
      now() < nextAt ? undefined : waiting.find(({ key }) => readyAt(key) <= now())
    for (let waiter = next(); waiter !== undefined; waiter = next()) {
      take(waiter.key)
      leave(waiter, undefined)
    }
    for (const waiter of waiting.filter(({ until }) => until < now())) {
      leave(waiter, Math.max(1, Math.max(nextAt, readyAt(waiter.key)) - now()))
    }
    if (waiting.length === 0) return
    const times = waiting.map(({ key, until }) =>
      Math.min(until + 1, Math.max(nextAt, readyAt(key))),
    )
    timer = setTimeout(serve, Math.max(1, Math.ceil(Math.min(...times) - now())))
  }

  function leave(waiter: Waiter, earlyMs: number | undefined): void {
    waiting = waiting.filter((other) => other !== waiter)
    waiter.end(earlyMs)
  }

  return {
    async turn(key, { patienceMs, urgency = 0, signal }) {
      signal.throwIfAborted()
      const earlyMs = expectedAt(key, urgency) - now()
      if (earlyMs > patienceMs) return earlyMs
      if (earlyMs <= 0) {
        take(key)
        return undefined
      }
      return await new Promise((resolve, reject) => {
        const abort = () => {
          waiting = waiting.filter((other) => other !== waiter)
          reject(signal.reason)
        }
        const waiter: Waiter = {
          key,
          urgency,
          until: now() + patienceMs,
          end: (result) => {
            signal.removeEventListener('abort', abort)
            resolve(result)
          },
        }
        signal.addEventListener('abort', abort, { once: true })
        waiting = [...waiting, waiter].sort((a, b) => b.urgency - a.urgency)
        serve()
      })
    },
    hold(key, ms) {
      const known = keys.get(key) ?? { nextAt: 0, sentAt: [] }
      keys.set(key, known)
      known.nextAt = Math.max(known.nextAt, now() + ms)
    },
    holdAll(ms) {
      nextAt = Math.max(nextAt, now() + ms)
    },
  }
}
