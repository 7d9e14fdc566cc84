/** Mails or webhook requests that a stand-in received, and the callers that wait for one. */
export interface ReceivedItems<Item> {
  /** All items, oldest first. */
  readonly all: readonly Item[]
  add(item: Item): void
  clear(): void
  /**
   * Returns the first matching item, and waits for it if it was not received yet.
   *
   * @throws Error that lists the items received instead, after the timeout or on close
   */
  waitFor(fits: (item: Item) => boolean, timeoutMs?: number): Promise<Item>
  /** Calls the listener on every change. The returned function ends that. */
  subscribe(listener: () => void): () => void
  /** Notifies every listener of a change. */
  announce(): void
  /** Rejects all waiters. */
  close(): void
}

interface Waiting<Item> {
  readonly fits: (item: Item) => boolean
  readonly resolve: (item: Item) => void
  readonly reject: (reason: string) => void
}

/**
 * Creates an empty list of received items.
 *
 * @param noun kind of the items, for error messages
 * @param describe returns a short line about an item, for error messages
 */
export function createReceivedItems<Item>(
  noun: string,
  describe: (item: Item) => string,
): ReceivedItems<Item> {
  const all: Item[] = []
  const waiting = new Set<Waiting<Item>>()
  const listeners = new Set<() => void>()
  const announce = () => {
    for (const listener of listeners) listener()
  }
  const failure = (reason: string) => {
    const others = all.map((item) => `\n  ${describe(item)}`).join('')
    return new Error(
      `no such ${noun} ${reason}; there ${all.length === 0 ? 'is none' : `is${others}`}`,
    )
  }
  return {
    all,
    add: (item) => {
      all.push(item)
      for (const waiter of waiting) if (waiter.fits(item)) waiter.resolve(item)
      announce()
    },
    clear: () => {
      all.length = 0
      announce()
    },
    waitFor: async (fits, timeoutMs = 5_000) => {
      const here = all.find(fits)
      if (here !== undefined) return here
      const { promise, resolve, reject } = Promise.withResolvers<Item>()
      const waiter: Waiting<Item> = { fits, resolve, reject: (reason) => reject(failure(reason)) }
      const timer = setTimeout(() => waiter.reject(`within ${timeoutMs} ms`), timeoutMs)
      waiting.add(waiter)
      try {
        return await promise
      } finally {
        clearTimeout(timer)
        waiting.delete(waiter)
      }
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    announce,
    close: () => {
      for (const waiter of waiting) waiter.reject('before it closed')
      listeners.clear()
    },
  }
}
