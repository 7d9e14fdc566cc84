import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { passwordFileOf } from './cluster.ts'
import { databaseUrlOf } from './embedded.ts'
import { findPostmaster } from './postmaster.ts'

/**
 * URL of the database of the PostgreSQL that a service runs on this data directory; undefined if none runs. For programs
 * beside the service, which must neither start nor stop it.
 */
export async function findRunning(dataDir: string): Promise<string | undefined> {
  const path = await realpath(join(dataDir, 'postgres')).catch(() => undefined)
  const server = path === undefined ? undefined : await findPostmaster(path)
  if (path === undefined || server === undefined || !server.ready) return undefined
  const password = (await readFile(passwordFileOf(path), 'utf8')).trim()
  return databaseUrlOf({ password, port: server.port })
}
