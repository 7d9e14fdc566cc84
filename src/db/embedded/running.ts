import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '#src/kernel/logger.ts'
import { passwordFileOf } from './cluster.ts'
import { databaseUrlOf, startEmbedded } from './embedded.ts'
import { findPostmaster } from './postmaster.ts'

/**
 * URL of the configured database, for programs beside the service. An embedded PostgreSQL that a service runs is used as it
 * is; one that does not run is started, and ends with `undo`.
 */
export async function openBeside(
  { url, dataDir }: { readonly url: string | undefined; readonly dataDir: string },
  { logger, undo }: { readonly logger: Logger; readonly undo: AsyncDisposableStack },
): Promise<string> {
  const known = url ?? (await findRunning(dataDir))
  if (known !== undefined) return known
  const embedded = await startEmbedded({ dataDir, logger })
  undo.defer(() => embedded.stop())
  return embedded.url
}

/** URL of the database of the PostgreSQL that runs on this data directory; undefined if none runs. */
async function findRunning(dataDir: string): Promise<string | undefined> {
  const path = await realpath(join(dataDir, 'postgres')).catch(() => undefined)
  const server = path === undefined ? undefined : await findPostmaster(path)
  if (path === undefined || server === undefined || !server.ready) return undefined
  const password = (await readFile(passwordFileOf(path), 'utf8')).trim()
  return databaseUrlOf({ password, port: server.port })
}
