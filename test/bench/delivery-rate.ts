import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Connection } from '#src/db/connection.ts'
import { enqueue, type NewDelivery, newDeliveryId } from '#src/delivery/service.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { coresLine, cpuPerItemLine, measureCores, ownCpuMs } from './core-shares.ts'
import type { WalletWithHook } from './delivery-hooks.ts'
import {
  type Arrival,
  type DeliveryScene,
  takeArrivals,
  waitForArrivals,
} from './delivery-scene.ts'
import { type Measurement, median } from './report.ts'
import { cpuMsOf, databaseCpuMs } from './scale-cpu.ts'
import { startServer } from './start-server.ts'
import { waitUntil } from './wait-until.ts'

const ROUNDS = 5
const DELIVERIES = 6000
/** Number of concurrent sends up to which the limit of a webhook's partition grows. */
const AT_A_TIME = 64
const GOAL_RATIO = 0.85
const GOAL_PER_SECOND = 2500

/**
 * Deliveries per second to a receiver with a latency of 20 ms, compared with bare undici that posts the same
 * bodies with the same concurrency.
 */
export async function benchRate(scene: DeliveryScene): Promise<Measurement> {
  const subjects: number[] = []
  const floors: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const below = await floorOf(scene)
    const subject = await subjectOf(scene)
    // The first round warms the receiver up.
    if (round === 0) continue
    floors.push(below)
    subjects.push(subject)
  }
  const value = median(subjects)
  const ratio = median(subjects.map((subject, round) => subject / (floors[round] ?? Number.NaN)))
  return {
    bench: 'delivery',
    measure: `webhooks to a 20 ms receiver, ${AT_A_TIME} at a time`,
    value,
    unit: 'deliveries/s',
    floor: median(floors),
    ratio,
    goal: `>= ${GOAL_RATIO} of undici alone, >= ${GOAL_PER_SECOND}/s`,
    met: ratio >= GOAL_RATIO && value >= GOAL_PER_SECOND,
  }
}

/** Posts per second of undici alone. */
async function floorOf({ url, receiverPid }: DeliveryScene): Promise<number> {
  const script = join(import.meta.dirname, 'delivery-floor.ts')
  const sides = { receiver: () => cpuMsOf(receiverPid), bench: ownCpuMs }
  const { result, cores } = await measureCores(sides, async () => {
    const floor = spawn(process.execPath, [script, url, `${DELIVERIES}`, `${AT_A_TIME}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const output = text(floor.stdout)
    const [code] = await once(floor, 'exit')
    if (code !== 0) throw new Error(`the floor ended with ${code}`)
    return Number(await output)
  })
  process.stdout.write(coresLine('delivery', 'the floor', { sender: result, ...cores }))
  return perSecond(await takeArrivals(url))
}

/** Deliveries per second of a worker; all deliveries are in the outbox before it starts. */
async function subjectOf(scene: DeliveryScene): Promise<number> {
  const { connection, databaseUrl, url, hooks, postmaster, receiverPid } = scene
  await fillOutbox(connection, hooks)
  const worker = await startServer('./delivery-subject.ts', databaseUrl)
  try {
    const sides = {
      sender: () => cpuMsOf(worker.pid),
      PostgreSQL: () => databaseCpuMs(postmaster),
      receiver: () => cpuMsOf(receiverPid),
      bench: ownCpuMs,
    }
    const spent = await measureCores(sides, () => waitForArrivals(url, DELIVERIES))
    process.stdout.write(coresLine('delivery', 'the subject', spent.cores))
    process.stdout.write(cpuPerItemLine('delivery', spent, DELIVERIES))
    const rate = perSecond(await takeArrivals(url))
    await recorded(connection)
    return rate
  } finally {
    worker.stop()
  }
}

/** Checks that every delivery is recorded as delivered at its first attempt. */
async function recorded({ sql }: Connection): Promise<void> {
  await waitUntil('all are recorded as delivered', async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from deliveries where status = 'delivered' and attempts = 1`
    return row?.count === DELIVERIES
  })
}

async function fillOutbox(
  { db, sql }: Connection,
  hooks: readonly WalletWithHook[],
): Promise<void> {
  await sql`truncate delivery_queue, delivery_log`
  const now = systemClock.now()
  const rows = Array.from({ length: DELIVERIES }, (_, index): NewDelivery => {
    const hook = hooks[index % hooks.length]
    if (hook === undefined) throw new Error('there are no receivers')
    const id = newDeliveryId(now)
    return {
      id,
      wallet: hook.wallet,
      alertId: null,
      recipientId: hook.recipientId,
      channel: 'webhook',
      partitionKey: hook.partitionKey,
      orderKey: id,
      firedAt: now,
      position: index,
      envelope: envelopeOf({ deliveryId: id }),
      createdAt: now,
      status: 'pending',
    }
  })
  await db.transaction((tx) => enqueue(tx, rows))
  await sql`analyze delivery_queue`
}

/** Deliveries per second between the first and the last arrival. */
function perSecond(arrivals: readonly Arrival[]): number {
  const times = arrivals.map(([, at]) => at)
  if (times.length !== DELIVERIES) throw new Error(`${times.length} requests arrived`)
  return (1000 * (times.length - 1)) / (Math.max(...times) - Math.min(...times))
}
