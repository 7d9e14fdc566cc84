import type { Sql } from 'postgres'
import { arrayLiteral } from './arrays.ts'
import { connectionLostError, postgresError } from './session.ts'

/** A parameter of a statement, as postgres.js accepts it. */
export type StatementParameter = NonNullable<Parameters<Sql['unsafe']>[1]>[number]

/** Options of a query. `prepare`: the statement stays prepared, even if it exceeds the limits below. */
export interface QueryOptions {
  readonly prepare?: boolean
}

/** A statement whose rows are objects, or arrays of values if `values()` is called at once. */
export interface Statement extends Promise<unknown> {
  values(): Promise<unknown>
}

/** One connection of a pool, used by one query or transaction at a time. Never used again once `lost`. */
export interface PooledConnection {
  readonly client: Sql
  /** Statements that the server keeps prepared on this connection. */
  readonly prepared: Set<string>
  /** Time without an answer after which the connection counts as lost; 0 disables it. */
  readonly answerMs: number
  /** Time for which the user waited for the connection; 0 after the first statement. */
  waitedMs: number
  lost: boolean
  /** Whether the connection is closed when it is returned. */
  retired: boolean
  /** Called synchronously, before any promise of the lost connection settles. */
  onLost: ((error: unknown) => void) | undefined
  lose(error: unknown): void
}

const PREPARED_MAX = 256
const PREPARED_TEXT_MAX = 4096

/** Sends one statement on a connection that the caller holds. */
export async function sendStatement(
  slot: PooledConnection,
  text: string,
  values: StatementParameter[] = [],
  options: QueryOptions & { readonly raw?: boolean } = {},
): Promise<unknown> {
  if (slot.lost) throw connectionLostError()
  const late = Promise.withResolvers<never>()
  const stopWatching = watchForAnswer(slot, late.reject)
  try {
    const prepare = options.prepare === true || keepsPrepared(slot, text, values)
    const sent = values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value))
    const query = slot.client.unsafe(text, sent, { prepare })
    return await Promise.race([options.raw === true ? query.values() : query, late.promise])
  } catch (error) {
    // Only after an ordinary error of the server is the state of the connection known.
    if (postgresError(error)?.severity !== 'ERROR') slot.lose(error)
    throw error
  } finally {
    stopWatching()
  }
}

/**
 * Runs a query in the next microtask, so that the caller can first call `values()`, as with queries of postgres.js.
 */
export function startStatement(run: (raw: boolean) => Promise<unknown>): Statement {
  let raw = false
  const rows = Promise.resolve().then(() => run(raw))
  const values = () => {
    raw = true
    return rows
  }
  return Object.assign(rows, { values })
}

/**
 * Fails a statement at the deadline without waiting for the connection to close, which takes a while when
 * the server is frozen.
 */
function watchForAnswer(slot: PooledConnection, fail: (error: unknown) => void): () => void {
  if (slot.answerMs === 0) return () => undefined
  const giveUp = () => {
    const error = connectionLostError()
    fail(error)
    slot.lose(error)
  }
  const timer = setTimeout(giveUp, slot.answerMs - slot.waitedMs)
  slot.waitedMs = 0
  return () => clearTimeout(timer)
}

/**
 * Whether a statement is prepared, which saves a round trip. The number is bounded, so that generated
 * statements do not accumulate.
 */
function keepsPrepared(
  slot: PooledConnection,
  text: string,
  values: readonly StatementParameter[],
): boolean {
  if (values.length === 0 || text.length > PREPARED_TEXT_MAX) return false
  if (slot.prepared.has(text)) return true
  if (slot.prepared.size >= PREPARED_MAX) return false
  slot.prepared.add(text)
  return true
}
