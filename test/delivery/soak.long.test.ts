import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtProgram } from '../support/built-program.ts'
import { isWhole, runs } from '../support/runs.ts'
import { type Draft, type Outbox, openOutbox, serve, type Target } from './outbox.ts'

/** Every delivery arrives in order, with any answers of the other side and any worker killed. */

const ALERTS = runs(400, 2000)
/**
 * In each round a part of the alerts is raised, and a worker is killed when half of them are
 * delivered.
 */
const ROUNDS = isWhole ? 4 : 2
const HOSTS = 4
const KEYS_PER_HOST = 10
/** Factor of the clock: a lease takes five seconds, the first wait less than half a second. */
const CLOCK_SPEED = 12
const TEN_MINUTES_MS = 600_000
/** Time without a delivery after which the remaining ones wait for their next attempt. */
const QUIET_MS = 800
const DEADLINE_MS = 60_000

let outbox: Outbox

beforeAll(async () => {
  outbox = await openOutbox()
})
afterAll(() => outbox.close())

test('all alerts are delivered in spite of refusals, hangs, resets and killed workers', async () => {
  const hosts = await Promise.all(Array.from({ length: HOSTS }, () => openCustomer()))
  const targets: Target[] = []
  for (const { url } of hosts) targets.push(await outbox.addRecipient(url()))
  const drafts = Array.from({ length: ALERTS }, (_, index): Draft => {
    const to = targets[index % HOSTS]
    if (to === undefined) throw new Error('no host')
    const key = `${index % HOSTS}.${Math.floor(index / HOSTS) % KEYS_PER_HOST}`
    const place = Math.floor(index / (HOSTS * KEYS_PER_HOST))
    return { to, key, firedAfterSeconds: place, title: `${key} ${place}` }
  })

  const workers = createWorkers()
  await Promise.all([workers.start(), workers.start()])
  for (let round = 0; round < ROUNDS; round += 1) {
    const share = ALERTS / ROUNDS
    await outbox.enqueue(...drafts.slice(round * share, (round + 1) * share))
    await delivered((round + 0.5) * share)
    await workers.replace(round % 2)
  }
  await delivered(ALERTS, () => workers.jump(TEN_MINUTES_MS))
  await workers.stop()
  await Promise.all(hosts.map(({ close }) => close()))

  expect(workers.kills()).toBe(ROUNDS)
  expect(workers.brokenOff()).toBeGreaterThan(0)
  expect(await countDelivered()).toBe(ALERTS)
  expect(await outbox.db.execute(sql`select from delivery_queue`)).toHaveLength(0)
  expect(await outbox.rows()).toHaveLength(ALERTS)
  expect(hosts.flatMap(({ overtakings }) => overtakings)).toEqual([])
  expect(hosts.reduce((sum, { taken }) => sum + taken.size, 0)).toBe(ALERTS)
  expect(workers.repeated()).toEqual([])
}, 120_000)

/**
 * Waits until `count` alerts are delivered.
 *
 * @param onQuiet called after a while without a new delivery
 */
async function delivered(count: number, onQuiet?: () => Promise<void>): Promise<void> {
  const endsAt = performance.now() + DEADLINE_MS
  let [seen, seenAt] = [0, performance.now()]
  while (performance.now() < endsAt) {
    const now = await countDelivered()
    if (now >= count) return
    if (now > seen) [seen, seenAt] = [now, performance.now()]
    if (performance.now() - seenAt > QUIET_MS) {
      await onQuiet?.()
      seenAt = performance.now()
    }
    await wait(50)
  }
}

async function countDelivered(): Promise<number> {
  const [row] = await outbox.db.execute<{ count: number }>(
    sql`select count(*)::int as count from deliveries where status = 'delivered'`,
  )
  return row?.count ?? 0
}

/** Number of deliveries that are both in the queue and in the log. */
async function countDoubled(): Promise<number> {
  const [row] = await outbox.db.execute<{ count: number }>(sql`
    select count(*)::int as count from delivery_queue join delivery_log using (id)`)
  return row?.count ?? -1
}

