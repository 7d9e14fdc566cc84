import { type ExecFileOptions, execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { appendFile, chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPort } from '#sandbox/world/ports.ts'

const run = promisify(execFile)

/** Folder of the programs of an installed Debian package of PostgreSQL, the newest one, if there is one. */
const PROGRAMS: string | undefined = globSync('/usr/lib/postgresql/*/bin')
  .filter((folder) => existsSync(join(folder, 'pg_basebackup')))
  .sort((a, b) => Number(a.split('/')[4]) - Number(b.split('/')[4]))
  .at(-1)

/** A PostgreSQL server from the packages of the operating system. */
export interface Cluster {
  readonly port: number
  /** Address of its database `watchdog`. */
  readonly url: string
  /** Runs one of its programs as its user, with the connection in the environment. */
  tool(program: string, ...options: readonly string[]): Promise<string>
  /** Kills its main process, as a crash would; the other processes then end. */
  kill(): Promise<void>
  /** Makes a standby the primary. */
  promote(): Promise<void>
  /** Stops it if it runs, and deletes its data. */
  remove(): Promise<void>
}

/**
 * Creates and starts a server with one empty database `watchdog`.
 *
 * @throws Error without a Debian package of PostgreSQL
 */
export async function startCluster(settings = ''): Promise<Cluster> {
  const cluster = await newCluster()
  const local = ['--username', 'postgres', '--auth', 'trust', '--no-sync']
  await cluster.tool('initdb', '--pgdata', cluster.data, ...local)
  await cluster.start(settings)
  await cluster.tool('createdb', 'watchdog')
  return cluster
}

/** Creates and starts a hot standby of a server, under a name for `synchronous_standby_names`. */
export async function startStandby(primary: Cluster, name: string): Promise<Cluster> {
  const cluster = await newCluster()
  const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${name}`
  await cluster.tool(
    'pg_basebackup',
    '-R',
    '-D',
    cluster.data,
    '-d',
    from,
    '--no-sync',
    '-c',
    'fast',
  )
  // A promoted standby must not wait for one of its own.
  await cluster.start("synchronous_standby_names = ''")
  return cluster
}

async function newCluster() {
  if (PROGRAMS === undefined) throw new Error('install the Debian package postgresql first')
  const folder = await mkdtemp(join(tmpdir(), 'watchdog-cluster-'))
  const user = await postgresAccount()
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const port = await findPort()
  const environment: ExecFileOptions = {
    ...user,
    cwd: folder,
    env: { PATH: PROGRAMS, PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' },
  }
  const tool = async (program: string, ...options: readonly string[]) => {
    const { stdout } = await run(join(PROGRAMS, program), options, environment)
    return String(stdout)
  }
  const control = (...options: string[]) => tool('pg_ctl', '--pgdata', data, '--wait', ...options)
  return {
    data,
    port,
    url: `postgres://postgres@127.0.0.1:${port}/watchdog`,
    tool,
    start: async (settings: string) => {
      const local = `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\n`
      await appendFile(join(data, 'postgresql.conf'), `\n${local}${settings}\n`)
      await control('--log', join(folder, 'log'), 'start')
    },
    kill: async () => {
      const [pid = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
      process.kill(Number(pid), 'SIGKILL')
    },
    promote: async () => {
      await control('promote')
    },
    remove: async () => {
      await control('--mode', 'immediate', 'stop').catch(() => undefined)
      await rm(folder, { recursive: true })
    },
  }
}

/** PostgreSQL does not run as root: its Debian account, when this process does. */
export async function postgresAccount(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [uid, gid] = await Promise.all(['-u', '-g'].map((part) => run('id', [part, 'postgres'])))
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) }
}
