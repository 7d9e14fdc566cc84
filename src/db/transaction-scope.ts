/** State of the running transaction, which is available in every function that its work calls. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** The signal that ends the transactions that are begun in the current async context. */
const ends = new AsyncLocalStorage<AbortSignal>()

/** Runs `work`; transactions begun in it lose their connection when the signal is aborted. */
export function withEndSignal<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return ends.run(signal, work)
}

/** The signal that ends a transaction begun here; undefined outside of `withEndSignal`. */
export function transactionEndSignal(): AbortSignal | undefined {
  return ends.getStore()
}

/** State of a running transaction. */
interface TransactionScope {
  /** Set when the work has ended. Calls that are still running no longer belong to the transaction. */
  isOver: boolean
  /** Reason why the transaction must not be committed, whatever the result of its work. */
  violation: Error | undefined
  /** Functions to call when the transaction is committed. */
  readonly effects: (() => void)[]
}

const transactions = new AsyncLocalStorage<TransactionScope>()

/**
 * Runs the work of a transaction.
 *
 * @returns the result, and the effects that `afterCommit` collected meanwhile
 * @throws the error that `forbidInTransaction` recorded meanwhile
 */
export async function runInTransactionScope<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly effects: readonly (() => void)[] }> {
  const scope: TransactionScope = { isOver: false, violation: undefined, effects: [] }
  try {
    const result = await transactions.run(scope, work)
    if (scope.violation !== undefined) throw scope.violation
    return { result, effects: scope.effects }
  } finally {
    scope.isOver = true
  }
}

/**
 * Calls `effect` when the current transaction is committed; never if the transaction is rolled back, and at
 * once outside of transactions. Write what must not be lost as a row in the transaction: effects are lost if the process
 * stops after the commit.
 *
 * @param effect must not throw
 */
export function afterCommit(effect: () => void): void {
  const scope = transactions.getStore()
  if (scope === undefined || scope.isOver) effect()
  else scope.effects.push(effect)
}

/** Runs the part of a transaction since a savepoint; if it throws, its effects are dropped. */
export async function runInSavepointScope<T>(work: () => Promise<T>): Promise<T> {
  const effects = transactions.getStore()?.effects ?? []
  const before = effects.length
  try {
    return await work()
  } catch (error) {
    effects.length = before
    throw error
  }
}

/** Whether this runs in a transaction. */
export function isInTransaction(): boolean {
  return transactions.getStore()?.isOver === false
}

/** Makes the current transaction fail. @returns the error; undefined outside of transactions */
export function forbidInTransaction(what: string): Error | undefined {
  const scope = transactions.getStore()
  if (scope === undefined || scope.isOver) return undefined
  scope.violation ??= new Error(`inside a database transaction: ${what}`)
  return scope.violation
}