/** A customer's server that refuses one request in four, each alert twice at most. */
async function openCustomer() {
  const requests = new Map<string, number>()
  const taken = new Set<string>()
  const lastOfKey = new Map<string, number>()
  const overtakings: string[] = []
  const server = await serve(async (_request, response, body) => {
    const { title } = JSON.parse(body).rendered
    const [key = '', place] = title.split(' ')
    const tries = (requests.get(title) ?? 0) + 1
    requests.set(title, tries)
    if (Number(place) !== 0 && (lastOfKey.get(key) ?? -1) < Number(place) - 1) {
      overtakings.push(title)
    }
    const dice = (Number(place) * 31 + Number(key.replace('.', '')) * 17 + tries * 13) % 40
    if (tries > 2 || dice > 9) {
      taken.add(title)
      lastOfKey.set(key, Math.max(lastOfKey.get(key) ?? -1, Number(place)))
      response.end()
    } else if (dice < 4) response.writeHead(500).end()
    else if (dice < 6) response.writeHead(429, { 'Retry-After': '1' }).end()
    else if (dice < 8) response.socket?.resetAndDestroy()
    // The remaining requests hang.
  })
  return { ...server, taken, overtakings }
}

/**
 * Two workers in processes of their own on one clock, with the deliveries that each had claimed
 * when it was killed.
 */
function createWorkers() {
  let [startedAt, instant] = [Date.now(), Date.UTC(2026, 10, 20, 12)]
  let kills = 0
  const died = new Set<string>()
  const takings = new Map<string, number>()
  const running: {
    readonly child: ChildProcess
    readonly begun: Set<string>
    halted: PromiseWithResolvers<void>
  }[] = []

  async function start(place = running.length): Promise<void> {
    const { path, env } = builtProgram('worker-in-haste')
    const child = spawn(
      process.execPath,
      [path, outbox.database.url, `${startedAt}`, `${instant}`, `${CLOCK_SPEED}`],
      { env, stdio: ['pipe', 'pipe', 'inherit'] },
    )
    const begun = new Set<string>()
    const worker = { child, begun, halted: Promise.withResolvers<void>() }
    running[place] = worker
    const ready = Promise.withResolvers<void>()
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [what, id = ''] = line.split(' ')
      if (what === 'ready') ready.resolve()
      else if (what === 'halted') worker.halted.resolve()
      else if (what === 'begins') begun.add(id)
      else takings.set(id, (takings.get(id) ?? 0) + 1)
    })
    await Promise.race([ready.promise, once(child, 'exit')])
  }

  async function kill(place: number): Promise<void> {
    const worker = running[place]
    if (worker === undefined) return
    const closed = once(worker.child, 'close')
    worker.child.kill('SIGKILL')
    await closed
    kills += 1
    // Of what moves from the queue to the log nothing is lost or doubled.
    expect(await countDoubled()).toBe(0)
    const rows = await outbox.db.execute<{ id: string }>(
      sql`select id from delivery_queue where leased_until is not null`,
    )
    for (const { id } of rows) if (worker.begun.has(id)) died.add(id)
  }

  return {
    start,
    kills: () => kills,
    /** Number of deliveries that a worker had claimed when it was killed. */
    brokenOff: () => died.size,
    /**
     * Deliveries accepted more than once although no worker was killed before recording the result.
     */
    repeated: () => [...takings].flatMap(([id, times]) => (times > 1 && !died.has(id) ? [id] : [])),
    replace: async (place: number) => {
      await kill(place)
      await start(place)
    },
    /** Lets both finish their deliveries in progress, and continue after the clock was advanced. */
    jump: async (ms: number) => {
      for (const worker of running) {
        worker.halted = Promise.withResolvers()
        worker.child.stdin?.write('halt\n')
      }
      await Promise.all(running.map(({ halted }) => halted.promise))
      instant += (Date.now() - startedAt) * CLOCK_SPEED + ms
      startedAt = Date.now()
      for (const { child } of running) child.stdin?.write(`go ${startedAt} ${instant}\n`)
    },
    stop: async () => {
      await Promise.all(
        running.map(async ({ child }) => {
          const closed = once(child, 'close')
          child.kill('SIGTERM')
          await closed
        }),
      )
    },
  }
}
