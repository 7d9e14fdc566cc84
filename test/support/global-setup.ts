import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { connect } from '#src/db/connection.ts'
import { startEmbedded } from '#src/db/embedded/embedded.ts'
import { migrate } from '#src/db/migrate.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { COMPILE_CACHE, QUICK_MODULES } from './compile-cache.ts'
import { roomyFolder } from './roomy-folder.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Administrative database of the test server, for creating others. */
    databaseServerUrl: string
    /** Name of a migrated and empty database, to be cloned. */
    databaseTemplate: string
  }
}

const SERVICE = join(import.meta.dirname, '../../src/main.ts')
const MIGRATIONS = join(import.meta.dirname, '../../migrations')

/**
 * Starts one PostgreSQL for the whole run, with one migrated database that every test file clones.
 *
 * It is the server of `TEST_DATABASE_URL`, or one of its own, which is deleted afterwards.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await compileService()
  const server = await startServer()
  const template = `watchdog_template_${randomBytes(6).toString('hex')}`
  try {
    await createTemplate(server.url, template)
  } catch (error) {
    await server.stop()
    throw error
  }
  project.provide('databaseServerUrl', server.url)
  project.provide('databaseTemplate', template)
  return async () => {
    await dropTemplate(server.url, template)
    await server.stop()
  }
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL
  if (given !== undefined && given !== '') return { url: given, stop: async () => undefined }
  const folder = await mkdtemp(join(await roomyFolder(), 'watchdog-test-'))
  await chmod(folder, 0o755)
  const embedded = await startEmbedded({
    dataDir: folder,
    sharedDir: join(folder, 'shared'),
    logger: silentLogger,
    durable: false,
  })
  return {
    url: embedded.url,
    stop: async () => {
      await embedded.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Fills the cache of compiled modules, because killed processes never write it. */
async function compileService(): Promise<void> {
  const environment = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    NODE_OPTIONS: QUICK_MODULES,
  }
  const service = spawn(process.execPath, [SERVICE], { env: environment, stdio: 'ignore' })
  // It ends by itself: required variables are missing.
  await once(service, 'exit')
}

async function createTemplate(serverUrl: string, name: string): Promise<void> {
  const admin = connect(serverUrl, { max: 1 })
  await admin.sql`create database ${admin.sql(name)}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const database = connect(url.href, { max: 1 })
  const journal = await stat(join(MIGRATIONS, 'meta/_journal.json')).catch(() => undefined)
  if (journal !== undefined) await migrate(database.sql, MIGRATIONS)
  await database.close()
  // Cloning needs a template without connections.
  await admin.sql`alter database ${admin.sql(name)} with is_template true allow_connections false`
  await admin.close()
}

async function dropTemplate(serverUrl: string, name: string): Promise<void> {
  const admin = connect(serverUrl, { max: 1 })
  await admin.sql`alter database ${admin.sql(name)} with is_template false`
  await admin.sql`drop database ${admin.sql(name)} with (force)`
  await admin.close()
}
