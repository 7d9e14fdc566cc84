import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '#src/kernel/logger.ts'
import { claimServer, type ServerClaim } from './claim.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { findPostmaster, removeStaleFile, stopPostmaster } from './postmaster.ts'
import { type ServerProcess, startServer } from './server.ts'

/** A PostgreSQL server that this process runs on this machine. */
export interface EmbeddedDatabase {
  /** URL of the database for its superuser, over TCP from this machine only. Contains a password. */
  readonly url: string
  /** The same through the Unix socket; undefined without `hasSocket`. */
  readonly socketUrl: string | undefined
  /** Shuts the server down and waits for its end. Idempotent. */
  stop(): Promise<void>
}

interface EmbeddedOptions {
  /** Data directory, created if missing. The cluster is in its folder `postgres`. */
  readonly dataDir: string
  readonly logger: Logger
  /** Called when the server ends without having been stopped. */
  readonly onLost?: () => void
  /** TCP port; a free port by default. */
  readonly port?: number
  /** Whether the server also listens on a Unix socket, in the cluster's folder. */
  readonly hasSocket?: boolean
  /**
   * False skips fsync: faster, and a crash of the machine may destroy the data. For tests and the sandbox.
   */
  readonly durable?: boolean
  /**
   * Where files are put if this process runs as root and the server's unprivileged user has no access to
   * the usual place.
   */
  readonly sharedDir?: string
}

const DATABASE = 'watchdog'
const SHARED_DIR = '/var/lib/flare-watchdog'
const RETRY_MS = 100
const START_ATTEMPTS_MAX = 200
/**
 * Maximum number of attempts to claim a server. The server needs a moment to notice that the service which
 * had claimed it is dead.
 */
const CLAIM_ATTEMPTS_MAX = 20

/**
 * Starts the PostgreSQL that comes with npm on the data directory, and creates the cluster at the first
 * start.
 *
 * A server that a killed service left behind there is stopped first.
 *
 * @throws Error when another service is using the data directory, or the server does not start
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { dataDir, logger, durable = true, sharedDir = SHARED_DIR } = options
  const cluster = await openCluster({ dataDir, sharedDir, durable, logger })
  const { server, port } = await startWhenFree(cluster, { ...options, durable })
  try {
    const claim = await claimServer(urlOf(cluster, port, 'postgres'))
    if (typeof claim === 'string') throw inUse(cluster)
    await createDatabase(claim)
    const stop = async () => {
      try {
        await claim.release()
      } finally {
        await server.stop()
      }
    }
    let stopped: Promise<void> | undefined
    return {
      url: urlOf(cluster, port, DATABASE),
      socketUrl: options.hasSocket
        ? urlOf(cluster, port, DATABASE, encodeURIComponent(cluster.path))
        : undefined,
      stop: () => {
        stopped ??= stop()
        return stopped
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** URL of the service's database on an embedded server. */
export function databaseUrlOf(of: { readonly password: string; readonly port: number }): string {
  return urlOf(of, of.port, DATABASE)
}

function urlOf(
  cluster: Pick<Cluster, 'password'>,
  port: number,
  database: string,
  host = '127.0.0.1',
): string {
  return `postgres://postgres:${cluster.password}@${host}:${port}/${database}`
}

function inUse(cluster: Cluster): Error {
  return new Error(`another service is using the database in ${cluster.path}`)
}

async function createDatabase({ connection }: ServerClaim): Promise<void> {
  const { sql } = connection
  const [database] = await sql`select 1 from pg_database where datname = ${DATABASE}`
  if (database === undefined) await sql`create database ${sql(DATABASE)}`
}

/** Retries the start: two services may start at once, and an orphaned server takes a moment to end. */
async function startWhenFree(
  cluster: Cluster,
  options: EmbeddedOptions & { readonly durable: boolean },
): Promise<{ readonly server: ServerProcess; readonly port: number }> {
  let isBlocked = false
  for (let attempt = 1; ; attempt += 1) {
    if (isBlocked) await removeStaleFile(cluster.path)
    const state = await clear(cluster, options.logger)
    if (state === 'taken' && attempt >= CLAIM_ATTEMPTS_MAX) throw inUse(cluster)
    if (state === 'free') {
      const port = options.port ?? (await findFreePort())
      const { hasSocket = false } = options
      const server = await startServer(cluster, { ...options, hasSocket, port })
      if ('stop' in server) return { server, port }
      if (attempt === START_ATTEMPTS_MAX || !isTransient(server.failure, options.port)) {
        throw new Error(`PostgreSQL does not start on ${cluster.path}:\n${server.failure}`)
      }
      isBlocked = server.failure.includes('lock file')
    }
    if (attempt === START_ATTEMPTS_MAX) {
      throw new Error(`a PostgreSQL server on ${cluster.path} neither answers nor ends`)
    }
    await wait(RETRY_MS)
  }
}

/** Stops an orphaned server. A server that is starting or stopping is `unreachable`. */
async function clear(cluster: Cluster, logger: Logger): Promise<'free' | 'taken' | 'unreachable'> {
  const postmaster = await findPostmaster(cluster.path)
  if (postmaster === undefined) return 'free'
  if (!postmaster.ready) return 'unreachable'
  const claim = await claimServer(urlOf(cluster, postmaster.port, 'postgres'))
  if (typeof claim === 'string') return claim
  logger.warn({ pid: postmaster.pid }, 'stopping the postgres that an earlier service left behind')
  await claim.release()
  await stopPostmaster(postmaster.pid, cluster.path)
  return 'free'
}

/**
 * Whether a retry may succeed, because another server was first, a server is still ending, or the free port
 * was taken meanwhile.
 */
function isTransient(failure: string, fixedPort: number | undefined): boolean {
  if (/lock file|shared memory block/.test(failure)) return true
  return fixedPort === undefined && /could not create any TCP/.test(failure)
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no TCP port was given')
  return address.port
}
