import { setTimeout as wait } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { backoffMs } from '#src/kernel/backoff.ts'
import { pause } from '#src/kernel/pause.ts'
import { connectionLostError, isConnectionEnd, openSession, runAtClose } from './session.ts'

type OnNotify = (payload: string) => void

/** A connection outside the pools that listens on all requested channels. */
interface Listener {
  readonly channels: Map<string, Set<OnNotify>>
  /** Connection that listens on all channels; replaced when it is lost. */
  session: PromiseWithResolvers<Sql>
  end(): Promise<void>
}

const listeners = new WeakMap<Sql, Listener>()
const RETRY_MS = { min: 50, max: 5000 }

/**
 * Calls `onNotify` with the payload of every NOTIFY on the channel, from the time at which the promise
 * resolves until the returned function is called.
 *
 * A lost connection is opened again. Notifications sent meanwhile are lost, so `onNotify` is then called
 * once with an empty payload and should look for changes. `onNotify` must not throw.
 */
export async function listen(
  sql: Sql,
  channel: string,
  onNotify: OnNotify,
): Promise<() => Promise<void>> {
  const listener = listeners.get(sql) ?? startListener(sql)
  const handlers = listener.channels.get(channel) ?? new Set()
  const handler: OnNotify = (payload) => onNotify(payload)
  listener.channels.set(channel, handlers.add(handler))
  await subscribe(listener, channel)
  return async () => {
    if (!handlers.delete(handler) || handlers.size > 0) return
    listener.channels.delete(channel)
    if (listener.channels.size === 0) await listener.end()
  }
}

/** Subscribes the connection to a channel; LISTEN is idempotent. */
async function subscribe(listener: Listener, channel: string): Promise<void> {
  for (;;) {
    const session = await listener.session.promise
    try {
      await startListening(session, channel)
      return
    } catch (error) {
      if (!isConnectionEnd(error)) throw error
      await wait(RETRY_MS.min)
    }
  }
}

function startListener(sql: Sql): Listener {
  const stop = new AbortController()
  const listener: Listener = {
    channels: new Map(),
    session: Promise.withResolvers(),
    end: async () => {
      listeners.delete(sql)
      detach()
      stop.abort()
      await running
    },
  }
  const detach = runAtClose(sql, listener.end)
  listeners.set(sql, listener)
  const running = keepListening(sql, listener, stop.signal)
  return listener
}

async function keepListening(sql: Sql, listener: Listener, signal: AbortSignal): Promise<void> {
  let failures = 0
  let wasReady = false
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve())
  })
  while (!signal.aborted) {
    const closed = Promise.withResolvers<void>()
    const session = openSession(sql, {
      onclose: closed.resolve,
      onnotify: (channel, payload) => callHandlers(listener.channels.get(channel), payload),
    })
    try {
      for (const channel of listener.channels.keys()) await startListening(session, channel)
      listener.session.resolve(session)
      if (wasReady) for (const handlers of listener.channels.values()) callHandlers(handlers, '')
      wasReady = true
      failures = 0
      await Promise.race([closed.promise, stopped])
      listener.session = Promise.withResolvers()
    } catch {
      // Retried whatever the reason: notifications only shorten the intervals of pollers.
      failures += 1
    } finally {
      await session.end({ timeout: 1 })
    }
    await pause(backoffMs(failures + 1, RETRY_MS), signal)
  }
  listener.session.promise.catch(() => undefined)
  listener.session.reject(connectionLostError())
}

async function startListening(session: Sql, channel: string): Promise<void> {
  await session.unsafe(`listen "${channel.replaceAll('"', '""')}"`)
}

function callHandlers(handlers: ReadonlySet<OnNotify> | undefined, payload: string): void {
  for (const handler of handlers ?? []) handler(payload)
}
