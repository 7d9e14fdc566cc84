import { type ExecFileOptions, execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { appendFile, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPort } from '#sandbox/world/ports.ts'

const run = promisify(execFile)

/** Folder of the programs of an installed PostgreSQL, the newest one; undefined if there is none. */
export const DEBIAN_POSTGRES: string | undefined = globSync('/usr/lib/postgresql/*/bin')
  .filter((folder) => existsSync(join(folder, 'pg_basebackup')))
  .sort((one, other) => Number(one.split('/')[4]) - Number(other.split('/')[4]))
  .at(-1)

/** A PostgreSQL server from the programs of the operating system. */
export interface Cluster {
  readonly port: number
  readonly url: string
  /** Runs one of its programs, as its user, with the connection in the environment. */
  tool(program: string, ...options: readonly string[]): Promise<string>
  /** Stops it and deletes its data. */
  remove(): Promise<void>
}

/** Creates and starts a cluster with one database `watchdog`. */
export async function startCluster(): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'watchdog-cluster-'))
  const user = await accountOf()
  const data = join(folder, 'data')
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  const port = await findPort()
  const environment: ExecFileOptions = {
    ...user,
    cwd: folder,
    env: { PATH: DEBIAN_POSTGRES, PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'postgres' },
  }
  const tool = async (program: string, ...options: readonly string[]) => {
    const { stdout } = await run(join(DEBIAN_POSTGRES ?? '', program), options, environment)
    return String(stdout)
  }
  await tool('initdb', '--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--no-sync')
  const settings = `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = ''\n`
  await appendFile(join(data, 'postgresql.conf'), settings)
  const control = (...options: string[]) => tool('pg_ctl', '--pgdata', data, '--wait', ...options)
  await control('--log', join(data, 'log'), 'start')
  await tool('createdb', 'watchdog')
  return {
    port,
    url: `postgres://postgres@127.0.0.1:${port}/watchdog`,
    tool,
    remove: async () => {
      await control('--mode', 'fast', 'stop')
      await rm(folder, { recursive: true })
    },
  }
}

/** PostgreSQL does not run as root: its Debian account, when this process does. */
async function accountOf(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const [uid, gid] = await Promise.all([
    run('id', ['-u', 'postgres']),
    run('id', ['-g', 'postgres']),
  ])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}
