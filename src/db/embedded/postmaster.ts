import { readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { runAs } from './account.ts'

/** State of a PostgreSQL server, from the `postmaster.pid` of its cluster. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
  /** Whether the file says that the server accepts connections. */
  readonly ready: boolean
}

/**
 * The server that runs on the cluster; undefined if none does.
 *
 * @param cluster the real path of the cluster, without symbolic links
 */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readFile(pidFileOf(cluster), 'utf8').catch(() => '')
  const [pid, , , port, , , , status] = text.split('\n')
  if (!(await isServerOf(Number(pid), cluster))) return undefined
  return { pid: Number(pid), port: Number(port), ready: status?.trim() === 'ready' }
}

/**
 * Removes a stale `postmaster.pid`: its process id was never written or belongs to another program. Only
 * for a server that refused to start because of the file, since a server that is starting may not have
 * written its process id yet.
 */
export async function removeStaleFile(cluster: string): Promise<void> {
  if ((await findPostmaster(cluster)) === undefined) await rm(pidFileOf(cluster), { force: true })
}

function pidFileOf(cluster: string): string {
  return join(cluster, 'postmaster.pid')
}

/**
 * Whether the process is alive and a server of this cluster. On Linux its working directory shows that, elsewhere
 * its command line.
 */
async function isServerOf(pid: number, cluster: string): Promise<boolean> {
  if (process.platform === 'linux') {
    return (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) === cluster
  }
  const command = await runAs(undefined, 'ps', ['-ww', '-o', 'args=', '-p', String(pid)]).catch(
    () => '',
  )
  return command.includes(cluster)
}

const FAST_SHUTDOWN_MS_MAX = 15_000
const IMMEDIATE_SHUTDOWN_MS_MAX = 5000
const POLL_MS = 20

/**
 * Stops the server and waits for its end: a fast shutdown, which ends its connections, then an immediate
 * one if that takes too long.
 *
 * @throws Error when the server still runs after both
 */
export async function stopPostmaster(pid: number, cluster: string): Promise<void> {
  const steps = [
    ['SIGINT', FAST_SHUTDOWN_MS_MAX],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS_MAX],
  ] as const
  for (const [signal, patienceMs] of steps) {
    if (!(await isServerOf(pid, cluster))) return
    interrupt(pid, signal)
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += POLL_MS) {
      if (!(await isServerOf(pid, cluster))) return
      await wait(POLL_MS)
    }
  }
  throw new Error(`the PostgreSQL server ${pid} on ${cluster} does not stop`)
}

/** Sends a signal; a process that has already ended is not an error. */
function interrupt(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
