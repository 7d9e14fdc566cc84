import postgres, { type Sql } from 'postgres'

interface SessionOptions {
  /** Called synchronously when the connection has closed, for any reason. */
  readonly onclose: () => void
  readonly onnotify?: (channel: string, payload: string) => void
  /** Session settings in addition to those of `base`. */
  readonly connection?: Readonly<Record<string, string | number>>
}

/** Index of the host that the next connection tries first, if the previous host did not answer. */
const firstHosts = new WeakMap<Sql, number>()

function rotated<T>(values: readonly T[], by: number): readonly T[] {
  const start = by % values.length
  return [...values.slice(start), ...values.slice(0, start)]
}

/**
 * Opens a client with exactly one connection, with the settings of `base`; it connects with its first
 * query.
 *
 * Do not use it after `onclose`: a query would open a new connection, without the locks, the transaction
 * and the channels of the old one.
 */
export function openSession(base: Sql, options: SessionOptions): Sql {
  const first = firstHosts.get(base) ?? 0
  let hasAnswered = false
  const settings = {
    ...base.options,
    ...options,
    host: rotated(base.options.host, first),
    port: rotated(base.options.port, first),
    onparameter: () => {
      hasAnswered = true
    },
    onclose: () => {
      if (!hasAnswered) firstHosts.set(base, first + 1)
      options.onclose()
    },
    connection: { ...base.options.connection, ...options.connection },
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
  }
  // postgres.js accepts options that it has parsed before, which its types do not say.
  return postgres(settings as unknown as postgres.Options<Record<string, never>>)
}

/** The error of a connection that was lost while in use. */
export function connectionLostError(): Error {
  const error = new Error('the connection to the database was lost')
  return Object.assign(error, { code: 'CONNECTION_CLOSED' })
}

const NONE_FREE = 'NO_CONNECTION_FREE'

/** The error of a request that waited too long for a connection of a pool. */
export function noConnectionFreeError(): Error {
  const error = new Error('no connection to the database became free in time')
  return Object.assign(error, { code: NONE_FREE })
}

/** The server's own error inside the errors that Drizzle or a caller wrapped around it. */
export function postgresError(error: unknown): postgres.PostgresError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof postgres.PostgresError) return at
  }
  return undefined
}

const UNREACHABLE = new Set([
  NONE_FREE,
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])

/** Whether the server was unreachable, closed the connection, is starting, or has no connection free. */
export function isConnectionFailure(error: unknown): boolean {
  const known = postgresError(error)
  if (known !== undefined) {
    // Class 08: connection exceptions. 57P01 to 57P05: stopping, starting, idle. 53300: no slot left.
    return /^(08|57P0[1-5]|53300)/.test(known.code)
  }
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && UNREACHABLE.has(at.code)) return true
    if (at instanceof AggregateError && at.errors.some(isConnectionFailure)) return true
  }
  return false
}

/** Whether the server has ended the connection, or refused to open it, whatever the reason. */
export function isConnectionEnd(error: unknown): boolean {
  return isConnectionFailure(error) || postgresError(error)?.severity === 'FATAL'
}

const attached = new WeakMap<Sql, Set<() => Promise<void>>>()

/**
 * Registers `end` to run when the connection of `base` is closed. Returns a function that unregisters it.
 */
export function runAtClose(base: Sql, end: () => Promise<void>): () => void {
  const ends = attached.get(base) ?? new Set()
  attached.set(base, ends.add(end))
  return () => ends.delete(end)
}

/** Ends the listeners and locks that belong to `base`. */
export async function endAttached(base: Sql): Promise<void> {
  await Promise.all([...(attached.get(base) ?? [])].map((end) => end()))
}
