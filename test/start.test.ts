import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { lockKey } from '#src/db/advisory-lock.ts'
import packageJson from '../package.json' with { type: 'json' }
import { builtProgram } from './support/built-program.ts'
import { freshDatabase } from './support/database.ts'
import { PROCESS_ENVIRONMENT, testEnvironment } from './support/environment.ts'

const [, , ...START] = packageJson.scripts.start.split(' ')
const ROOT = join(import.meta.dirname, '../')

/** Arguments and environment of `npm start` without npm, for the service as built for this run. */
function command(environment: Readonly<Record<string, string>>) {
  const { path, env } = builtProgram('service')
  return { args: [...START.slice(0, -1), path], env: { ...env, ...environment } }
}

/** Starts the built service; returns its output and how it ended. */
function start(environment: Readonly<Record<string, string>>) {
  const { args, env } = command(environment)
  return follow(args, env)
}

function follow(args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    printed.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    printed.err += chunk
  })
  return { child, printed, ended: once(child, 'exit') }
}

test('a missing or wrong variable stops the start with one line per problem', async () => {
  const { printed, ended } = start({ ...testEnvironment({ PORT: '99999' }), SECRET_KEY: '' })
  expect((await ended)[0]).toBe(1)
  expect(printed.err.trim().split('\n')).toEqual([
    expect.stringMatching(/^PORT is wrong: /),
    'SECRET_KEY is missing',
  ])
})

test('a misspelt variable is named, in the log of a start or beside the one that is missing', async () => {
  const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/nothing'
  const environment = testEnvironment({ LOG_LEVEL: 'info', DATABASE_URL, FLARE_RPC_HEADER: '[]' })
  const { child, ended } = start(environment)
  for await (const chunk of child.stdout) if (String(chunk).includes('FLARE_RPC_HEADER')) break
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  const missing = start({ ...environment, FLARE_RPC_URLS: '' })
  expect((await missing.ended)[0]).toBe(1)
  expect(missing.printed.err.trim().split('\n')).toEqual([
    'FLARE_RPC_URLS is missing',
    'FLARE_RPC_HEADER is unknown; did you mean FLARE_RPC_HEADERS?',
  ])
})

test('a signal to npm start stops the service', async () => {
  const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/nothing'
  const environment = testEnvironment({ LOG_LEVEL: 'info', DATABASE_URL, FLARE_RPC_HEADER: '[]' })
  const env = { ...PROCESS_ENVIRONMENT, ...environment }
  const npm = spawn('npm', ['start'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] })
  let out = ''
  let isTold = false
  for await (const chunk of npm.stdout) {
    out += chunk
    if (isTold || !out.includes('FLARE_RPC_HEADER')) continue
    isTold = true
    npm.kill('SIGTERM')
  }
  expect(out).toContain('"msg":"stopped"')
})

test('a service whose own PostgreSQL was killed ends with an error, and the next start recovers', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'watchdog-killed-'))
  const environment = testEnvironment({ LOG_LEVEL: 'info', DATA_DIR: dataDir })
  for (const end of ['killed', 'stopped'] as const) {
    const { child, printed, ended } = start(environment)
    await vi.waitFor(() => expect(printed.out).toContain('"msg":"ready"'), 50_000)
    const pidFile = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')
    if (end === 'killed') process.kill(Number(pidFile.split('\n')[0]), 'SIGKILL')
    else child.kill('SIGTERM')
    expect(await ended).toEqual([end === 'killed' ? 1 : 0, null])
  }
  await rm(dataDir, { recursive: true })
}, 120_000)

test('a data directory that cannot be created stops the start', async () => {
  const dataDir = process.platform === 'linux' ? '/proc/x' : '/dev/null/x'
  const { printed, ended } = start(testEnvironment({ LOG_LEVEL: 'info', DATA_DIR: dataDir }))
  expect(await ended).toEqual([1, null])
  expect(printed.out).toMatch(/mkdir '[^']+'.*"msg":"start failed"/)
})

test('a database older than PostgreSQL 14 stops the start', async () => {
  const database = await freshDatabase()
  const { sql } = database
  await sql`create schema older`
  await sql`create function older.current_setting(text) returns text language sql
    return case $1 when 'server_version_num' then '130018' else pg_catalog.current_setting($1) end`
  const [{ name } = { name: '' }] = await sql<{ name: string }[]>`select current_database() as name`
  await sql`alter database ${sql(name)} set search_path = older, public, pg_catalog`
  const { printed, ended } = start(
    testEnvironment({ LOG_LEVEL: 'info', DATABASE_URL: database.url }),
  )
  expect(await ended).toEqual([1, null])
  expect(printed.out).toContain('the database is PostgreSQL 13; 14 or newer is needed')
  await database.drop()
})

