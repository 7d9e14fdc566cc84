/** What belongs to the transaction whose work is going on, wherever that work calls. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'

/** Signals that end the transactions begun below them. */
const ends = new AsyncLocalStorage<AbortSignal>()

/** Runs `work`; transactions that it begins lose their connection when the signal is aborted. */
export function boundTo<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return ends.run(signal, work)
}

/** The signal that ends a transaction begun here, if there is one. */
export function endSignal(): AbortSignal | undefined {
  return ends.getStore()
}

/** A transaction at work. */
interface TransactionScope {
  /** Its work has come to an end. What it left running belongs to nobody. */
  over: boolean
  /** Why it must not be committed, whatever its work says. */
  violation: Error | undefined
}

const transactions = new AsyncLocalStorage<TransactionScope>()

/**
 * Runs the work of a transaction.
 *
 * @throws what `forbidInTransaction` was told meanwhile
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

/** Fails the transaction at whose work this is called. @returns the error; undefined outside of any */
export function forbidInTransaction(what: string): Error | undefined {
  const scope = transactions.getStore()
  if (scope === undefined || scope.over) return undefined
  scope.violation ??= new Error(`inside a database transaction: ${what}`)
  return scope.violation
}

/** Published on whenever somebody asks a pool for a connection. */
export const CONNECTION_CHANNEL = 'flare-watchdog:db:connection'
const asked = channel(CONNECTION_CHANNEL)

/** Says that somebody asks a pool for a connection. */
export function asksForConnection(): void {
  if (asked.hasSubscribers) asked.publish({})
}
