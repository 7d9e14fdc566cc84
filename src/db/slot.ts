import type { Sql } from 'postgres'
import { arrayText } from './arrays.ts'
import { connectionLost, postgresError } from './session.ts'

/** A value of a statement, as postgres.js takes it. */
export type Value = NonNullable<Parameters<Sql['unsafe']>[1]>[number]

/** `prepare`: kept prepared even beyond the bounds below. */
export interface QueryOptions {
  readonly prepare?: boolean
}

/** Rows as objects, or as arrays of values when `values()` is asked for at once. */
export interface Statement extends Promise<unknown> {
  values(): Promise<unknown>
}

/** One connection of the pool, held by one user at a time. Once `lost` it is never used again. */
export interface Slot {
  readonly client: Sql
  /** Texts the server keeps prepared on this connection. */
  readonly prepared: Set<string>
  /** Owing an answer for this long counts as lost; 0: never. */
  readonly answerMs: number
  /** How long its user waited for it, until the first statement is sent. */
  waitedMs: number
  lost: boolean
  /** To be closed when it comes back. */
  retired: boolean
  /** Told synchronously, before any promise of the lost connection is settled. */
  onLost: ((error: unknown) => void) | undefined
  lose(error: unknown): void
}

const PREPARED_MAX = 256
const PREPARED_TEXT_MAX = 4096

/** Sends one statement on a connection that the caller holds. */
export async function send(
  slot: Slot,
  text: string,
  values: Value[] = [],
  options: QueryOptions & { readonly raw?: boolean } = {},
): Promise<unknown> {
  if (slot.lost) throw connectionLost()
  const late = Promise.withResolvers<never>()
  const stopWatching = watchForAnswer(slot, late.reject)
  try {
    const prepare = options.prepare === true || keepsPrepared(slot, text, values)
    const sent = values.map((value) => (Array.isArray(value) ? arrayText(value) : value))
    const query = slot.client.unsafe(text, sent, { prepare })
    return await Promise.race([options.raw === true ? query.values() : query, late.promise])
  } catch (error) {
    // Anything but a plain error of the server leaves open what the connection will do next.
    if (postgresError(error)?.severity !== 'ERROR') slot.lose(error)
    throw error
  } finally {
    stopWatching()
  }
}

/** Runs after the caller had its turn to ask for arrays, as queries of postgres.js do. */
export function statement(run: (raw: boolean) => Promise<unknown>): Statement {
  let raw = false
  const rows = Promise.resolve().then(() => run(raw))
  const values = () => {
    raw = true
    return rows
  }
  return Object.assign(rows, { values })
}

/** Closing a connection takes a while when the server is frozen: `fail` is told at once. */
function watchForAnswer(slot: Slot, fail: (error: unknown) => void): () => void {
  if (slot.answerMs === 0) return () => undefined
  const giveUp = () => {
    const error = connectionLost()
    fail(error)
    slot.lose(error)
  }
  const timer = setTimeout(giveUp, slot.answerMs - slot.waitedMs)
  slot.waitedMs = 0
  return () => clearTimeout(timer)
}

/** Prepared statements save a round trip each; bounded, so that built texts cannot pile up. */
function keepsPrepared(slot: Slot, text: string, values: readonly Value[]): boolean {
  if (values.length === 0 || text.length > PREPARED_TEXT_MAX) return false
  if (slot.prepared.has(text)) return true
  if (slot.prepared.size >= PREPARED_MAX) return false
  slot.prepared.add(text)
  return true
}
