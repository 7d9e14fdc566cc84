import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '#sandbox/receiver.ts'
import { credit, debit } from '#src/billing/account/service.ts'
import { transact } from '#src/db/connection.ts'
import { call, PERSON, signIn, watchCredits } from '../../ops/rehearsal/load.ts'
import { lastReleaseTag, writeTree } from '../../ops/release/git.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { SERVICE_FILES, writeNextRelease } from '../support/next-release.ts'
import { createRepository } from '../support/repository.ts'
import { ROOT, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** The upgrade of a database that the release before made and filled, by its own code. */

const run = promisify(execFile)

let receiver: Awaited<ReturnType<typeof startReceiver>>
const folders: string[] = []
const processes: ServiceProcess[] = []
const databases: FreshDatabase[] = []

beforeAll(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await Promise.all(processes.splice(0).map((child) => child.stop()))
  await Promise.all(databases.splice(0).map((database) => database.drop()))
})
afterAll(async () => {
  await receiver.close()
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
})

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'watchdog-release-'))
  folders.push(folder)
  return folder
}

/** The sources of a tag with the packages of its lock file; those of this checkout serve where the lock file is the same. */
async function checkOut(repository: string, tag: string): Promise<string> {
  const folder = await newFolder()
  await writeTree(repository, tag, folder)
  const lock = (root: string) => readFile(join(root, 'package-lock.json'), 'utf8')
  if ((await lock(folder)) === (await lock(ROOT))) {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  } else {
    const args = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']
    await run('npm', args, { cwd: folder })
  }
  return folder
}

async function emptyDatabase(): Promise<FreshDatabase> {
  const database = await freshDatabase()
  databases.push(database)
  await database.sql`drop schema drizzle cascade`
  await database.sql`drop schema public cascade`
  await database.sql`create schema public`
  return database
}

async function start({ url }: FreshDatabase, root: string): Promise<ServiceProcess> {
  const started = await startServiceProcess(
    { DATABASE_URL: url, ROLES: 'api,watcher,delivery' },
    root,
  )
  processes.push(started)
  return started
}

/** Moves the credits of the watched wallet above its limit and below, and waits for the alert and its end. */
async function moveCredits({ db }: FreshDatabase, reference: string): Promise<void> {
  const count = receiver.deliveries.length
  const wallet = PERSON.address
  const move = { wallet, amountCredits: 2000, at: new Date() }
  await transact(db, (tx) => credit(tx, { ...move, type: 'topup', reference: `${reference}:in` }))
  await expect.poll(() => receiver.deliveries.length).toBeGreaterThan(count)
  await transact(db, (tx) => debit(tx, { ...move, type: 'usage', reference: `${reference}:out` }))
  await expect.poll(() => receiver.deliveries.length).toBeGreaterThan(count + 1)
}

/** What the person sees; later releases may add properties, so only these are compared. */
async function seen(base: string, token: string) {
  const ids = async (path: string) => {
    const { data } = await call(base, token, 'GET', path)
    return data.map(({ id }: { id: number }) => id)
  }
  const { balance } = await call(base, token, 'GET', '/account')
  return {
    balance,
    watches: await ids('/watches'),
    recipients: await ids('/recipients'),
    alerts: await ids('/alerts'),
  }
}

/** Lets a release make a database and use it, then another one. */
async function upgrade(from: string, to: string): Promise<void> {
  const database = await emptyDatabase()
  const before = await start(database, from)
  const token = await signIn(before.url)
  const count = receiver.deliveries.length
  await watchCredits(before.url, token, receiver.url())
  // The wallet has no credits. Credits that arrive before the first reading would leave nothing to recover from.
  await expect.poll(() => receiver.deliveries.length).toBeGreaterThan(count)
  await moveCredits(database, 'before')
  const had = await seen(before.url, token)
  expect(had.alerts.length).toBeGreaterThan(0)
  await before.stop()

  const after = await start(database, to)
  const ready = await fetch(`${after.internalUrl}/readyz`)
  const { problems } = await ready.json()
  expect(ready.status).toBe(200)
  const names: readonly string[] = problems.map(({ name }: { name: string }) => name)
  // This world has no chain.
  expect(names.filter((name) => ['database', 'migrations', 'clock'].includes(name))).toEqual([])
  expect(await seen(after.url, token)).toEqual(had)
  await moveCredits(database, 'after')
  expect(after.errors).toEqual([])
}

test('the database of the last release is upgraded by this one', async ({ skip }) => {
  const tag = await lastReleaseTag(ROOT)
  if (tag === undefined) {
    const reason = 'not tried: the history of this checkout has no tag of a release before it'
    process.stderr.write(`upgrade from the last release: ${reason}\n`)
    return skip(reason)
  }
  await upgrade(await checkOut(ROOT, tag), ROOT)
})

test('the release before is found by its tag, and its database is upgraded by the next one', async () => {
  const repository = await createRepository([...SERVICE_FILES, 'package-lock.json'])
  folders.push(repository.folder)
  expect(await lastReleaseTag(repository.folder)).toBeUndefined()
  for (const tag of ['v0.0.9', 'v0.0.10', 'v0.0.10-rc', 'later']) await repository.tag(tag)
  // The tag of this very commit is not the release before.
  expect(await lastReleaseTag(repository.folder)).toBeUndefined()
  const next = await newFolder()
  await writeNextRelease(next)
  await rm(join(repository.folder, 'src'), { recursive: true })
  await repository.commit()
  await repository.tag('v0.0.11')
  const tag = await lastReleaseTag(repository.folder)
  expect(tag).toBe('v0.0.10')
  await upgrade(await checkOut(repository.folder, String(tag)), next)
})
