import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Connection, connect, waitForDatabase } from '#src/db/connection.ts'
import { PLAIN_ENVIRONMENT, runAs } from '#src/db/embedded/account.ts'
import { type Cluster, openCluster } from '#src/db/embedded/cluster.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { databaseFolder } from './database-folder.ts'

/** A server of PostgreSQL and a hot standby that streams from it. */
export interface StandbyPair {
  readonly primary: Connection
  readonly standby: Connection
  readonly standbyUrl: string
  /** Promotes the standby, which follows nothing from then on. */
  promote(): Promise<void>
  close(): Promise<void>
}

const DEADLINE_MS = 60_000

/** Starts a new cluster and a standby of it, each with the database `postgres`. */
export async function startStandbyPair(): Promise<StandbyPair> {
  const folder = await mkdtemp(join(await databaseFolder(), 'watchdog-standby-'))
  const options = { dataDir: folder, sharedDir: `${folder}-shared`, durable: false }
  const cluster = await openCluster({ ...options, logger: silentLogger })
  const copy = `${cluster.path}-standby`
  await cp(cluster.path, copy, { recursive: true })
  const [port, copyPort] = [await freePort(), await freePort()]
  const source = `host=127.0.0.1 port=${port} user=postgres password=${cluster.password}`
  await writeFile(join(copy, 'standby.signal'), '')
  // Not an argument of the server, so that a test can change it.
  await appendFile(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
  if (cluster.account !== undefined) {
    await runAs(undefined, 'chown', ['-R', `${cluster.account.uid}:${cluster.account.gid}`, copy])
  }
  await runAs(undefined, 'chmod', ['700', copy])
  const processes = [
    start(cluster, cluster.path, { port }),
    start(cluster, copy, { port: copyPort }),
  ]
  const urlAt = (port: number) =>
    `postgres://postgres:${cluster.password}@127.0.0.1:${port}/postgres`
  const [primary, standby] = [
    connect(urlAt(port), { max: 2 }),
    connect(urlAt(copyPort), { max: 2 }),
  ]
  const patience = { deadlineMs: DEADLINE_MS, logger: silentLogger }
  await waitForDatabase(primary.sql, patience)
  await waitForDatabase(standby.sql, patience)
  return {
    primary,
    standby,
    standbyUrl: urlAt(copyPort),
    promote: async () => {
      await standby.sql`select pg_promote()`
    },
    close: async () => {
      await Promise.all([primary.close(), standby.close()])
      for (const child of processes.toReversed()) await stop(child)
      await rm(copy, { recursive: true, force: true })
      await rm(cluster.path, { recursive: true, force: true })
      await rm(folder, { recursive: true, force: true })
      await rm(`${folder}-shared`, { recursive: true, force: true })
    },
  }
}

function start(
  { binaries, account }: Cluster,
  path: string,
  over: Readonly<Record<string, string | number>>,
): ChildProcess {
  const settings = {
    ...{ listen_addresses: '127.0.0.1', unix_socket_directories: '', wal_level: 'replica' },
    ...{ hot_standby: 'on', fsync: 'off', io_method: 'sync' },
    ...{ shared_buffers: '16MB', wal_receiver_status_interval: 1, ...over },
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return spawn(binaries.postgres, ['-D', path, ...flags], {
    ...account,
    cwd: '/',
    env: PLAIN_ENVIRONMENT,
    stdio: 'ignore',
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGINT')
  await ended
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  if (address === null || typeof address === 'string') throw new Error('no TCP port was given')
  return address.port
}
