/**
 * A pool of single postgres.js connections, under Drizzle.
 *
 * The pool of postgres.js 3.4.9 is not safe for transactions: when a server drops a connection it can stop
 * the process with an uncatchable TypeError, run the rest of a transaction on a new connection, or wait
 * forever (its issues 1154, 1155 and 1208); and a waiting transaction can starve behind pipelined queries.
 * In this pool every connection has one user at a time, a lost connection is discarded, and no statement of
 * a transaction is sent after its connection was lost.
 */
import type { Sql } from 'postgres'
import { publishPoolRequest, publishStatement } from './diagnostics.ts'
import {
  type PooledConnection,
  type QueryOptions,
  type Statement,
  type StatementParameter,
  sendStatement,
  startStatement,
} from './pooled-connection.ts'
import { connectionLostError, noConnectionFreeError, openSession } from './session.ts'
import { runTransaction, type TransactionClient } from './transaction.ts'

/** The part of a postgres.js client that Drizzle uses. */
export interface PoolClient {
  readonly options: Sql['options']
  unsafe(text: string, values?: StatementParameter[], options?: QueryOptions): Statement
  begin<T>(work: (client: TransactionClient) => Promise<T>): Promise<T>
}

/** Connections that are opened on demand, each used by one query or transaction at a time. */
export interface Pool {
  readonly client: PoolClient
  /** Refuses new and waiting work, lets running work finish until the deadline, then closes everything. */
  end(deadlineMs: number): Promise<void>
}

interface PoolOptions {
  /** Maximum number of connections that are open at once. */
  readonly max: number
  /** Time after which an unused connection is closed. */
  readonly idleMs: number
  /** Age after which a connection is no longer given out. */
  readonly lifetimeMs: number
  /**
   * Time without an answer after which a connection counts as lost; 0 disables it. For the first statement
   * it includes the wait for the connection.
   */
  readonly answerMs: number
  /** Maximum wait for a connection, after which the request for a connection fails. */
  readonly waitMs: number
  /** Called after every wait for a connection, even if it failed. */
  readonly onWaited?: ((seconds: number) => void) | undefined
  /** Session settings of the server, in addition to those of `base`. */
  readonly settings?: Readonly<Record<string, string | number>>
}

/**
 * Creates a pool whose connections have the settings, parsers and serializers of `base`. Long because
 * opening, handing out and closing share the pool's connections and waiting requests.
 */
export function createPool(base: Sql, options: PoolOptions): Pool {
  const slots = new Set<PooledConnection>()
  const free: { readonly slot: PooledConnection; readonly idleTimer: NodeJS.Timeout }[] = []
  const waiters: PromiseWithResolvers<PooledConnection>[] = []
  const closing = new Set<Promise<void>>()
  let ended: PromiseWithResolvers<void> | undefined

  function open(): PooledConnection {
    const lifeTimer = setTimeout(() => retire(slot), options.lifetimeMs)
    lifeTimer.unref()
    const slot: PooledConnection = {
      client: openSession(base, {
        onclose: () => slot.lose(connectionLostError()),
        ...(options.settings && { connection: options.settings }),
      }),
      prepared: new Set(),
      answerMs: options.answerMs,
      waitedMs: 0,
      lost: false,
      retired: false,
      onLost: undefined,
      lose: (error) => {
        if (slot.lost) return
        slot.lost = true
        clearTimeout(lifeTimer)
        slots.delete(slot)
        takeFree(slot)
        slot.onLost?.(error)
        const closed = slot.client.end({ timeout: 1 }).finally(() => closing.delete(closed))
        closing.add(closed)
        if (ended !== undefined && slots.size === 0) ended.resolve()
        serveNext()
      },
    }
    slots.add(slot)
    return slot
  }

  function takeFree(slot?: PooledConnection): PooledConnection | undefined {
    const at = slot === undefined ? free.length - 1 : free.findIndex((entry) => entry.slot === slot)
    const [entry] = at < 0 ? [] : free.splice(at, 1)
    clearTimeout(entry?.idleTimer)
    return entry?.slot
  }

  function retire(slot: PooledConnection): void {
    slot.retired = true
    if (free.some((entry) => entry.slot === slot)) slot.lose(connectionLostError())
  }

  function serveNext(): void {
    while (waiters.length > 0) {
      const slot = takeFree() ?? (slots.size < options.max ? open() : undefined)
      if (slot === undefined) return
      waiters.shift()?.resolve(slot)
    }
  }

  async function acquire(): Promise<PooledConnection> {
    if (ended !== undefined) throw connectionLostError()
    publishPoolRequest()
    const waiter = Promise.withResolvers<PooledConnection>()
    waiters.push(waiter)
    serveNext()
    if (!waiters.includes(waiter)) return await waiter.promise
    const timer = setTimeout(() => {
      const at = waiters.indexOf(waiter)
      if (at < 0) return
      waiters.splice(at, 1)
      waiter.reject(noConnectionFreeError())
    }, options.waitMs)
    try {
      return await waiter.promise
    } finally {
      clearTimeout(timer)
    }
  }

  function release(slot: PooledConnection): void {
    if (slot.lost) return
    if (slot.retired || ended !== undefined) {
      slot.lose(connectionLostError())
    } else {
      const idleTimer = setTimeout(() => slot.lose(connectionLostError()), options.idleMs)
      free.push({ slot, idleTimer: idleTimer.unref() })
      serveNext()
    }
  }

  async function use<T>(work: (slot: PooledConnection) => Promise<T>): Promise<T> {
    const askedAt = performance.now()
    const waitedMs = () => performance.now() - askedAt
    const slot = await acquire().finally(() => options.onWaited?.(waitedMs() / 1000))
    slot.waitedMs = waitedMs()
    try {
      return await work(slot)
    } finally {
      release(slot)
    }
  }

  return {
    client: {
      options: base.options,
      unsafe: (text, values, query) => {
        publishStatement(text)
        return startStatement((raw) =>
          use((slot) => sendStatement(slot, text, values, { ...query, raw })),
        )
      },
      begin: (work) => use((slot) => runTransaction(slot, base.options, work)),
    },
    end: async (deadlineMs) => {
      ended ??= Promise.withResolvers()
      for (const waiter of waiters.splice(0)) waiter.reject(connectionLostError())
      for (const entry of [...free]) entry.slot.lose(connectionLostError())
      if (slots.size === 0) ended.resolve()
      const overdue = setTimeout(() => {
        for (const slot of [...slots]) slot.lose(connectionLostError())
      }, deadlineMs)
      await ended.promise
      clearTimeout(overdue)
      await Promise.all(closing)
    },
  }
}