test('a start that waits for its database stops on a signal', async () => {
  const { child, printed, ended } = start(
    testEnvironment({
      LOG_LEVEL: 'info',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    }),
  )
  for await (const chunk of child.stdout) if (String(chunk).includes('database')) break
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(printed.err).toBe('')
})

/** Code that throws from a timer when the service listens for uncaught exceptions. */
function breaks(failure: string, before = ''): Readonly<Record<string, string>> {
  const isHeard = `process.listenerCount('uncaughtException') > 0`
  const script = `const { writeSync } = await import('node:fs')
    const fill = () => { ${before} }
    setInterval(() => { if (${isHeard}) { fill(); throw ${failure} } }, 5)`
  return {
    ...testEnvironment({
      LOG_LEVEL: 'info',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    }),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
  }
}

test('an uncaught failure is logged without its context, and ends the service', async () => {
  const failure = `new Error('Failed query, params: whatever', { cause: new Error('no such table') })`
  const { printed, ended } = start(breaks(failure))
  expect((await ended)[0]).toBe(1)
  expect(printed.out).toContain('Error: no such table')
  expect(printed.out + printed.err).not.toContain('Failed query')
})

test('an uncaught failure ends the service also when its log is not read', async () => {
  const fill = `try { for (;;) writeSync(process.stdout.fd, 'x'.repeat(65536)) } catch {}`
  const { args, env } = command(breaks(`new Error('broken')`, fill))
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  expect(await once(child, 'exit')).toEqual([1, null])
  child.stdout.destroy()
})

/** What a migration waits for, in the order in which a start meets it. */
const LOCKS = [
  // The migration of another process.
  `select pg_advisory_xact_lock(${lockKey('migrations')}::bigint)`,
  // A table that somebody uses.
  'lock table drizzle.__drizzle_migrations in access exclusive mode',
]

test('a start whose migration waits for another process, or for a table, stops on a signal, and the next one goes on', async () => {
  const database = await freshDatabase()
  const { sql, db } = database
  await sql`drop schema public cascade`
  await sql`create schema public`
  await sql`truncate drizzle.__drizzle_migrations`
  const environment = testEnvironment({
    LOG_LEVEL: 'info',
    DATABASE_URL: database.url,
    ...{ PORT: '0', INTERNAL_PORT: '0' },
  })
  const waiting = () => sql`select locktype from pg_locks where not granted
    and database = (select oid from pg_database where datname = current_database())`
  for (const lock of LOCKS) {
    const isHeld = Promise.withResolvers<void>()
    const mayGo = Promise.withResolvers<void>()
    const holding = db.transaction(async (tx) => {
      await tx.execute(lock)
      isHeld.resolve()
      await mayGo.promise
    })
    await isHeld.promise
    const { child, ended } = start(environment)
    const kind = lock.includes('advisory') ? 'advisory' : 'relation'
    await expect.poll(waiting, { timeout: 30_000 }).toEqual([{ locktype: kind }])
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(await waiting()).toEqual([])
    mayGo.resolve()
    await holding
    const [before] =
      await sql`select count(*)::integer as applied from drizzle.__drizzle_migrations`
    expect(before).toEqual({ applied: 0 })
  }
  const last = start(environment)
  for await (const chunk of last.child.stdout) if (String(chunk).includes('"ready"')) break
  last.child.kill('SIGTERM')
  expect(await last.ended).toEqual([0, null])
  await database.drop()
}, 60_000)

test('npm start runs the sources, and creates partitions before anything is written into them', async () => {
  const database = await freshDatabase()
  const ports = { PORT: '0', INTERNAL_PORT: '0' }
  const { child, printed, ended } = follow(START, {
    ...PROCESS_ENVIRONMENT,
    ...testEnvironment({ LOG_LEVEL: 'info', DATABASE_URL: database.url, ...ports }),
  })
  for await (const chunk of child.stdout) if (String(chunk).includes('"ready"')) break
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  const lines = printed.out.trim().split('\n')
  const messages = lines.map((line): string => JSON.parse(line).msg)
  const notified = messages.filter((message) => ['partitions arranged', 'ready'].includes(message))
  expect(notified).toEqual([...Array(3).fill('partitions arranged'), 'ready'])
  await database.drop()
})
