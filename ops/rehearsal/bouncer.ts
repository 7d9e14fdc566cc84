import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findPort } from '#sandbox/world/ports.ts'
import { postgresAccount } from './cluster.ts'

const PROGRAM = '/usr/sbin/pgbouncer'
const START_MS = 10_000

/** A PgBouncer in transaction mode on loopback. */
export interface Bouncer {
  /** Address of the database through it. */
  readonly url: string
  /** Sends connections to another server from now on, as an operator does after a failover. */
  pointTo(databaseUrl: string): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a PgBouncer before a database.
 *
 * @param servers connections to the server at most
 * @throws Error without the Debian package of PgBouncer
 */
export async function startBouncer(databaseUrl: string, servers: number): Promise<Bouncer> {
  if (!existsSync(PROGRAM)) throw new Error('install the Debian package pgbouncer first')
  const folder = await mkdtemp(join(tmpdir(), 'watchdog-bouncer-'))
  const port = await findPort()
  const path = join(folder, 'pgbouncer.ini')
  await writeFile(path, settingsOf(databaseUrl, port, servers))
  const user = await postgresAccount()
  if (user !== undefined) {
    for (const owned of [folder, path]) await chown(owned, user.uid, user.gid)
  }
  const child = spawn(PROGRAM, ['--quiet', path], { ...user, stdio: 'ignore' })
  const ended = once(child, 'exit')
  const close = async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true })
  }
  try {
    await untilListening(port)
  } catch (error) {
    await close()
    throw error
  }
  return {
    url: `postgres://watchdog@127.0.0.1:${port}/watchdog`,
    pointTo: async (url) => {
      await writeFile(path, settingsOf(url, port, servers))
      child.kill('SIGHUP')
    },
    close,
  }
}

function settingsOf(databaseUrl: string, port: number, servers: number): string {
  const { hostname, port: serverPort, pathname, username, password } = new URL(databaseUrl)
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`
  const server = `host=${hostname} port=${serverPort} dbname=${pathname.slice(1)} user=${username}`
  return [
    '[databases]',
    `watchdog = ${server}${secret}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    // Every client on loopback is admitted, because it runs for one rehearsal only.
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${servers}`,
    'max_client_conn = 200',
    // Seconds after which a server that is gone is tried again.
    'server_login_retry = 1',
    '',
  ].join('\n')
}

async function untilListening(port: number): Promise<void> {
  const deadline = performance.now() + START_MS
  for (;;) {
    const socket = createConnection({ host: '127.0.0.1', port })
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    if (performance.now() > deadline) throw new Error('PgBouncer does not listen')
    await wait(50)
  }
}
