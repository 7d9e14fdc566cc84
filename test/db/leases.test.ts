import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { sql as query } from 'drizzle-orm'
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Connection, connect } from '#src/db/connection.ts'
import { createLeases, type Fence, FenceError, type Leases } from '#src/db/leases.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase
const connections: Connection[] = []
const children: ChildProcess[] = []
beforeAll(async () => {
  database = await freshDatabase()
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await Promise.all(connections.splice(0).map((connection) => connection.close()))
})
afterAll(() => database.drop())

/** The leases of a process of its own. */
function newProcess(options?: Parameters<typeof createLeases>[1]): Leases {
  const connection = connect(database.url)
  connections.push(connection)
  return createLeases(connection.sql, options)
}

/** Another process that holds the lease until it is killed. */
async function holdElsewhere(job: string): Promise<ChildProcess> {
  const child = fork(new URL('./hold-lease.ts', import.meta.url), [database.url, job])
  children.push(child)
  await once(child, 'message')
  return child
}

/** Ends the memberships that are not renewed, as time would. */
const pass = () => database.sql`update members set expires_at = expires_at - interval '1 minute'`

const whenAborted = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort')
}

test('a lease has one holder at a time, within a process and between processes', async () => {
  const [one, other] = [newProcess(), newProcess()]
  const lease = await one.tryTake('one')
  expect(lease).toBeDefined()
  expect(await one.tryTake('one')).toBeUndefined()
  expect(await other.tryTake('one')).toBeUndefined()
  expect(await other.tryTake('another')).toBeDefined()
  await lease?.release()
  expect(await other.tryTake('one')).toBeDefined()
  expect(await one.tryTake('one')).toBeUndefined()
})

test('leases that are asked for at once are each taken or refused by themselves', async () => {
  const [one, other] = [newProcess(), newProcess()]
  await other.tryTake('many 2')
  const leases = await Promise.all(['many 1', 'many 2', 'many 3'].map(one.tryTake))
  expect(leases.map((lease) => lease !== undefined)).toEqual([true, false, true])
})

test('of two parts of a process that wait for one lease, the second gets it after the first', async () => {
  const leases = newProcess()
  const { signal } = new AbortController()
  const order: string[] = []
  const work = (name: string) =>
    leases.whileHolding('waited for', signal, async () => {
      order.push(`${name} begins`)
      await Promise.resolve()
      order.push(`${name} ends`)
    })
  await Promise.all([work('first'), work('second')])
  expect(order).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])
})

test('releasing a lease twice does not release it for its next holder', async () => {
  const [one, other] = [newProcess(), newProcess()]
  const lease = await one.tryTake('twice')
  await lease?.release()
  expect(await other.tryTake('twice')).toBeDefined()
  await lease?.release()
  expect(await one.tryTake('twice')).toBeUndefined()
})

test('a process that closes its connection gives its leases up', async () => {
  const connection = connect(database.url)
  const lease = await createLeases(connection.sql).tryTake('closed')
  await connection.close()
  expect(lease?.signal.aborted).toBe(true)
  expect(await newProcess().tryTake('closed')).toBeDefined()
})

test.each([
  'SIGKILL',
  'SIGSTOP',
] as const)('work goes on in another process after %s of the one that held the lease', async (signal) => {
  const holder = await holdElsewhere(`leader ${signal}`)
  const leases = newProcess()
  expect(await leases.tryTake(`leader ${signal}`)).toBeUndefined()
  holder.kill(signal)
  const { signal: never } = new AbortController()
  expect(await leases.whileHolding(`leader ${signal}`, never, async () => 'done')).toBe('done')
})

test('a lease outlives the connection on which it was taken', async () => {
  const [one, other] = [newProcess(), newProcess()]
  const lease = await one.tryTake('connected again')
  await database.sql`
    select pg_terminate_backend(pid, 10000) from pg_stat_activity
    where application_name = ${`flare-watchdog ${one.owner}`}`
  await one.renew().catch(() => undefined)
  await one.renew()
  expect(await other.tryTake('connected again')).toBeUndefined()
  expect(lease?.signal.aborted).toBe(false)
})

test('a process that cannot renew gives up its work by itself', async () => {
  const [one, other] = [newProcess(), newProcess()]
  const lease = await one.tryTake('not renewed')
  assert(lease !== undefined)
  await database.sql`alter table members rename to hidden`
  await whenAborted(lease.signal)
  await database.sql`alter table hidden rename to members`
  const { signal } = new AbortController()
  expect(await other.whileHolding('not renewed', signal, async () => 'goes on')).toBe('goes on')
  await expect(lease.fence.transact(database.db, async () => undefined)).rejects.toThrow()
})

