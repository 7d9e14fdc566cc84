import type { Clock } from './clock.ts'

/** Cache in which concurrent callers of a key share one read. */
export interface SharedCache<Key, Value> {
  /** @throws the errors of `read`, for every waiting caller; errors are not cached */
  get(key: Key, read: () => Promise<Value>): Promise<Value>
  /** Drops the values of these keys. A read in progress is not cached either. */
  drop(isDropped: (key: Key) => boolean): void
}

/**
 * @param options `max`: maximum number of values; the oldest is dropped first. `freshMs`: time for which a
 * value is cached
 */
export function createSharedCache<Key, Value>(
  clock: Clock,
  options: { readonly max: number; freshMs(value: Value): number },
): SharedCache<Key, Value> {
  const kept = new Map<Key, { readonly value: Promise<Value>; untilMs: number }>()
  return {
    get(key, read) {
      const known = kept.get(key)
      if (known !== undefined && clock.now().getTime() < known.untilMs) return known.value
      const entry = { value: read(), untilMs: Number.POSITIVE_INFINITY }
      kept.delete(key)
      kept.set(key, entry)
      const [oldest] = kept.keys()
      if (kept.size > options.max && oldest !== undefined) kept.delete(oldest)
      entry.value.then(
        (value) => {
          entry.untilMs = clock.now().getTime() + options.freshMs(value)
        },
        () => {
          if (kept.get(key) === entry) kept.delete(key)
        },
      )
      return entry.value
    },
    drop(isDropped) {
      for (const key of [...kept.keys()].filter(isDropped)) kept.delete(key)
    },
  }
}
