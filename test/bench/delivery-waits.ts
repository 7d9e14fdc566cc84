import { setTimeout as wait } from 'node:timers/promises'
import { recordAlerts } from '#src/alerts/service.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { coresLine, measureCores, ownCpuMs } from './core-shares.ts'
import type { WalletWithHook } from './delivery-hooks.ts'
import { type DeliveryScene, takeArrivals, waitForArrivals } from './delivery-scene.ts'
import type { Measurement } from './report.ts'
import { cpuMsOf, databaseCpuMs } from './scale-cpu.ts'
import { type BenchServer, startServer } from './start-server.ts'

const ALERTS_PER_SECOND = 200
const SECONDS = 15
const WARM_SECONDS = 3
/** While hosts hang, one alert in this number goes to the next hanging host. */
const HANGING_SHARE = 20
/** Time for the first attempts at all hanging hosts, before the measurement. */
const HANGING_MS = 3000
const P50_GOAL_MS = 15
const P99_GOAL_MS = 60

interface Latencies {
  readonly p50: number
  readonly p99: number
}

/** Times of one alert, in milliseconds since the epoch. */
interface RaisedAlert {
  readonly dueAt: number
  /** When the transaction of the alert was committed. */
  committedAt: number
}

/**
 * Milliseconds from when an alert is due to be raised to its first bytes at the receiver, at 200 alerts per second.
 * The floor raises the same alerts, takes each new delivery with one statement and posts it by undici.
 */
export async function benchWaits(scene: DeliveryScene): Promise<readonly Measurement[]> {
  const floor = await during(scene, './delivery-wire-floor.ts', async (server) => {
    await measureLatencies(scene, server, { seconds: WARM_SECONDS })
    return await measureLatencies(scene, server, { of: 'the floor', seconds: SECONDS })
  })
  return await during(scene, './delivery-subject.ts', async (server) => {
    await measureLatencies(scene, server, { seconds: WARM_SECONDS })
    const alone = await measureLatencies(scene, server, { of: 'the subject', seconds: SECONDS })
    const { hanging } = scene
    const of = `the subject beside ${hanging.length} hosts that hang`
    const disturbed = await measureLatencies(scene, server, { of, seconds: SECONDS, hanging })
    return [
      ...compared('200 alerts/s to the wire', alone, floor),
      ...compared(`the same, ${hanging.length} hosts hang`, disturbed, floor),
    ]
  })
}

async function during<T>(
  { databaseUrl }: DeliveryScene,
  script: string,
  work: (server: BenchServer) => Promise<T>,
): Promise<T> {
  const server = await startServer(script, databaseUrl)
  try {
    return await work(server)
  } finally {
    server.stop()
  }
}

interface Run {
  /** Name of the run in the line about the cores that each side used; absent while the run warms up. */
  readonly of?: string
  readonly seconds: number
  /** Hooks that hang: each gets an alert before the measurement. */
  readonly hanging?: readonly WalletWithHook[]
}

async function measureLatencies(
  scene: DeliveryScene,
  { pid }: BenchServer,
  { of, seconds, hanging = [] }: Run,
): Promise<Latencies> {
  const { connection, url, hooks, postmaster, receiverPid } = scene
  await connection.sql`truncate alerts, delivery_queue, delivery_log`
  const count = seconds * ALERTS_PER_SECOND
  for (const [index, hook] of hanging.entries()) await raiseOne(scene, hook, count + index)
  if (hanging.length > 0) await wait(HANGING_MS)
  const sides = {
    sender: () => cpuMsOf(pid),
    PostgreSQL: () => databaseCpuMs(postmaster),
    receiver: () => cpuMsOf(receiverPid),
    'raising alerts': ownCpuMs,
  }
  const raised = new Map<number, RaisedAlert>()
  const { cores } = await measureCores(sides, async () => {
    const startedAt = performance.now()
    const raising: Promise<void>[] = []
    for (let position = 0; position < count; position++) {
      const dueAt = startedAt + (position * 1000) / ALERTS_PER_SECOND
      const earlyMs = dueAt - performance.now()
      if (earlyMs > 0) await wait(earlyMs)
      const isHanging = hanging.length > 0 && position % HANGING_SHARE === 0
      const among = isHanging ? hanging : hooks
      const turn = isHanging ? position / HANGING_SHARE : position
      const hook = among[turn % among.length]
      if (hook === undefined) throw new Error('there are no receivers')
      const alert = { dueAt: performance.timeOrigin + dueAt, committedAt: Number.NaN }
      if (!isHanging) raised.set(position, alert)
      raising.push(
        raiseOne(scene, hook, position).then(() => {
          alert.committedAt = now()
        }),
      )
    }
    await Promise.all(raising)
    await waitForArrivals(url, raised.size)
  })
  const { toCommit, toWire, total } = await latenciesOf(scene, raised)
  if (of !== undefined) {
    const parts = `until the commit ${words(toCommit)}, from there to the wire ${words(toWire)}`
    process.stdout.write(`${coresLine('delivery', of, cores)}delivery: ${of}: ${parts}\n`)
  }
  return total
}

function now(): number {
  return performance.timeOrigin + performance.now()
}

function words({ p50, p99 }: Latencies): string {
  return `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
}

interface PartsOfLatency {
  readonly toCommit: Latencies
  readonly toWire: Latencies
  readonly total: Latencies
}

async function latenciesOf(
  { connection: { sql }, url }: DeliveryScene,
  raised: ReadonlyMap<number, RaisedAlert>,
): Promise<PartsOfLatency> {
  const arrivals = new Map(await takeArrivals(url))
  const rows = await sql<{ id: string; position: string }[]>`
    select d.id, a.position from deliveries d join alerts a on a.id = d.alert_id`
  const waits = rows.flatMap(({ id, position }) => {
    const [alert, arrivedAt] = [raised.get(Number(position)), arrivals.get(id)]
    return alert === undefined || arrivedAt === undefined ? [] : [{ ...alert, arrivedAt }]
  })
  if (waits.length !== raised.size) throw new Error(`only ${waits.length} alerts arrived`)
  return {
    toCommit: latencies(waits.map(({ dueAt, committedAt }) => committedAt - dueAt)),
    toWire: latencies(waits.map(({ committedAt, arrivedAt }) => arrivedAt - committedAt)),
    total: latencies(waits.map(({ dueAt, arrivedAt }) => arrivedAt - dueAt)),
  }
}

function latencies(milliseconds: readonly number[]): Latencies {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

async function raiseOne(
  { connection: { db } }: DeliveryScene,
  hook: WalletWithHook,
  position: number,
) {
  const deps = {
    clock: systemClock,
    box: createSecretBox(Buffer.alloc(32, 7)),
    log: silentLogger,
    quarantine: createQuarantine({ log: silentLogger }),
    publicUrl: 'https://watchdog.example.org',
  }
  await db.transaction((tx) => recordAlerts(deps, tx, [raisedOf(hook, position)]))
}

function raisedOf({ wallet }: WalletWithHook, position: number): AlertCandidate {
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

function compared(measure: string, subject: Latencies, floor: Latencies): Measurement[] {
  const goals = [
    { key: 'p50', goalMs: P50_GOAL_MS },
    { key: 'p99', goalMs: P99_GOAL_MS },
  ] as const
  return goals.map(({ key, goalMs }) => ({
    bench: 'delivery',
    measure: `${measure}, ${key}`,
    value: subject[key],
    unit: 'ms',
    floor: floor[key],
    ratio: subject[key] / floor[key],
    goal: `<= ${goalMs} ms`,
    met: subject[key] <= goalMs,
  }))
}
