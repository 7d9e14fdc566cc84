import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { recordAlerts } from '#src/alerts/service.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import { enqueue, type NewDelivery, newDeliveryId } from '#src/delivery/service.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { arrangeYear, withDatabase } from './database.ts'
import { fillHooks, type Hook } from './delivery-hooks.ts'
import { startServer } from './process.ts'
import { type Measurement, median } from './report.ts'

const ROUNDS = 5
const DELIVERIES = 6000
/** Limit of concurrent sends that a webhook partition reaches. */
const AT_A_TIME = 64
const GOAL_RATIO = 0.6
const GOAL_PER_SECOND = 1000
const ALERTS_PER_SECOND = 200
const SECONDS = 15
const WARM_SECONDS = 3
/** One alert in this number goes to the endpoint that hangs. */
const HANGING_SHARE = 20
const P50_GOAL_MS = 50
const P99_GOAL_MS = 500
const WALLETS = 100
const PATIENCE_MS = 120_000

/**
 * Deliveries per second to a receiver with a latency of 20 ms, compared with bare undici that posts
 * the same bodies with the same concurrency; and the latency of an alert at 200 alerts per second,
 * with and without an endpoint that hangs.
 */
export async function benchDelivery(): Promise<readonly Measurement[]> {
  const receiver = await startServer('./delivery-receiver.ts', '')
  const [url = '', hangingUrl = ''] = receiver.url.split(' ')
  try {
    return await withDatabase(
      async (databaseUrl) => {
        const connection = connect(databaseUrl)
        try {
          await arrangeYear(connection, systemClock.now())
          const hooks = await fillHooks(connection, url, WALLETS)
          const [hanging] = await fillHooks(connection, hangingUrl, 1)
          if (hanging === undefined) throw new Error('there is no endpoint that hangs')
          const scene = { databaseUrl, url, hooks }
          const rates = await measureRates(connection, scene)
          const waits = await measureWaits(connection, scene, hanging)
          return [rates, ...waits]
        } finally {
          await connection.close()
        }
      },
      { durable: true },
    )
  } finally {
    receiver.stop()
  }
}

interface Scene {
  readonly databaseUrl: string
  /** Of the receiver. */
  readonly url: string
  readonly hooks: readonly Hook[]
}

