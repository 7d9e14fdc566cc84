import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWorldClock, type WorldClock } from '#sandbox/world/clock.ts'
import { createDatabaseTime, type DatabaseTime } from '#sandbox/world/database-time.ts'
import { agreesWithDatabase } from '#src/db/clock.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import { createSlices, SLICES } from '#src/db/slices.ts'
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

/** The sandbox's clock and the time of its database. */

let database: FreshDatabase
let time: DatabaseTime
let connection: Connection
let clock: WorldClock

beforeEach(async () => {
  database = await freshDatabase()
  time = await createDatabaseTime(database.url)
  connection = connect(database.url)
  clock = createWorldClock()
  await clock.lead(time)
})
afterEach(async () => {
  await connection.close()
  await time.close()
  await database.drop()
})

const later = (ms: number) => new Date(clock.now().getTime() + ms)
const agrees = () => agreesWithDatabase({ db: connection.db, clock, log: silentLogger })

async function databaseNow(): Promise<number> {
  const [row] = await connection.sql<{ at: Date }[]>`select clock_timestamp() as at`
  return row?.at.getTime() ?? 0
}

test('the database moves with the clock, also in a transaction that runs', async () => {
  const before = await databaseNow()
  await connection.sql.begin('isolation level repeatable read', async (tx) => {
    await tx`select clock_timestamp()`
    await clock.moveTo(later(100 * DAY_MS))
    const [row] = await tx<{ at: Date }[]>`select clock_timestamp() as at`
    expect(row?.at.getTime()).toBeGreaterThanOrEqual(before + 100 * DAY_MS)
  })
  expect(await agrees()).toBe(true)
})

test('a database that is led later is as far ahead as the clock', async () => {
  const other = createWorldClock()
  await other.moveTo(new Date(other.now().getTime() + 7 * DAY_MS))
  await other.lead(time)
  clock = other
  expect(await agrees()).toBe(true)
})

test('nobody sees one of them moved without the other', async () => {
  let isOver = false
  const seen: boolean[] = []
  const look = async () => {
    while (!isOver) seen.push(await agrees())
  }
  const looking = [look(), look(), look(), look()]
  for (let day = 0; day < 50; day += 1) await clock.moveTo(later(DAY_MS))
  isOver = true
  await Promise.all(looking)
  expect(seen.length).toBeGreaterThan(50)
  expect(seen).not.toContain(false)
})

test('jumps at once add nothing up, and a past time moves nothing', async () => {
  const to = later(DAY_MS)
  await Promise.all([clock.moveTo(to), clock.moveTo(to), clock.moveTo(later(-DAY_MS))])
  expect(clock.now().getTime() - to.getTime()).toBeLessThan(MINUTE_MS)
  expect(await agrees()).toBe(true)
})

test('a process keeps its slices, with the same right to write, across a jump', async () => {
  const slices = createSlices({ db: connection.db, name: 'targets', wakes: [] })
  await slices.share()
  const held = slices.hold()
  await clock.moveTo(later(DAY_MS))
  expect(await slices.share()).toBe(false)
  expect(held.held()).toHaveLength(SLICES)
  await held.fenceOf([0]).transact(connection.db, async () => undefined)
  await slices.leave()
})
