import { PgDialect } from 'drizzle-orm/pg-core'
import type { Sql } from 'postgres'
import { publishStatement } from './diagnostics.ts'
import {
  type PooledConnection,
  type QueryOptions,
  type Statement,
  type StatementParameter,
  sendStatement,
  startStatement,
} from './pooled-connection.ts'
import {
  runInSavepointScope,
  runInTransactionScope,
  transactionEndSignal,
} from './transaction-scope.ts'

/** The part of a transaction's client that Drizzle uses. */
export interface TransactionClient {
  readonly options: Sql['options']
  unsafe(text: string, values?: StatementParameter[], options?: QueryOptions): Statement
  savepoint<T>(work: (client: TransactionClient) => Promise<T>): Promise<T>
  /** Opens a savepoint, for Drizzle's migrator, which begins a transaction wherever it runs. */
  begin<T>(work: (client: TransactionClient) => Promise<T>): Promise<T>
}

const dialect = new PgDialect()

interface Context {
  readonly slot: PooledConnection
  readonly options: Sql['options']
  savepoints: number
}

/**
 * Runs one transaction on one connection, committed when `work` resolves.
 *
 * It fails as a whole the moment the connection is lost, and when one of its statements failed, even if
 * `work` caught that error: PostgreSQL would turn such a commit into a silent rollback.
 */
export async function runTransaction<T>(
  slot: PooledConnection,
  options: Sql['options'],
  work: (client: TransactionClient) => Promise<T>,
): Promise<T> {
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => undefined)
  slot.onLost = lost.reject
  const end = transactionEndSignal()
  const lose = () => slot.lose(end?.reason)
  try {
    end?.throwIfAborted()
    end?.addEventListener('abort', lose)
    await sendStatement(slot, 'begin')
    const scope = runScope({ slot, options, savepoints: 0 }, 'rollback', (client) =>
      runInTransactionScope(
        () => work(client),
        (statement) => {
          const { sql, params } = dialect.sqlToQuery(statement)
          // Safe: parameters of statements are what the driver accepts.
          return client.unsafe(sql, params as StatementParameter[])
        },
      ),
    )
    const { result, effects } = await Promise.race([scope, lost.promise])
    await sendStatement(slot, 'commit')
    for (const effect of effects) effect()
    return result
  } finally {
    end?.removeEventListener('abort', lose)
    slot.onLost = undefined
  }
}

/** Runs the transaction, or the part since a savepoint; rolls it back as a whole on an error. */
async function runScope<T>(
  context: Context,
  undo: string,
  work: (client: TransactionClient) => Promise<T>,
): Promise<T> {
  const { slot, options } = context
  let over = false
  let failure: { readonly error: unknown } | undefined

  const client: TransactionClient = {
    options,
    unsafe: (text, values, query) => {
      publishStatement(text)
      return startStatement(async (raw) => {
        if (over) throw new Error('a statement was sent after its transaction had ended')
        try {
          return await sendStatement(slot, text, values, { ...query, raw })
        } catch (error) {
          failure ??= { error }
          throw error
        }
      })
    },
    begin: (inner) => client.savepoint(inner),
    savepoint: async (inner) => {
      context.savepoints += 1
      const name = `savepoint_${context.savepoints}`
      await client.unsafe(`savepoint ${name}`)
      return await runInSavepointScope(() =>
        runScope(context, `rollback to savepoint ${name}`, inner),
      )
    },
  }

  try {
    const result = await work(client)
    if (failure !== undefined) throw failure.error
    return result
  } catch (error) {
    // Parallel work of the transaction may still run. Its next statement must fail: after the rollback it
    // would run outside of the transaction, and its changes would stay.
    over = true
    if (!slot.lost) await rollBack(slot, undo)
    throw error
  } finally {
    over = true
  }
}

/** Rolls back. If that fails, the connection is discarded; the first error is reported. */
async function rollBack(slot: PooledConnection, undo: string): Promise<void> {
  try {
    await sendStatement(slot, undo)
  } catch (error) {
    slot.lose(error)
  }
}
