import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder for as long as a world lasts. */
export interface DataDir {
  readonly path: string
  /** Deletes it and the database in it, wherever that was put. */
  remove(): Promise<void>
}

/** Makes a temporary folder that the database's own user may pass through. */
export async function makeDataDir(): Promise<DataDir> {
  const path = await mkdtemp(join(tmpdir(), 'watchdog-sandbox-'))
  await chmod(path, 0o755)
  return {
    path,
    remove: async () => {
      // A link when the database's user could not have reached it here.
      const cluster = await realpath(join(path, 'postgres')).catch(() => undefined)
      if (cluster !== undefined) await rm(cluster, { recursive: true, force: true })
      await rm(path, { recursive: true, force: true })
    },
  }
}