test('work is aborted when its lease was taken over, and starts again when it is held again', async () => {
  const [one, other] = [newProcess(), newProcess()]
  const stop = new AbortController()
  const begun: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()]
  let runs = 0
  const work = one.whileHolding('lost', stop.signal, async (signal) => {
    begun[runs]?.resolve()
    runs += 1
    await whenAborted(signal)
  })
  await begun[0]?.promise
  await database.sql`update leases set owner = null where item = 'lost'`
  const taken = await other.tryTake('lost')
  // Unless the process itself was faster.
  await taken?.release()
  await begun[1]?.promise
  stop.abort()
  expect(await work).toBeUndefined()
  expect(runs).toBe(2)
})

test('work that throws fails the call and releases the lease', async () => {
  const leases = newProcess()
  const work = leases.whileHolding('failing', new AbortController().signal, async () => {
    throw new Error('its own')
  })
  await expect(work).rejects.toThrow('its own')
  expect(await newProcess().tryTake('failing')).toBeDefined()
})

test('waiting for a lease ends when its signal is aborted', async () => {
  await newProcess().tryTake('wanted')
  const stop = new AbortController()
  const work = newProcess().whileHolding('wanted', stop.signal, async () => 'never')
  stop.abort()
  expect(await work).toBeUndefined()
})

test('a process that waits survives a database that refuses, says so once, and goes on', async () => {
  const lines: string[] = []
  const write = (_: object, message: string) => lines.push(message)
  const log = { debug: write, info: write, warn: write, error: write }
  await database.sql`alter table members rename to hidden`
  const leases = newProcess({ log })
  const { signal } = new AbortController()
  const work = leases.whileHolding('refused', signal, async () => 'done')
  await expect(leases.renew()).rejects.toThrow()
  await expect(leases.tryTake('refused too')).rejects.toThrow()
  await database.sql`alter table hidden rename to members`
  expect(await work).toBe('done')
  expect(lines).toEqual(['leases could not be renewed', 'leases are renewed again'])
})

describe('a fence', () => {
  const write = (fence: Fence, value: number) =>
    fence.transact(database.db, async (tx) => {
      await tx.execute(query`insert into written (value) values (${value})`)
    })
  const written = async () =>
    (await database.sql<{ value: number }[]>`select value from written order by value`).map(
      ({ value }) => value,
    )
  beforeEach(async () => {
    await database.sql`create table if not exists written (value integer)`
    await database.sql`truncate written`
  })

  test('has a number that grows with every holder, and a write with an older one is refused', async () => {
    const [frozen, other] = [newProcess({ isRenewing: false }), newProcess()]
    const early = await frozen.tryTake('fenced')
    assert(early !== undefined)
    await write(early.fence, 1)
    await pass()
    const late = await other.tryTake('fenced')
    assert(late !== undefined)
    expect(late.fence.number).toBeGreaterThan(early.fence.number)
    expect(early.signal.aborted).toBe(false)
    await expect(write(early.fence, 2)).rejects.toBeInstanceOf(FenceError)
    expect(early.signal.aborted).toBe(true)
    await write(late.fence, 3)
    expect(await written()).toEqual([1, 3])
  })

  test('keeps the lease from others while a transaction under it runs', async () => {
    const [frozen, other] = [newProcess({ isRenewing: false }), newProcess()]
    const early = await frozen.tryTake('overlapping')
    assert(early !== undefined)
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const writing = early.fence.transact(database.db, async (tx) => {
      begun.resolve()
      await goOn.promise
      await tx.execute(query`insert into written (value) values (1)`)
    })
    await begun.promise
    await pass()
    expect(await other.tryTake('overlapping')).toBeUndefined()
    // Others are not kept back.
    expect(await other.tryTake('beside it')).toBeDefined()
    goOn.resolve()
    await writing
    expect(await other.tryTake('overlapping')).toBeDefined()
    expect(await written()).toEqual([1])
  })

  test('ends the transactions that use it when its lease is lost', async () => {
    const connection = connect(database.url)
    const lease = await createLeases(connection.sql).tryTake('ended')
    assert(lease !== undefined)
    const begun = Promise.withResolvers<void>()
    const never = new Promise<never>(() => undefined)
    const writing = lease.fence.transact(database.db, async (tx) => {
      await tx.execute(query`insert into written (value) values (1)`)
      begun.resolve()
      await never
    })
    writing.catch(() => undefined)
    await begun.promise
    await connection.close()
    await expect(writing).rejects.toThrow('lost')
    await expect(write(lease.fence, 2)).rejects.toThrow('lost')
    expect(await written()).toEqual([])
  })

  test('is new after the holder was replaced, before its work continues', async () => {
    const [one, other] = [newProcess({ isRenewing: false }), newProcess()]
    const numbers: number[] = []
    await one.whileHolding(
      'passed over',
      new AbortController().signal,
      async (_signal, { fence }) => {
        numbers.push(fence.number)
        if (numbers.length === 1) {
          // Another process took the lease while this one was frozen.
          await pass()
          await (await other.tryTake('passed over'))?.release()
        }
        await write(fence, fence.number)
      },
    )
    expect(numbers).toHaveLength(2)
    expect(await written()).toEqual([numbers[1]])
  })
})
