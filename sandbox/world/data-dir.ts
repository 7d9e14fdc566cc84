import { chmod, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostmaster } from '#src/db/embedded/postmaster.ts'

/** A folder for as long as a world lasts. */
export interface DataDir {
  readonly path: string
  /** Deletes it and the database in it, wherever that was put. */
  remove(): Promise<void>
}

/** Folders are named after the machine and the process they belong to: others may share them. */
const PREFIX = `watchdog-sandbox-${hostname().replaceAll(/[^\w.]/g, '_')}-`
const ESRCH = 'ESRCH'

/**
 * Makes a temporary folder that the database's own user may pass through, and removes those of worlds that
 * were killed.
 *
 * @param base where such folders are
 */
export async function makeDataDir(base = tmpdir()): Promise<DataDir> {
  await removeStale(base)
  const path = await mkdtemp(join(base, `${PREFIX}${process.pid}-`))
  await chmod(path, 0o755)
  return { path, remove: () => remove(path) }
}

async function remove(path: string): Promise<void> {
  // A link when the database's user could not have reached it here.
  const cluster = await clusterIn(path)
  if (cluster !== undefined) await rm(cluster, { recursive: true, force: true })
  await rm(path, { recursive: true, force: true })
}

function clusterIn(path: string): Promise<string | undefined> {
  return realpath(join(path, 'postgres')).catch(() => undefined)
}

async function removeStale(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = name.startsWith(PREFIX)
      ? Number.parseInt(name.slice(PREFIX.length), 10)
      : Number.NaN
    if (Number.isNaN(pid) || isAlive(pid)) continue
    const path = join(base, name)
    const cluster = await clusterIn(path)
    // Its database ends a moment after its world; the next start finds that done.
    const isRunning = cluster !== undefined && (await findPostmaster(cluster)) !== undefined
    if (!isRunning) await remove(path)
  }
}

/** Also for a process of somebody else. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === ESRCH)
  }
}