async function measureRates(connection: Connection, scene: Scene): Promise<Measurement> {
  const subjects: number[] = []
  const floors: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const below = await floorOf(scene)
    const subject = await subjectOf(connection, scene)
    // The first round warms the receiver up.
    if (round === 0) continue
    floors.push(below)
    subjects.push(subject)
  }
  const value = median(subjects)
  const ratio = median(subjects.map((one, round) => one / (floors[round] ?? Number.NaN)))
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
async function floorOf({ url }: Scene): Promise<number> {
  const script = new URL('./delivery-floor.ts', import.meta.url).pathname
  const floor = spawn(process.execPath, [script, url, `${DELIVERIES}`, `${AT_A_TIME}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(floor, 'exit')
  if (code !== 0) throw new Error(`the floor ended with ${code}`)
  return perSecond(await takeArrivals(url))
}

/** Deliveries per second of a worker that finds all of them in the outbox. */
async function subjectOf(connection: Connection, { databaseUrl, url, hooks }: Scene) {
  await fillOutbox(connection, hooks)
  const worker = await startServer('./delivery-subject.ts', databaseUrl)
  try {
    await arrived(url, DELIVERIES)
    const rate = perSecond(await takeArrivals(url))
    await recorded(connection)
    return rate
  } finally {
    worker.stop()
  }
}

/** Checks that every delivery is recorded as delivered at its first attempt. */
async function recorded({ sql }: Connection): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS
  for (;;) {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from deliveries where status = 'delivered' and attempts = 1`
    if (row?.count === DELIVERIES) return
    if (performance.now() > endsAt) throw new Error(`only ${row?.count} were delivered`)
    await wait(50)
  }
}

async function fillOutbox({ db, sql }: Connection, hooks: readonly Hook[]): Promise<void> {
  await sql`truncate deliveries`
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
  await sql`analyze deliveries`
}

async function measureWaits(
  connection: Connection,
  { databaseUrl, url, hooks }: Scene,
  hanging: Hook,
): Promise<readonly Measurement[]> {
  const worker = await startServer('./delivery-subject.ts', databaseUrl)
  try {
    await measureLatencies(connection, { url, hooks, seconds: WARM_SECONDS })
    const alone = await measureLatencies(connection, { url, hooks, seconds: SECONDS })
    const disturbed = await measureLatencies(connection, { url, hooks, seconds: SECONDS, hanging })
    return [
      ...latencies('200 alerts/s to the wire', alone),
      ...latencies('the same, one endpoint hangs', disturbed),
    ]
  } finally {
    worker.stop()
  }
}

interface Latencies {
  readonly p50: number
  readonly p99: number
}

/** Milliseconds from when an alert was due to be raised to its first bytes at the receiver. */
async function measureLatencies(
  { db, sql }: Connection,
  run: {
    readonly url: string
    readonly hooks: readonly Hook[]
    readonly seconds: number
    readonly hanging?: Hook
  },
): Promise<Latencies> {
  await sql`truncate alerts, deliveries`
  const deps = {
    clock: systemClock,
    box: createSecretBox(Buffer.alloc(32, 7)),
    log: silentLogger,
    quarantine: createQuarantine({ log: silentLogger }),
    publicUrl: 'https://watchdog.example.org',
  }
  const count = run.seconds * ALERTS_PER_SECOND
  const raisedAt = new Map<number, number>()
  const startedAt = performance.now()
  const raising: Promise<void>[] = []
  for (let position = 0; position < count; position++) {
    const dueAt = startedAt + (position * 1000) / ALERTS_PER_SECOND
    const earlyMs = dueAt - performance.now()
    if (earlyMs > 0) await wait(earlyMs)
    const isHanging = run.hanging !== undefined && position % HANGING_SHARE === 0
    const hook = isHanging ? run.hanging : run.hooks[position % run.hooks.length]
    if (hook === undefined) throw new Error('there are no receivers')
    if (!isHanging) raisedAt.set(position, performance.timeOrigin + dueAt)
    raising.push(db.transaction((tx) => recordAlerts(deps, tx, [raisedOf(hook, position)])))
  }
  await Promise.all(raising)
  await arrived(run.url, raisedAt.size)
  const arrivals = new Map(await takeArrivals(run.url))
  const rows = await sql<{ id: string; position: string }[]>`
    select d.id, a.position from deliveries d join alerts a on a.id = d.alert_id`
  const waits = rows.flatMap(({ id, position }) => {
    const [from, to] = [raisedAt.get(Number(position)), arrivals.get(id)]
    return from === undefined || to === undefined ? [] : [to - from]
  })
  if (waits.length !== raisedAt.size) throw new Error(`only ${waits.length} alerts arrived`)
  waits.sort((a, b) => a - b)
  const at = (share: number) => waits[Math.ceil(waits.length * share) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

function raisedOf({ wallet }: Hook, position: number): AlertCandidate {
  const at = systemClock.now()
  return {
    watch: {
      id: position + 1,
      wallet,
      label: 'Bench',
      recipientIds: null,
      minSeverity: 'info',
      mutedUntil: null,
    },
    type: 'feed-move',
    signal: 'price-move',
    group: 'alerts',
    event: 'feed-move.threshold',
    severity: 'warning',
    data: {
      feed: 'FLR/USD',
      feedId: '0x01464c522f55534400000000000000000000000000',
      fromPrice: '0.01997',
      toPrice: '0.01873',
      movePercent: -6.2093,
      thresholdPercent: 5,
      windowSeconds: 3600,
      direction: 'any',
      fromTime: at.toISOString(),
      toTime: at.toISOString(),
      blockNumber: position,
    },
    isRecovery: false,
    isNotified: true,
    position,
    firedAt: at,
  }
}

function latencies(measure: string, { p50, p99 }: Latencies): Measurement[] {
  const common = { bench: 'delivery', unit: 'ms', floor: null, ratio: null } as const
  return [
    {
      ...common,
      measure: `${measure}, p50`,
      value: p50,
      goal: `<= ${P50_GOAL_MS} ms`,
      met: p50 <= P50_GOAL_MS,
    },
    {
      ...common,
      measure: `${measure}, p99`,
      value: p99,
      goal: `<= ${P99_GOAL_MS} ms`,
      met: p99 <= P99_GOAL_MS,
    },
  ]
}

async function arrived(url: string, count: number): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS
  for (;;) {
    const there = Number(await (await fetch(url)).text())
    if (there >= count) return
    if (performance.now() > endsAt) throw new Error(`only ${there} of ${count} arrived`)
    await wait(100)
  }
}

async function takeArrivals(url: string): Promise<readonly (readonly [string, number])[]> {
  return await (await fetch(`${url}take`)).json()
}

/** Deliveries per second between the first and the last arrival. */
function perSecond(arrivals: readonly (readonly [string, number])[]): number {
  const times = arrivals.map(([, at]) => at)
  if (times.length !== DELIVERIES) throw new Error(`${times.length} requests arrived`)
  return (1000 * (times.length - 1)) / (Math.max(...times) - Math.min(...times))
}
