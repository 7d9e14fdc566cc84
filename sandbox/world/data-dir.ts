import { chmod, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostmaster } from '#src/db/embedded/postmaster.ts'

/** Folder of a world. */
export interface DataDir {
  readonly path: string
  /** Deletes the folder and the database, which may be in another place. */
  remove(): Promise<void>
}

/** Folders are named after the machine and the process, because others may share the parent folder. */
const PREFIX = `watchdog-sandbox-${hostname().replaceAll(/[^\w.]/g, '_')}-`
const ESRCH = 'ESRCH'

/**
 * Creates a temporary folder that the database's own user may enter, and removes the folders of killed worlds.
 *
 * @param base parent folder
 */
export async function makeDataDir(base = tmpdir()): Promise<DataDir> {
  await removeStale(base)
  const path = await mkdtemp(join(base, `${PREFIX}${process.pid}-`))
  await chmod(path, 0o755)
  return { path, remove: () => remove(path) }
}

async function remove(path: string): Promise<void> {
  // `postgres` is a link if the database's user cannot reach this folder.
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
    // The database of a killed world may run for a moment longer; then a later start removes its folder.
    const isRunning = cluster !== undefined && (await findPostmaster(cluster)) !== undefined
    if (!isRunning) await remove(path)
  }
}

/** Whether the process is alive, also for one of another user. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === ESRCH)
  }
}
