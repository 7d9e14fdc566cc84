/** A turn further away than this is left to the outbox, so that no worker waits long. */
export const TURN_WAIT_MS_MAX = 5000

/** Spaces sends out: so far apart in all, and so far apart for each key. */
export interface RateLimiter {
  /**
   * Waits for the key's turn. Of those who wait, the most urgent goes first, then who came first.
   *
   * @returns how many milliseconds too early it is when the turn is further away than `patienceMs`;
   * no turn is taken then. undefined when it is time.
   * @throws the signal's reason when it is aborted meanwhile
   */
  turn(
    key: string,
    wish: {
      readonly patienceMs: number
      /** 0 unless given; more goes first. */
      readonly urgency?: number
      readonly signal: AbortSignal
    },
  ): Promise<number | undefined>
  /** Gives the key no turn for so long. */
  hold(key: string, ms: number): void
  /** Gives nobody a turn for so long. */
  holdAll(ms: number): void
}

/** What a pace keeps to, in milliseconds. */
interface RateLimiterOptions {
  /** Least time between two sends, whoever they are for. */
  readonly allMs: number
  /** Least time between two sends of one key. */
  readonly keyMs: number
  /** For keys that may only have so many in so long. */
  readonly windowOf?: (key: string) => { readonly count: number; readonly ms: number } | undefined
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
}

interface Key {
  nextAt: number
  /** When the last sends were, oldest first; only where there is a window. */
  readonly sentAt: number[]
}

interface Waiter {
  readonly key: string
  readonly urgency: number
  readonly until: number
  readonly end: (earlyMs: number | undefined) => void
}

/** A key is forgotten when nothing holds it back any more; so many are kept before looking. */
const KEYS_KEPT = 1000

/**
 * A pace inside this process. Long because waiting, sending and cleaning up share the state of the keys.
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
    const ahead = waiting.filter((one) => one.urgency >= urgency)
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

  /** Lets those go whose turn it is, sends away whose patience is over, and comes back for the rest. */
  function serve(): void {
    clearTimeout(timer)
    const next = () =>
      now() < nextAt ? undefined : waiting.find(({ key }) => readyAt(key) <= now())
    for (let one = next(); one !== undefined; one = next()) {
      take(one.key)
      leave(one, undefined)
    }
    for (const one of waiting.filter(({ until }) => until < now())) {
      leave(one, Math.max(1, Math.max(nextAt, readyAt(one.key)) - now()))
    }
    if (waiting.length === 0) return
    const times = waiting.map(({ key, until }) =>
      Math.min(until + 1, Math.max(nextAt, readyAt(key))),
    )
    timer = setTimeout(serve, Math.max(1, Math.ceil(Math.min(...times) - now())))
  }

  function leave(one: Waiter, earlyMs: number | undefined): void {
    waiting = waiting.filter((other) => other !== one)
    one.end(earlyMs)
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
          waiting = waiting.filter((other) => other !== one)
          reject(signal.reason)
        }
        const one: Waiter = {
          key,
          urgency,
          until: now() + patienceMs,
          end: (result) => {
            signal.removeEventListener('abort', abort)
            resolve(result)
          },
        }
        signal.addEventListener('abort', abort, { once: true })
        waiting = [...waiting, one].sort((a, b) => b.urgency - a.urgency)
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
