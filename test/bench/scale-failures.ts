import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { ServiceProcess } from '../support/service-process.ts'
import type { Measurement } from './report.ts'
import { portsOf } from './scale-cpu.ts'
import { addressOf, type ScaleWorld, untilEvaluated } from './scale-world.ts'
import { waitUntil } from './wait-until.ts'

const TAKEOVERS = 6
const TAKEOVER_GOAL_MS = 5000
const PROCESSES = 4
const LIFE_MS_MAX = 1500
const MOVE_EVERY_MS = 200
/** Number of balances that move while processes are killed; each has a watch with a webhook. */
const MOVED = 20
const FLR = 10n ** 18n
const STEP = 2n * FLR

/** The lease of a job that a process holds. */
interface Held {
  readonly job: string
  readonly owner: string
}

/**
 * Kills the process that leads most jobs, repeatedly, and measures the time until another one has
 * each of its leases.
 */
export async function benchTakeover(world: ScaleWorld): Promise<readonly Measurement[]> {
  const processes = [...(await world.start(2))]
  const longest = new Map<string, number>()
  let evaluationMs = 0
  try {
    for (let round = 0; round < TAKEOVERS; round += 1) {
      const [leader, place] = await findLeader(world, processes)
      const lost = await heldBy(world, leader)
      await world.devnet.setBalance(addressOf(round), BigInt(1000 + round) * FLR)
      await leader.kill()
      const killedAt = performance.now()
      await world.devnet.mine(2, 1)
      const evaluated = untilEvaluated(world).then(() => performance.now() - killedAt)
      const taken = await Promise.all(
        lost.map(async (lease) => {
          await untilTaken(world, lease)
          return [lease.job, performance.now() - killedAt] as const
        }),
      )
      for (const [job, ms] of taken) longest.set(job, Math.max(ms, longest.get(job) ?? 0))
      evaluationMs = Math.max(evaluationMs, await evaluated)
      processes[place] = await world.startOne()
    }
  } finally {
    await Promise.all(processes.map((child) => child.stop()))
  }
  return [
    ...[...longest].map(([job, ms]) => takeover(`${job} has a new leader`, ms)),
    takeover('a block mined at the kill is evaluated', evaluationMs),
  ]
}

function takeover(what: string, ms: number): Measurement {
  return {
    bench: 'scale',
    measure: `after SIGKILL ${what}, the longest of ${TAKEOVERS}`,
    value: ms / 1000,
    unit: 's',
    floor: null,
    ratio: null,
    goal: `<= ${TAKEOVER_GOAL_MS / 1000} s`,
    met: ms <= TAKEOVER_GOAL_MS,
  }
}

async function findLeader(
  world: ScaleWorld,
  processes: readonly ServiceProcess[],
): Promise<readonly [ServiceProcess, number]> {
  const counts = await Promise.all(
    processes.map(async (child) => (await heldBy(world, child)).length),
  )
  const place = counts.indexOf(Math.max(...counts))
  const leader = processes[place]
  if (leader === undefined || counts[place] === 0) throw new Error('no process leads')
  return [leader, place]
}

async function heldBy(
  { connection: { sql } }: ScaleWorld,
  { pid }: ServiceProcess,
): Promise<readonly Held[]> {
  const ports = [...portsOf(pid)].join()
  return await sql<Held[]>`
    select l.item as job, l.owner
    from leases l join pg_stat_activity a on a.application_name = 'flare-watchdog ' || l.owner
    where l.work = 'jobs' and a.client_port = any(string_to_array(${ports}, ',')::int[])`
}

async function untilTaken(
  { connection: { sql } }: ScaleWorld,
  { job, owner }: Held,
): Promise<void> {
  await waitUntil(`${job} is taken over`, async () => {
    const rows = await sql`
      select from leases
      where work = 'jobs' and item = ${job} and owner is not null and owner <> ${owner}`
    return rows.length > 0
  })
}

/**
 * Kills one of four processes repeatedly, while balances move and metered data is requested. Every
 * move must be in an alert, every alert delivered, every answered call charged, and nothing twice
 * except a message that a killed process was sending.
 */
