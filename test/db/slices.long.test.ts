import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { sql as query } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { connect } from '#src/db/connection.ts'
import { createLeases, FenceError } from '#src/db/leases.ts'
import { createSlices, type HeldSlices, SLICES, type Slices } from '#src/db/slices.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { isWhole } from '../support/runs.ts'

let database: FreshDatabase
const children: ChildProcess[] = []
beforeAll(async () => {
  database = await freshDatabase()
  await database.sql`create table slice_writes (slice int, value int, writer int)`
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(() => database.drop())

let names = 0
function newName(): string {
  names += 1
  return `work ${names}`
}

/** The slices of a process that renews its membership when it shares them. */
const member = (name: string, base = database): Slices => {
  const leases = createLeases(base.sql, { isRenewing: false })
  return createSlices({ db: base.db, leases, name, wakes: [] })
}

/** Ends the memberships that are not renewed, as time would. */
const pass = (name: string) =>
  database.sql`update members set expires_at = expires_at - interval '1 minute' where work = ${name}`

async function settle(members: readonly Slices[]): Promise<readonly number[]> {
  for (let round = 0; round < 3; round += 1)
    for (const memberSlices of members) await memberSlices.share()
  return members.map((memberSlices) => memberSlices.held().length)
}

async function holdElsewhere(name: string): Promise<ChildProcess> {
  const child = fork(new URL('./hold-slices.ts', import.meta.url), [database.url, name])
  children.push(child)
  await once(child, 'message')
  return child
}

const write = (slices: HeldSlices, list: readonly number[], work = async () => undefined) =>
  slices.fenceOf(list).transact(database.db, async (tx) => {
    await tx.execute(query`select 1`)
    return await work()
  })

/** Runs an action while a member writes for slices. */
async function whileWriting(
  slices: HeldSlices,
  list: readonly number[],
  act: () => Promise<void>,
): Promise<void> {
  const [begun, over] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const writing = write(slices, list, () => {
    begun.resolve(undefined)
    return over.promise
  })
  await begun.promise
  await act()
  over.resolve(undefined)
  await writing
}

test('a single process holds all slices; each process that joins gets a share', async () => {
  const name = newName()
  const all = [member(name), member(name), member(name)] as const
  expect(await settle(all.slice(0, 1))).toEqual([SLICES])
  expect((await settle(all.slice(0, 2))).toSorted()).toEqual([16, 16])
  expect((await settle(all)).toSorted()).toEqual([10, 11, 11])
  const held = all.flatMap((memberSlices) => memberSlices.held())
  expect(new Set(held).size).toBe(SLICES)
})

test('a process that stops releases its slices at once', async () => {
  const name = newName()
  const [first, second] = [member(name), member(name)]
  await settle([first, second])
  await second.leave()
  expect(second.held()).toEqual([])
  await first.share()
  expect(first.held()).toHaveLength(SLICES)
})

test('the slices of a dead process are taken over, and its later writes are refused', async () => {
  const name = newName()
  const [former, next] = [member(name), member(name)]
  await former.share()
  await pass(name)
  await next.share()
  expect(next.held()).toHaveLength(SLICES)
  expect(former.isHeld(3)).toBe(true)
  const hold = former.hold()
  await expect(write(hold, [3, 4])).rejects.toBeInstanceOf(FenceError)
  expect([hold.isHeld(3), hold.isHeld(4), hold.isHeld(5)]).toEqual([false, false, true])
  await write(next, [3, 4])
})

test('the slices of a process that died before the clock of the database was put back are taken over', async () => {
  const name = newName()
  const [former, next] = [member(name), member(name)]
  await former.share()
  await database.sql`
    update members set expires_at = expires_at + interval '1 hour' where work = ${name}`
  await next.share()
  expect(next.held()).toHaveLength(SLICES)
})

test('a slice is not taken over while its owner writes for it', async () => {
  const name = newName()
  const [former, next] = [member(name), member(name)]
  await former.share()
  await whileWriting(former, [7], async () => {
    await pass(name)
    await next.share()
  })
  expect(next.isHeld(7)).toBe(false)
  expect(next.held()).toHaveLength(SLICES - 1)
  await next.share()
  expect(next.isHeld(7)).toBe(true)
  await expect(write(former, [7])).rejects.toBeInstanceOf(FenceError)
})

test('renewing and releasing slices do not wait for a transaction of their owner', async () => {
  const name = newName()
  const [first, second] = [member(name), member(name)]
  await first.share()
  await whileWriting(first, first.held(), async () => {
    await second.share()
    await first.share()
  })
  expect(first.held()).toHaveLength(16)
  await second.share()
  expect(second.held()).toHaveLength(16)
})

test('a slice that was lost and taken again has a new fence', async () => {
  const name = newName()
  const [first, second] = [member(name), member(name)]
  await first.share()
  const before = first.hold()
  await settle([first, second])
  await second.leave()
  await first.share()
  expect(first.held()).toHaveLength(SLICES)
  expect(before.held()).toHaveLength(SLICES / 2)
  const returned = first.held().filter((slice) => !before.isHeld(slice))
  await expect(write(before, returned)).rejects.toBeInstanceOf(FenceError)
  await write(first, returned)
})

test('a process that lost its slices and continues gets a share again', async () => {
  const name = newName()
  const [former, next] = [member(name), member(name)]
  await former.share()
  await pass(name)
  await next.share()
  expect((await settle([former, next])).toSorted()).toEqual([16, 16])
  await write(former, former.held())
  await write(next, next.held())
})

test('no slice is lost if the connection breaks before the result of the database arrives', async () => {
  const name = newName()
  const other = connect(database.url, { max: 1 })
  const rejoined = member(name, { ...database, ...other })
  await rejoined.share()
  await database.sql`
    update leases set number = number + 1 where work = ${name} and item = '9'`
  await expect(write(rejoined, [9])).rejects.toBeInstanceOf(FenceError)
  await rejoined.share()
  await write(rejoined, [9])
  await other.close()
})

test('a membership is renewed while all connections of the pool are taken', async () => {
  const name = newName()
  const busy = connect(database.url, { max: 1 })
  const leases = createLeases(busy.sql)
  const slices = createSlices({ db: busy.db, leases, name, wakes: [] })
  await slices.share()
  await pass(name)
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = busy.db.transaction(async () => {
    begun.resolve()
    await over.promise
  })
  await begun.promise
  await leases.renew()
  const other = member(name)
  await other.share()
  expect(other.held()).toEqual([])
  over.resolve()
  await holding
  await busy.close()
})

test('a process that has not shared for thirty seconds is no longer a member', async () => {
  const name = newName()
  const leases = createLeases(database.sql, { isRenewing: false })
  const first = createSlices({ db: database.db, leases, name, wakes: [] })
  await leases.renew()
  expect(await database.sql`select from members where work = ${name}`).toHaveLength(0)
  await first.share()
  await pass(name)
  const later = performance.now() + 30_001
  const clock = vi.spyOn(performance, 'now').mockReturnValue(later)
  await leases.renew()
  clock.mockRestore()
  const second = member(name)
  await second.share()
  expect(second.held()).toHaveLength(SLICES)
})

test('processes that are killed, frozen and started at random never write for one slice at once', async () => {
  const name = newName()
  const running = [await holdElsewhere(name), await holdElsewhere(name)]
  const signals = ['SIGKILL', 'SIGSTOP', ...(isWhole ? (['SIGKILL'] as const) : [])] as const
  for (const signal of signals) {
    const victim = running.shift()
    const { pid } = victim ?? {}
    const before = await count()
    victim?.kill(signal)
    running.push(await holdElsewhere(name))
    // The remaining members write every slice.
    await vi.waitFor(async () => {
      const rows = await database.sql<{ slices: number }[]>`
        select count(distinct slice)::int as slices from (
          select slice from slice_writes where writer <> ${pid ?? 0} offset ${before}
        ) later`
      expect(rows[0]?.slices).toBe(SLICES)
    }, 30_000)
    if (signal === 'SIGSTOP') victim?.kill('SIGCONT')
  }
  const doubled = await database.sql`
    select slice, value from slice_writes group by slice, value having count(*) > 1`
  expect(doubled).toEqual([])
}, 120_000)

async function count(): Promise<number> {
  const [row] = await database.sql<
    { count: number }[]
  >`select count(*)::int as count from slice_writes`
  return row?.count ?? 0
}
