import { AppError } from '#src/kernel/errors.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import { isSerializationFailure } from './connection.ts'
import { FenceError } from './lock.ts'
import { isConnectionFailure } from './session.ts'

interface IsolateOptions<Item> {
  readonly quarantine: Quarantine
  /** What an item is, such as `delivery`. */
  readonly kind: string
  readonly idOf: (item: Item) => string | number
}

/**
 * Runs `work` for each item in turn. An item whose work throws is put into quarantine, and the next goes on.
 *
 * Call it outside a transaction, with one transaction per item: a failed statement would spoil the
 * transaction of the others.
 *
 * @returns the results of the items that worked, in order
 * @throws what is not the item's fault and would befall every item: a lost database connection, a
 *   dependency that is down, a stop
 */
export async function isolateEach<Item, Result>(
  items: readonly Item[],
  { quarantine, kind, idOf }: IsolateOptions<Item>,
  work: (item: Item) => Promise<Result> | Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    try {
      results.push(await work(item))
    } catch (error) {
      if (isSharedFailure(error)) throw error
      quarantine.add(kind, idOf(item), error)
    }
  }
  return results
}

/** Whether an error says nothing about the item at hand: the database, a dependency, or a stop caused it. */
export function isSharedFailure(error: unknown): boolean {
  if (error instanceof AppError) return error.kind === 'upstream'
  if (error instanceof FenceError) return true
  if (error instanceof Error && error.name === 'AbortError') return true
  return isConnectionFailure(error) || isSerializationFailure(error)
}
