import { AppError } from '#src/kernel/errors.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import { isSerializationFailure } from './connection.ts'
import { FenceError } from './leases.ts'
import { isConnectionFailure } from './session.ts'

interface IsolateOptions<Item> {
  readonly quarantine: Quarantine
  /** Kind of the items, such as `delivery`. */
  readonly kind: string
  readonly idOf: (item: Item) => string | number
  /** Further fields of the log line of a failed item. */
  readonly about?: (item: Item) => Record<string, unknown>
}

/**
 * Runs `work` for each item in turn. An item whose work throws is put into quarantine, and the next item
 * follows.
 *
 * Call it outside a transaction, with one transaction per item: a failed statement would abort the
 * transaction of the others.
 *
 * @returns the results of the items that worked, in order
 * @throws a failure that would affect every item: a lost database connection, an unavailable dependency, a
 * stop
 */
export async function isolateEach<Item, Result>(
  items: readonly Item[],
  { quarantine, kind, idOf, about }: IsolateOptions<Item>,
  work: (item: Item) => Promise<Result> | Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    try {
      results.push(await work(item))
    } catch (error) {
      if (isSharedFailure(error)) throw error
      quarantine.add(kind, idOf(item), error, about?.(item))
    }
  }
  return results
}

/**
 * Runs `work` for all items at once. If it throws, runs it for each half of them, and so on down to single items, for
 * which `setAside` is called.
 *
 * Each run must be a transaction or a savepoint of its own, because a failed statement would abort the others.
 *
 * @throws what `setAside` throws, and failures that would affect every item
 */
export async function isolateHalves<Item>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<void>,
  setAside: (item: Item, error: unknown) => Promise<void> | void,
): Promise<void> {
  const [first, ...others] = items
  if (first === undefined) return
  try {
    await work(items)
  } catch (error) {
    if (isSharedFailure(error)) throw error
    if (others.length === 0) return await setAside(first, error)
    const middle = Math.ceil(items.length / 2)
    await isolateHalves(items.slice(0, middle), work, setAside)
    await isolateHalves(items.slice(middle), work, setAside)
  }
}

/** Whether an error has a cause that every item shares: the database, a dependency, or a stop. */
export function isSharedFailure(error: unknown): boolean {
  if (error instanceof AppError) return error.kind === 'upstream'
  if (error instanceof FenceError) return true
  if (error instanceof Error && error.name === 'AbortError') return true
  return isConnectionFailure(error) || isSerializationFailure(error)
}
