import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Db } from '#src/db/connection.ts'
import { createReplica, type Replica } from '#src/db/replica.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { testClock } from '../support/clock.ts'
import { type StandbyPair, startStandbyPair } from '../support/standby.ts'

let pair: StandbyPair
const log: string[] = []
const logger: Logger = {
  ...silentLogger,
  warn: (fields) => void log.push(String(fields['problem'])),
  info: (_fields, text) => void log.push(text),
}
const counted: string[] = []

beforeAll(async () => {
  pair = await startStandbyPair()
  await pair.primary.sql`create table notes (note text)`
  await vi.waitFor(async () => pair.standby.sql`select from notes`, { timeout: 30_000 })
})
afterAll(() => pair.close())
beforeEach(() => {
  log.splice(0)
  counted.splice(0)
})

/** A copy that is looked at with each reading, and may be this far behind. */
function replicaWith(lagMsMax?: number): Replica {
  const count = (source: string) => void counted.push(source)
  const parts = { db: pair.standby.db, clock: systemClock, log: logger, count, checkMs: 0 }
  return createReplica({ ...parts, ...(lagMsMax !== undefined && { lagMsMax }) })
}

/** Which server answers. */
async function source(replica: Replica): Promise<'standby' | 'primary'> {
  const run = async (db: Db) => {
    const [row] = await db.execute<{ is: boolean }>(sql`select pg_is_in_recovery() as is`)
    return row?.is === true ? 'standby' : 'primary'
  }
  return await replica.read(pair.primary.db, run)
}

const write = () => pair.primary.sql`insert into notes values ('x')`

test('a standby is read while it follows, also if nothing has been written for long', async () => {
  await write()
  const replica = replicaWith(0)
  // Nothing is written, so the standby has all there is, however old its last transaction.
  await vi.waitFor(async () => expect(await source(replica)).toBe('standby'), { timeout: 30_000 })
  expect(await source(replicaWith())).toBe('standby')
  expect(counted.at(-1)).toBe('replica')
})

test('a standby that replays no more is read up to the bound, and again once it has caught up', async () => {
  await pair.standby.sql`select pg_wal_replay_pause()`
  const [patient, strict] = [replicaWith(600_000), replicaWith(100)]
  await write()
  expect(await source(patient)).toBe('standby')
  await vi.waitFor(
    async () => {
      await write()
      expect(await source(strict)).toBe('primary')
    },
    { timeout: 30_000 },
  )
  expect(await source(strict)).toBe('primary')
  expect(log).toEqual(['it is too far behind'])
  expect(counted.slice(-2)).toEqual(['primary', 'primary'])
  await pair.standby.sql`select pg_wal_replay_resume()`
  await vi.waitFor(async () => expect(await source(strict)).toBe('standby'), { timeout: 30_000 })
  expect(log).toEqual(['it is too far behind', 'copy of the database is read again'])
})

test.each([
  [29, 'copy'],
  [31, 'primary'],
])('a standby that is %i seconds behind is read only up to the usual bound', async (seconds, expected) => {
  const answering = (row: object) => ({ execute: () => Promise.resolve([row]) }) as unknown as Db
  const state = { isStandby: true, isLevel: false, isReceiving: true, lagMs: seconds * 1000 }
  const [primary, copy] = [answering({ lsn: '0/1', now: '' }), answering(state)]
  const parts = { db: copy, clock: testClock(), log: logger, count: () => undefined }
  const source = (db: Db) => Promise.resolve(db === copy ? 'copy' : 'primary')
  expect(await createReplica(parts).read(primary, source)).toBe(expected)
})

test('a standby that fails is not read for ten seconds; a refusal of the request is no failure', async () => {
  const clock = testClock()
  const count = (source: string) => void counted.push(source)
  const replica = createReplica({ db: pair.standby.db, clock, log: logger, count })
  await vi.waitFor(
    async () => {
      clock.advance(10)
      expect(await source(replica)).toBe('standby')
    },
    { timeout: 30_000 },
  )
  log.splice(0)
  const refusal = new AppError('invalid', 'validation_failed')
  await expect(replica.read(pair.primary.db, () => Promise.reject(refusal))).rejects.toBe(refusal)
  expect(await source(replica)).toBe('standby')
  // A standby takes no rows.
  const fails = async (db: Db) => void (await db.execute(sql`insert into notes values ('y')`))
  await replica.read(pair.primary.db, fails)
  expect(log).toHaveLength(1)
  expect(await source(replica)).toBe('primary')
  clock.advance(10)
  await vi.waitFor(
    async () => {
      clock.advance(10)
      expect(await source(replica)).toBe('standby')
    },
    { timeout: 30_000 },
  )
})

test('a standby that receives nothing is not read, even if it has all that was written', async () => {
  const replica = replicaWith(0)
  await vi.waitFor(async () => expect(await source(replica)).toBe('standby'), { timeout: 30_000 })
  await pair.standby.sql`alter system set primary_conninfo = ''`
  await pair.standby.sql`select pg_reload_conf()`
  log.splice(0)
  await vi.waitFor(async () => expect(await source(replica)).toBe('primary'), { timeout: 30_000 })
  expect(await source(replica)).toBe('primary')
  expect(log).toEqual(['it receives nothing'])
})

test('a standby that was promoted is not read', async () => {
  await pair.promote()
  const replica = replicaWith()
  expect(await source(replica)).toBe('primary')
  expect(counted).toEqual(['primary'])
  expect(log).toEqual(['it is not a standby'])
})
