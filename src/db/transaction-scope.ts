/** State of the running transaction, which is available in every function that its work calls. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { SQL } from 'drizzle-orm'

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
  /** Rows of the statements with which the transaction ends. */
  readonly lastRows: { readonly write: LastWrite<unknown>; readonly row: unknown }[]
}

/** The statement that writes the rows of one kind which a transaction has collected; `rows` has one at least. */
type LastWrite<Row> = (rows: readonly Row[]) => SQL

const transactions = new AsyncLocalStorage<TransactionScope>()

/**
 * Runs the work of a transaction, then the statements that `writeLast` collected meanwhile.
 *
 * @returns the result, and the effects that `afterCommit` collected meanwhile
 * @throws the error that `forbidInTransaction` recorded meanwhile
 */
export async function runInTransactionScope<T>(
  work: () => Promise<T>,
  send: (statement: SQL) => Promise<unknown>,
): Promise<{ readonly result: T; readonly effects: readonly (() => void)[] }> {
  const scope: TransactionScope = { isOver: false, violation: undefined, effects: [], lastRows: [] }
  try {
    const result = await transactions.run(scope, work)
    const kinds = Map.groupBy(scope.lastRows, ({ write }) => write)
    for (const [write, rows] of kinds) await send(write(rows.map(({ row }) => row)))
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

/**
 * Writes rows with the last statement of the current transaction, together with all other rows of the same `write`; at once
 * outside of transactions. Two transactions that both lock several rows of one table wait for each other unless both lock
 * them in the same order, and one that locks rows before its other work holds up everybody who needs them.
 *
 * @param write a function of a module: rows of the same function are written together
 */
export async function writeLast<Row>(
  db: { execute(statement: SQL): Promise<unknown> },
  write: LastWrite<Row>,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return
  const scope = transactions.getStore()
  if (scope === undefined || scope.isOver) await db.execute(write(rows))
  // Safe: a function gets only the rows that were collected for it.
  else for (const row of rows) scope.lastRows.push({ write: write as LastWrite<unknown>, row })
}

/** Runs the part of a transaction since a savepoint; if it throws, its effects and last rows are dropped. */
export async function runInSavepointScope<T>(work: () => Promise<T>): Promise<T> {
  const { effects = [], lastRows = [] } = transactions.getStore() ?? {}
  const [effectsBefore, rowsBefore] = [effects.length, lastRows.length]
  try {
    return await work()
  } catch (error) {
    effects.length = effectsBefore
    lastRows.length = rowsBefore
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