export async function benchKills(
  world: ScaleWorld,
  kills: number,
): Promise<readonly Measurement[]> {
  const { connection, receiverUrl } = world
  const { sql } = connection
  await addWatchedHooks(world)
  await fetch(`${receiverUrl}take`)
  const processes = [...(await world.start(PROCESSES))]
  const before = await chargesOf(world)
  const stop = new AbortController()
  const moves = moveBalances(world, stop.signal)
  const calls = processes.map((_, place) =>
    callAlways(world, () => processes[place]?.url, stop.signal),
  )
  const inHand = new Set<string>()
  for (let kill = 0; kill < kills; kill += 1) {
    await wait(randomInt(LIFE_MS_MAX))
    const place = randomInt(PROCESSES)
    await processes[place]?.kill()
    for (const { key } of await sql<{ key: string }[]>`
      select distinct order_key as key from deliveries
      where leased_until is not null and status in ('pending', 'retrying')`) {
      inHand.add(key)
    }
    processes[place] = await world.startOne()
  }
  stop.abort()
  const moved = await moves
  const answered = (await Promise.all(calls)).reduce(
    (sum, call) => ({ done: sum.done + call.done, broken: sum.broken + call.broken }),
    { done: 0, broken: 0 },
  )
  await world.devnet.mine(2, 1)
  await waitUntil('every move is in an alert, and every alert delivered', async () => {
    const { alerted, open } = await alertedSum(world)
    return alerted === moved && open === 0
  })
  await Promise.all(processes.map((child) => child.stop()))
  const rows = await sql<{ id: string; key: string }[]>`
    select d.id, d.order_key as key from deliveries d join alerts a on a.id = d.alert_id
    where a.watch_label like 'Moved %'`
  const [same] = await sql<{ count: number }[]>`
    select count(*)::int as count from (select from alerts where watch_label like 'Moved %'
      group by watch_id, event, position having count(*) > 1) twice`
  const arrivals: readonly (readonly [string, number])[] = await (
    await fetch(`${receiverUrl}take`)
  ).json()
  const times = Map.groupBy(arrivals, ([id]) => id)
  const lost = rows.filter(({ id }) => !times.has(id)).length
  const twice = rows.filter(({ id }) => (times.get(id)?.length ?? 0) > 1)
  const unexplained = twice.filter(({ key }) => !inHand.has(key)).length
  const charged = (await chargesOf(world)) - before
  const what = `${kills} kills of ${PROCESSES} processes`
  return [
    counted(`${what}: alerts of ${moved / STEP} moves lost or doubled`, same?.count ?? 0),
    counted(`${what}: of ${rows.length} deliveries lost`, lost),
    counted(
      `${what}: doubled, beside ${twice.length - unexplained} in hand at a kill`,
      unexplained,
    ),
    counted(
      `${what}: of ${answered.done} answered calls not charged`,
      Math.max(0, answered.done - charged),
    ),
    counted(
      `${what}: charged twice, or for nothing beyond ${answered.broken} broken calls`,
      Math.max(0, charged - answered.done - answered.broken),
    ),
  ]
}

function counted(measure: string, value: number): Measurement {
  return {
    ...{ bench: 'scale', measure, value, unit: '' },
    ...{ floor: null, ratio: null, goal: 'none', met: value === 0 },
  }
}

/** Adds balances, each watched by a wallet with a webhook. */
async function addWatchedHooks({ connection: { sql }, hooks, devnet }: ScaleWorld): Promise<void> {
  for (let index = 0; index < MOVED; index += 1) {
    const hook = hooks[index]
    if (hook === undefined) throw new Error('there are no receivers')
    const target = { address: movedAddress(index), asset: 'FLR' }
    await devnet.setBalance(target.address, 0n)
    await sql`
      with target as (
        insert into targets (type, key, target, watch_count, must_judge)
        values ('wallet-balance', ${`{"address":"${target.address}","asset":"FLR"}`}, ${sql.json(target)}, 1, true)
        returning id
      )
      insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
        cooldown_seconds, status, version, created_at, updated_at)
      select ${hook.wallet}, 'wallet-balance', id, ${`Moved ${index}`},
        '{"threshold":"1","direction":"any"}', '[]', 'info', 0, 'active', 1, now(), now() from target`
  }
}

function movedAddress(index: number): `0x${string}` {
  return addressOf(1_000_000 + index)
}

/** Moves FLR to the watched accounts in turn; returns the sum. */
async function moveBalances({ devnet }: ScaleWorld, signal: AbortSignal): Promise<bigint> {
  const balances = new Map<number, bigint>()
  for (let turn = 0; !signal.aborted; turn += 1) {
    const index = turn % MOVED
    const balance = (balances.get(index) ?? 0n) + STEP
    await devnet.setBalance(movedAddress(index), balance)
    await devnet.mine(1, 1)
    balances.set(index, balance)
    await wait(MOVE_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
  return [...balances.values()].reduce((sum, balance) => sum + balance, 0n)
}

async function alertedSum({ connection: { sql } }: ScaleWorld) {
  const [row] = await sql<{ alerted: string | null; open: number }[]>`
    select (select sum((data->>'changeAmount')::numeric)::text from alerts
        where watch_label like 'Moved %') as alerted,
      (select count(*)::int from deliveries where status <> 'delivered') as open`
  return { alerted: BigInt(row?.alerted ?? 0), open: row?.open ?? 0 }
}

/** Entries of metered calls. */
async function chargesOf({ connection: { sql } }: ScaleWorld): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select (count(*) filter (where delta_credits < 0) - count(*) filter (where type = 'refund'))::int
      as count from ledger_entries`
  return row?.count ?? 0
}

/** Requests data repeatedly from a process that may be killed meanwhile. */
async function callAlways(
  { owners }: ScaleWorld,
  urlOf: () => string | undefined,
  signal: AbortSignal,
): Promise<{ readonly done: number; readonly broken: number }> {
  let done = 0
  let broken = 0
  for (let turn = 0; !signal.aborted; turn += 1) {
    const token = owners[turn % owners.length]?.token
    try {
      const response = await fetch(`${urlOf()}/data/ftso-analytics/feeds`, {
        headers: { authorization: `Bearer ${token}` },
      })
      await response.text()
      if (response.ok) done += 1
      else broken += 1
    } catch {
      broken += 1
      await wait(50)
    }
  }
  return { done, broken }
}
