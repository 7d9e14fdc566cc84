import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestClock, testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { someOfEachKind } from '../support/runs.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { type Caller, newCaller, provedLedger } from './callers.ts'

/** A process may die at any moment: no call is charged twice, and no answered one is free. */

let database: FreshDatabase
let upstream: Awaited<ReturnType<typeof startUpstream>>
/** The processes use the machine's clock. */
let clock: TestClock

beforeAll(async () => {
  clock = testClock(new Date(Date.now()))
  database = await freshDatabase()
  upstream = await startUpstream()
})
afterAll(async () => {
  await upstream.close()
  await database.drop()
})

const start = () =>
  startServiceProcess({
    DATABASE_URL: database.url,
    ROLES: 'api',
    METERED_UPSTREAMS: JSON.stringify({ 'ftso-analytics': upstream.url }),
  })
const caller = () => newCaller(database.db, clock, { credits: 100_000, freeUsed: 50 })
const usageOf = async ({ wallet }: Caller) =>
  (await provedLedger(database.db, clock, wallet)).filter(({ type }) => type === 'usage')

function call(service: ServiceProcess, { payer }: Caller): Promise<Response> {
  const headers = { authorization: `Bearer ${payer.token}` }
  return fetch(`${service.url}/data/ftso-analytics/x`, { headers })
}

test('a process killed between charge and answer has charged once', async () => {
  const alice = await caller()
  upstream.hold()
  const dying = await start()
  const lost = call(dying, alice).catch(() => 'no answer')
  await upstream.untilAsked()
  expect(await usageOf(alice)).toHaveLength(1)
  await dying.kill()
  expect(await lost).toBe('no answer')
  upstream.release()

  const service = await start()
  const answer = await call(service, alice)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('x-credits-balance')).toBe('99998')
  await service.stop()
  expect(await usageOf(alice)).toHaveLength(2)
}, 60_000)

test('a process killed under load leaves every ledger whole, and every answered call in it', async () => {
  const people = await Promise.all(Array.from({ length: 8 }, caller))
  for (const answersBeforeDeath of someOfEachKind([1, 40, 200], () => 'under load')) {
    const before = new Map<Caller, number>()
    for (const person of people) before.set(person, (await usageOf(person)).length)
    const service = await start()
    let isAlive = true
    const balances = new Map<Caller, number[]>(people.map((person) => [person, []]))
    let asked = 0
    let heard = 0
    const enough = Promise.withResolvers<void>()
    // One of them calls as often as all others together.
    const hot = people[0] ?? (await caller())
    const clients = [...people, ...people.map(() => hot)].flatMap((person) => [person, person])
    const running = clients.map(async (client) => {
      while (isAlive) {
        asked += 1
        const answer = await call(service, client).catch(() => undefined)
        await answer?.text().catch(() => undefined)
        const balance = answer?.headers.get('x-credits-balance')
        if (answer?.status !== 200) continue
        balances.get(client)?.push(Number(balance))
        heard += 1
        if (heard === answersBeforeDeath) enough.resolve()
      }
    })
    await enough.promise
    await service.kill()
    isAlive = false
    await Promise.all(running)
    // The server finishes the statements of a dead client soon.
    await expect.poll(() => busyWith(database)).toBe(0)
    let answered = 0
    let charged = 0
    for (const [payer, notified] of balances) {
      const entries = (await usageOf(payer)).slice(before.get(payer))
      const written = new Set(entries.map(({ balanceAfterCredits }) => balanceAfterCredits))
      expect(new Set(notified).size).toBe(notified.length)
      expect(notified.filter((balance) => !written.has(balance))).toEqual([])
      answered += notified.length
      charged += entries.length
    }
    expect(answered).toBeGreaterThan(0)
    expect(charged).toBeLessThanOrEqual(asked)
  }
}, 120_000)

/** Statements of other sessions that are still running. */
async function busyWith({ sql }: FreshDatabase): Promise<number> {
  const [row] = await sql`select count(*) as busy from pg_stat_activity
    where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`
  return Number(row?.['busy'])
}

/** An upstream that answers at once, or only when released. */
async function startUpstream() {
  const held: ServerResponse[] = []
  let isHolding = false
  let asked = Promise.withResolvers<void>()
  const server = createServer((_request, response) => {
    asked.resolve()
    if (isHolding) held.push(response)
    else response.end('ok')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    hold: () => {
      isHolding = true
      asked = Promise.withResolvers()
    },
    untilAsked: () => asked.promise,
    release: () => {
      isHolding = false
      for (const response of held.splice(0)) response.end('ok')
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
