import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '#src/kernel/logger.ts'
import { PLAIN_ENVIRONMENT, type UnixAccount } from './account.ts'
import type { Cluster } from './cluster.ts'
import { findPostmaster, stopPostmaster } from './postmaster.ts'

/** A PostgreSQL server that is a child of this process. */
export interface ServerProcess {
  /** Shuts the server down and waits for its end. Idempotent. */
  stop(): Promise<void>
}

interface ServerOptions {
  readonly port: number
  /** Whether the server also listens on a Unix socket in the cluster's folder. */
  readonly hasSocket: boolean
  readonly durable: boolean
  readonly logger: Logger
  /** Called when the server ends without having been stopped. */
  readonly onLost?: () => void
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The log contains no values: statements and their details can contain people's texts.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_line_prefix: '',
}

const UNSAFE_SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

const POLL_MS = 10
const LINES_KEPT = 5

/**
 * Starts a server on the cluster and waits until it accepts connections, however long a recovery from a
 * crash takes.
 *
 * The server runs in a separate session, so that Ctrl-C in a terminal reaches only this process. If this
 * process dies, the server is stopped.
 *
 * @returns the server, or the last lines of its log if it ended
 */
export async function startServer(
  cluster: Cluster,
  options: ServerOptions,
): Promise<ServerProcess | { readonly failure: string }> {
  const { port, hasSocket, durable, logger, onLost } = options
  const settings = {
    ...SETTINGS,
    ...(durable ? {} : UNSAFE_SETTINGS),
    port: String(port),
    unix_socket_directories: hasSocket ? cluster.path : '',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(cluster.binaries.postgres, ['-D', cluster.path, ...flags], {
    ...cluster.account,
    cwd: '/',
    env: PLAIN_ENVIRONMENT,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const state = { stopping: false, lines: [] as string[] }
  createInterface({ input: child.stderr }).on('line', (line) => {
    state.lines = [...state.lines, line].slice(-LINES_KEPT)
    const isGrave = /^(FATAL|PANIC)/.test(line) && !state.stopping
    logger[isGrave ? 'warn' : 'debug']({ line }, 'log line of the embedded postgres')
  })
  const ended = once(child, 'close').then(() => undefined)
  if (child.pid === undefined || !(await becomesReady(child, cluster))) {
    await ended
    return { failure: state.lines.join('\n') }
  }
  const guard = startGuard(child.pid, cluster.account)
  child.once('exit', (code, signal) => {
    if (!state.stopping) {
      logger.error({ code, signal }, 'the embedded postgres ended unexpectedly')
      onLost?.()
    }
    guard.release()
  })
  return {
    stop: async () => {
      state.stopping = true
      if (isRunning(child)) await stopPostmaster(child.pid ?? 0, cluster.path)
      await ended
      await guard.ended
    },
  }
}

async function becomesReady(child: ChildProcess, cluster: Cluster): Promise<boolean> {
  while (isRunning(child)) {
    const postmaster = await findPostmaster(cluster.path)
    if (postmaster?.ready && postmaster.pid === child.pid) return true
    await wait(POLL_MS)
  }
  return false
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

/**
 * Starts a shell that reads from this process: if its input ends without a line, this process died, and the
 * shell stops the server, which would otherwise outlive it.
 */
function startGuard(
  pid: number,
  account: UnixAccount | undefined,
): { readonly ended: Promise<void>; release(): void } {
  const script = 'read -r line || kill -INT "$1"'
  const child = spawn('/bin/sh', ['-c', script, 'sh', String(pid)], {
    ...account,
    cwd: '/',
    env: PLAIN_ENVIRONMENT,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // If the shell was ended by another process, writing to it fails; that is not an error.
  child.stdin.on('error', () => undefined)
  const ended = once(child, 'close').then(
    () => undefined,
    () => undefined,
  )
  return { ended, release: () => child.stdin.end('\n') }
}
