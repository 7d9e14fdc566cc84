import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '#sandbox/receiver.ts'
import {
  ask,
  judge,
  newLoad,
  PERSON,
  signIn,
  watchCredits,
  write,
} from '../../ops/rehearsal/load.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/**
 * A process of the previous release and one of the present release on one database under load. The
 * old code is taken from
 * the history of the repository; a clone without it cannot run this.
 */

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const JOURNAL = 'migrations/meta/_journal.json'
const git = async (...words: readonly string[]) =>
  (await run('git', ['-C', ROOT, ...words])).stdout.trim()

/**
 * Commit of the previous release. Update it with each release. Packages that only that release needs (now `siwe` and
 * `ethers`) are development dependencies until then.
 */
const BEFORE = 'd2992d2cbfa640319bf3c05b1b514bd35bd605b8'

/** Whether this clone has that commit; a shallow clone lacks it. */
const isKnown = await git('cat-file', '-e', BEFORE).then(
  () => true,
  () => false,
)
let folder: string
let database: FreshDatabase
let receiver: Awaited<ReturnType<typeof startReceiver>>
const processes: ServiceProcess[] = []
const stop = new AbortController()

beforeAll(async () => {
  ;[database, receiver] = await Promise.all([freshDatabase(), startReceiver()])
  folder = await mkdtemp(join(tmpdir(), 'release-before-'))
  if (!isKnown) return
  const archive = join(folder, 'archive.tar')
  await git('archive', '--output', archive, BEFORE)
  await mkdir(join(folder, 'code'))
  await run('tar', ['-xf', archive, '-C', join(folder, 'code')])
  await symlink(join(ROOT, 'node_modules'), join(folder, 'code/node_modules'))
  const { sql } = database
  await sql`drop schema if exists drizzle cascade`
  await sql`drop schema public cascade`
  await sql`create schema public`
})
afterAll(async () => {
  stop.abort()
  await Promise.all(processes.map((child) => child.stop()))
  await Promise.all([database.drop(), receiver.close(), rm(folder, { recursive: true })])
})

async function start(root = ROOT): Promise<ServiceProcess> {
  const environment = { DATABASE_URL: database.url, ROLES: 'api,watcher,delivery' }
  const started = await startServiceProcess(environment, root)
  processes.push(started)
  return started
}

const migrations = async () => {
  const rows = await database.sql`select id from drizzle.__drizzle_migrations`
  return rows.length
}

async function countMigrations(root: string): Promise<number> {
  return JSON.parse(await readFile(join(root, JOURNAL), 'utf8')).entries.length
}

test.skipIf(!isKnown)(
  'the release before works beside this one, while and after it migrates, and after a rollback',
  async () => {
    const code = join(folder, 'code')
    const old = await start(code)
    expect(await migrations()).toBe(await countMigrations(code))
    const token = await signIn(old.url)
    await watchCredits(old.url, token, receiver.url())
    const stopOld = new AbortController()
    const load = newLoad()
    const how = { load, pauseMs: 400, stop: stop.signal }
    const writing = write(database, PERSON.address, how)
    const askingOld = ask(old.url, token, {
      ...how,
      stop: AbortSignal.any([stop.signal, stopOld.signal]),
    })
    const goesOn = async () => {
      const count = receiver.deliveries.length + 4
      await expect.poll(() => receiver.deliveries.length).toBeGreaterThanOrEqual(count)
    }
    await goesOn()
    const today = await start()
    const asking = ask(today.url, token, how)
    expect(await migrations()).toBe(await countMigrations(ROOT))
    expect(await countMigrations(ROOT)).toBeGreaterThan(await countMigrations(code))
    await goesOn()
    stopOld.abort()
    await askingOld
    await old.stop()
    await goesOn()
    const back = await start(code)
    const askingBack = ask(back.url, token, how)
    await goesOn()
    stop.abort()
    await Promise.all([writing, asking, askingBack])
    expect(load.failures).toEqual([])
    expect(await judge(database, load, receiver.deliveries)).toMatchObject({
      ...{ lostWrites: 0, undelivered: 0, deliveredTwice: 0 },
    })
    expect([old, today, back].flatMap(({ errors }) => errors)).toEqual([])
  },
)
