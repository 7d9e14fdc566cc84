import { readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { runAs } from './account.ts'

/** What a PostgreSQL server says of itself in the `postmaster.pid` of its cluster. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
  /** Whether it takes connections, as far as the file says. */
  readonly ready: boolean
}

/**
 * The server that runs on the cluster, if there is one.
 *
 * @param cluster its real path, without symbolic links
 */
export async function findPostmaster(cluster: string): Promise<Postmaster | undefined> {
  const text = await readFile(fileIn(cluster), 'utf8').catch(() => '')
  const [pid, , , port, , , , status] = text.split('\n')
  if (!(await runsOn(Number(pid), cluster))) return undefined
  return { pid: Number(pid), port: Number(port), ready: status?.trim() === 'ready' }
}

/**
 * Removes a `postmaster.pid` that names no server of the cluster, because the process id belongs to
 * another program by now or was never written. Only for when a server has refused to start because
 * of it: one that is starting may not have written its own yet.
 */
export async function removeStaleFile(cluster: string): Promise<void> {
  if ((await findPostmaster(cluster)) === undefined) await rm(fileIn(cluster), { force: true })
}

function fileIn(cluster: string): string {
  return join(cluster, 'postmaster.pid')
}

/** Whether the process is alive and a server of this cluster, where it has its working directory. */
async function runsOn(pid: number, cluster: string): Promise<boolean> {
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
const LOOK_EVERY_MS = 20

/**
 * Stops the server and waits until it has gone: in order, which ends its connections, and without a
 * checkpoint if that takes too long.
 *
 * @throws Error when it is still there after that
 */
export async function stopPostmaster(pid: number, cluster: string): Promise<void> {
  const steps = [
    ['SIGINT', FAST_SHUTDOWN_MS_MAX],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS_MAX],
  ] as const
  for (const [signal, patienceMs] of steps) {
    if (!(await runsOn(pid, cluster))) return
    interrupt(pid, signal)
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += LOOK_EVERY_MS) {
      if (!(await runsOn(pid, cluster))) return
      await wait(LOOK_EVERY_MS)
    }
  }
  throw new Error(`the PostgreSQL server ${pid} on ${cluster} does not stop`)
}

/** It may have gone by itself since we looked. */
function interrupt(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
