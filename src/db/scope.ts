/** State of the running transaction, available in every function that its work calls. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'

/** Abort signals that end the transactions begun in their scope. */
const ends = new AsyncLocalStorage<AbortSignal>()

/** Runs `work`; transactions begun in it lose their connection when the signal is aborted. */
export function boundTo<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return ends.run(signal, work)
}

/** The signal that ends a transaction begun here; undefined outside of `boundTo`. */
export function endSignal(): AbortSignal | undefined {
  return ends.getStore()
}

/** State of a running transaction. */
interface TransactionScope {
  /** Set when the work has ended. Calls it left running no longer belong to the transaction. */
  over: boolean
  /** Reason why the transaction must not be committed, whatever the result of its work. */
  violation: Error | undefined
}

const transactions = new AsyncLocalStorage<TransactionScope>()

/**
 * Runs the work of a transaction.
 *
 * @throws the error that `forbidInTransaction` recorded meanwhile
 */
export async function asTransaction<T>(work: () => Promise<T>): Promise<T> {
  const scope: TransactionScope = { over: false, violation: undefined }
  try {
    const result = await transactions.run(scope, work)
    if (scope.violation !== undefined) throw scope.violation
    return result
  } finally {
    scope.over = true
  }
}

/**
 * Fails the transaction in whose work it is called.
 * @returns the error; undefined outside of transactions
 */
export function forbidInTransaction(what: string): Error | undefined {
  const scope = transactions.getStore()
  if (scope === undefined || scope.over) return undefined
  scope.violation ??= new Error(`inside a database transaction: ${what}`)
  return scope.violation
}

/** Diagnostics channel with a message for each connection requested from a pool. */
export const CONNECTION_CHANNEL = 'flare-watchdog:db:connection'
const asked = channel(CONNECTION_CHANNEL)

/** Publishes that a connection of a pool was requested. */
export function asksForConnection(): void {
  if (asked.hasSubscribers) asked.publish({})
}
