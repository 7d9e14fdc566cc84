import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestProject } from 'vitest/node'
import { connect } from '#src/db/connection.ts'
import { startEmbedded } from '#src/db/embedded/embedded.ts'
import { migrate } from '#src/db/migrate.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { buildPrograms, compileCacheOf, programPath } from './build-programs.ts'
import { CACHE, QUICK_START_FLAG } from './cache.ts'
import { databaseFolder } from './database-folder.ts'
import { DRAFT } from './unpacked.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Administrative database of the test server, for creating others. */
    databaseServerUrl: string
    /** The same for processes of the tests themselves, which costs less: a Unix socket, if the server has one. */
    databaseNearUrl: string
    /** Name of a migrated and empty database, to be cloned. */
    databaseTemplate: string
    /** Folder of the programs that tests start. */
    programs: string
  }
}

const ROOT = join(import.meta.dirname, '../..')
const MIGRATIONS = join(ROOT, 'migrations')
const PREFIX = 'programs-'
const STALE_MS = 86_400_000

/**
 * Starts one PostgreSQL for the whole run, with one migrated database that every test file clones.
 *
 * It is the server of `TEST_DATABASE_URL`, or one of its own, which is deleted afterwards.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [programs, server] = await Promise.all([makePrograms(), startServer()])
  const template = `watchdog_template_${randomBytes(6).toString('hex')}`
  try {
    await createTemplate(server.url, template)
  } catch (error) {
    await server.stop()
    throw error
  }
  project.provide('programs', programs)
  project.provide('databaseServerUrl', server.url)
  project.provide('databaseNearUrl', server.nearUrl)
  project.provide('databaseTemplate', template)
  return async () => {
    await dropTemplate(server.url, template)
    await server.stop()
    await rm(programs, { recursive: true, force: true })
  }
}

async function startServer(): Promise<{ url: string; nearUrl: string; stop(): Promise<void> }> {
  const url = process.env.TEST_DATABASE_URL
  if (url !== undefined && url !== '') {
    return { url, nearUrl: url, stop: async () => undefined }
  }
  const folder = await mkdtemp(join(await databaseFolder(), 'watchdog-test-'))
  await chmod(folder, 0o755)
  const embedded = await startEmbedded({
    dataDir: folder,
    sharedDir: join(folder, 'shared'),
    logger: silentLogger,
    durable: false,
    hasSocket: true,
  })
  await tune(embedded.url)
  return {
    url: embedded.url,
    nearUrl: embedded.socketUrl ?? embedded.url,
    stop: async () => {
      await embedded.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Stores the password with one iteration of its hash, because a run opens thousands of connections, each with 4,096 by
 * default. Databases of tests live too short for autovacuum, which would change plans in the middle of a test.
 */
async function tune(url: string): Promise<void> {
  const admin = connect(url, { max: 1 })
  await admin.sql.begin(async (sql) => {
    await sql`set local scram_iterations = 1`
    await sql.unsafe(`alter role current_user password '${new URL(url).password}'`)
  })
  await admin.sql`alter system set autovacuum = off`
  await admin.sql`select pg_reload_conf()`
  await admin.close()
}

/**
 * Builds the programs that tests start, in a folder of this run alone, and fills its cache of compiled
 * modules, because killed processes never write it.
 */
async function makePrograms(): Promise<string> {
  await removeStale()
  const folder = await mkdtemp(join(CACHE, PREFIX))
  await buildPrograms(ROOT, folder)
  const environment = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: compileCacheOf(folder),
    NODE_OPTIONS: QUICK_START_FLAG,
  }
  const path = programPath(folder, 'service')
  const service = spawn(process.execPath, [path], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(service, 'exit')
  // The process ends, because required variables are missing.
  const output = await text(service.stderr)
  await ended
  if (!output.includes('TERMS_URL is missing'))
    throw new Error(`the built service fails:\n${output}`)
  return folder
}

/** Removes the remains of killed runs. */
async function removeStale(): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  for (const name of await readdir(CACHE)) {
    if (!name.startsWith(PREFIX) && !name.startsWith(DRAFT)) continue
    const folder = join(CACHE, name)
    const { mtimeMs } = await stat(folder)
    if (Date.now() - mtimeMs > STALE_MS) await rm(folder, { recursive: true, force: true })
  }
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
