import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
import { writeNextRelease } from '../support/next-release.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/**
 * A process of this release and one of the next on one database under load. The next release is a copy of the sources
 * with one more migration, which changes tables that the load uses.
 */

let folder: string
let database: FreshDatabase
let receiver: Awaited<ReturnType<typeof startReceiver>>
const processes: ServiceProcess[] = []
const stop = new AbortController()

beforeAll(async () => {
  ;[database, receiver] = await Promise.all([freshDatabase(), startReceiver()])
  folder = await mkdtemp(join(tmpdir(), 'next-release-'))
  await writeNextRelease(folder)
})
afterAll(async () => {
  stop.abort()
  await Promise.all(processes.map((child) => child.stop()))
  await Promise.all([database.drop(), receiver.close(), rm(folder, { recursive: true })])
})

/** Starts a process of this release, or of the one whose sources are in a folder. */
async function start(root?: string): Promise<ServiceProcess> {
  const environment = { DATABASE_URL: database.url, ROLES: 'api,watcher,delivery' }
  const started = await startServiceProcess(environment, root)
  processes.push(started)
  return started
}

const migrations = async () => {
  const rows = await database.sql`select id from drizzle.__drizzle_migrations`
  return rows.length
}

test('this release works beside the next one, while and after that migrates, and after a rollback', async () => {
  const before = await start()
  const count = await migrations()
  const token = await signIn(before.url)
  await watchCredits(before.url, token, receiver.url())
  const stopBefore = new AbortController()
  const load = newLoad()
  const how = { load, pauseMs: 400, stop: stop.signal }
  const writing = write(database, PERSON.address, how)
  const askingBefore = ask(before.url, token, {
    ...how,
    stop: AbortSignal.any([stop.signal, stopBefore.signal]),
  })
  const goesOn = async () => {
    const count = receiver.deliveries.length + 4
    await expect.poll(() => receiver.deliveries.length).toBeGreaterThanOrEqual(count)
  }
  await goesOn()
  const next = await start(folder)
  const asking = ask(next.url, token, how)
  expect(await migrations()).toBe(count + 1)
  await goesOn()
  stopBefore.abort()
  await askingBefore
  await before.stop()
  await goesOn()
  const back = await start()
  const askingBack = ask(back.url, token, how)
  await goesOn()
  stop.abort()
  await Promise.all([writing, asking, askingBack])
  expect(load.failures).toEqual([])
  expect(await judge(database, load, receiver.deliveries)).toMatchObject({
    ...{ lostWrites: 0, undelivered: 0, deliveredTwice: 0 },
  })
  expect([before, next, back].flatMap(({ errors }) => errors)).toEqual([])
})
