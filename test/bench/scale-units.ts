import { enqueue, type NewDelivery, newDeliveryId } from '#src/delivery/service.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { envelopeOf } from '../support/envelopes.ts'
import type { ServiceProcess } from '../support/service-process.ts'
import type { WalletWithHook } from './delivery-hooks.ts'
import { runLoad } from './load.ts'
import type { WorkLoad } from './scale-model.ts'
import { createMeter, mean, per, restedCost, type Spent, settle } from './scale-rest.ts'
import { describeStatements, resetStatementCounts } from './scale-statements.ts'
import {
  addressOf,
  HOOK_COUNT,
  type ScaleWorld,
  TARGET_COUNT,
  TOKEN_OWNER_COUNT,
  untilEvaluated,
} from './scale-world.ts'
import { waitUntil } from './wait-until.ts'

/** The counted units of work. */
export const TO_ONE_HOST = 'delivery to one host'
export const WORK_UNITS = [
  'evaluated target',
  'alert',
  'delivery',
  TO_ONE_HOST,
  'metered call',
] as const
export type WorkUnit = (typeof WORK_UNITS)[number]
/**
 * Units that come from outside, with connections and receivers. Their cost is measured with one full load for all
 * processes, and with a full load for each process.
 */
export const EXTERNAL_UNITS = ['delivery', TO_ONE_HOST, 'metered call'] as const

/** CPU time in milliseconds. */
export interface CpuCost {
  /** Of all processes of the service together. */
  readonly service: number
  readonly database: number
}

/**
 * Costs of a unit of fixed work: of the same load divided among the processes, and of a full load for each.
 */
export interface FixedCosts {
  readonly divided: CpuCost
  readonly full: CpuCost
}

/** CPU costs measured with one number of processes. */
export interface UnitCosts {
  /** Of fixed work, which depends only on the machine. */
  readonly fixed: FixedCosts
  /** Per second without work: the mean of before and after the work. */
  readonly idle: CpuCost
  readonly rest: { readonly before: CpuCost; readonly after: CpuCost }
  /** Of the same load, divided among the processes. */
  readonly units: Readonly<Record<WorkUnit, CpuCost>>
  /** With a full load for each process. */
  readonly full: Readonly<Record<(typeof EXTERNAL_UNITS)[number], CpuCost>>
}

const LOOKS = 10
const ALERTS = 500
const ALERT_LOOKS = 3
const DELIVERIES = 10_000
const CALL_SECONDS = 8
/** Calls before the measurement, to each process. */
const WARM_CALLS = 8000
const CALL_CONNECTIONS = 16
const FLR = 10n ** 18n

/** Measures the cost of one unit of each kind in running processes, beyond their idle cost. */
export async function measureUnits(
  world: ScaleWorld,
  processes: readonly ServiceProcess[],
): Promise<Omit<UnitCosts, 'fixed'>> {
  const meter = createMeter(world, processes)
  const settled = async (name: string, work: () => Promise<number>) => {
    await settle(world)
    await resetStatementCounts(world)
    const spent = await meter(work)
    const { done, seconds, service, database } = spent
    process.stderr.write(
      `${processes.length} processes, ${name}: ${done} in ${seconds.toFixed(1)} s, CPU-ms ${service} service, ${database} database\n` +
        `${await describeStatements(world, done)}\n`,
    )
    return spent
  }
  await warmUp(world, processes)
  const before = await restedCost(world, meter)
  const looked = await settled('evaluated target', () => lookWithoutChange(world))
  const raised = await settled('alert', () => raiseAlerts(world))
  const load = async (loads: number) => ({
    delivery: await settled(`delivery, ${loads} loads`, () =>
      sendDeliveries(world, { loads, hooks: world.hooks }),
    ),
    [TO_ONE_HOST]: await settled(`${TO_ONE_HOST}, ${loads} loads`, () =>
      sendDeliveries(world, { loads, hooks: world.oneHostHooks }),
    ),
    'metered call': await settled(`metered call, ${loads} loads`, () =>
      callForData(world, processes, loads),
    ),
  })
  const divided = await load(1)
  const full = processes.length === 1 ? divided : await load(processes.length)
  const after = await restedCost(world, meter)
  const idle = mean(before, after)
  const beyond = (spent: Spent): CpuCost => ({
    service: spent.service - idle.service * spent.seconds,
    database: spent.database - idle.database * spent.seconds,
  })
  const target = per(beyond(looked), looked.done)
  const ofAlerts = beyond(raised)
  const looksOfAlerts = ALERT_LOOKS * TARGET_COUNT
  const alert = {
    service: ofAlerts.service - target.service * looksOfAlerts,
    database: ofAlerts.database - target.database * looksOfAlerts,
  }
  const costsOf = (spent: typeof divided) => ({
    delivery: per(beyond(spent.delivery), spent.delivery.done),
    [TO_ONE_HOST]: per(beyond(spent[TO_ONE_HOST]), spent[TO_ONE_HOST].done),
    'metered call': per(beyond(spent['metered call']), spent['metered call'].done),
  })
  return {
    idle,
    rest: { before, after },
    units: { 'evaluated target': target, alert: per(alert, raised.done), ...costsOf(divided) },
    full: costsOf(full),
  }
}

/**
 * Measures the cost of a load of all kinds at once in running processes, and the number of units
 * done.
 */
export async function measureMixed(
  world: ScaleWorld,
  processes: readonly ServiceProcess[],
): Promise<{ readonly spent: CpuCost; readonly load: WorkLoad }> {
  const meter = createMeter(world, processes)
  let units: WorkLoad['units'] = {}
  const { seconds, service, database } = await meter(async () => {
    const [alerts, deliveries, calls] = await Promise.all([
      raiseAlerts(world),
      sendDeliveries(world, { loads: 1, hooks: world.hooks }),
      callForData(world, processes, 1),
    ])
    units = {
      'evaluated target': ALERT_LOOKS * TARGET_COUNT,
      alert: alerts,
      delivery: deliveries,
      'metered call': calls,
    }
    return 1
  })
  return { spent: { service, database }, load: { processes: processes.length, seconds, units } }
}

/** Creates blocks in which no watched balance moves, one after the other. */
async function lookWithoutChange(world: ScaleWorld): Promise<number> {
  for (let look = 0; look < LOOKS; look += 1) {
    await world.devnet.mine(1, 1)
    await untilEvaluated(world)
  }
  return LOOKS * TARGET_COUNT
}

/**
 * Does some work before the measurement, so that statements have plans, code is compiled and each job has run
 * once. Every process does as much as a single process would, so that all have equally compiled code.
 */
async function warmUp(world: ScaleWorld, processes: readonly ServiceProcess[]): Promise<void> {
  for (const _process of processes) await lookWithoutChange(world)
  for (const hooks of [world.hooks, world.oneHostHooks])
    await sendDeliveries(world, { loads: processes.length, hooks })
  await Promise.all(processes.map((child) => callFor(world, [child], { calls: WARM_CALLS })))
}

/** Moves balances whose watches have no recipient: alerts without deliveries. */
async function raiseAlerts(world: ScaleWorld): Promise<number> {
  const { connection, devnet } = world
  const count = async () => {
    const [row] = await connection.sql<{ count: number }[]>`
      select count(*)::int as count from alerts where type = 'wallet-balance'`
    return row?.count ?? 0
  }
  const before = await count()
  for (let look = 0; look < ALERT_LOOKS; look += 1) {
    for (let index = 0; index < ALERTS; index += 1) {
      const address = addressOf(index)
      const balance = await devnet.client.getBalance({ address })
      await devnet.setBalance(address, balance + 2n * FLR)
    }
    await devnet.mine(2, 1)
    await untilEvaluated(world)
  }
  const raised = (await count()) - before
  if (raised !== ALERT_LOOKS * ALERTS) throw new Error(`${raised} alerts were raised`)
  return raised
}

/**
 * Sends deliveries to a receiver with a latency of 20 ms.
 *
 * @param loads full loads of one process
 */
async function sendDeliveries(
  { connection, receiverUrl }: ScaleWorld,
  { loads, hooks }: { readonly loads: number; readonly hooks: readonly WalletWithHook[] },
): Promise<number> {
  const at = systemClock.now()
  const rows = Array.from({ length: loads * DELIVERIES }, (_, index): NewDelivery => {
    const hook = hooks[index % (loads * HOOK_COUNT)]
    if (hook === undefined) throw new Error('there are no receivers')
    const id = newDeliveryId(at)
    return {
      id,
      wallet: hook.wallet,
      alertId: null,
      recipientId: hook.recipientId,
      channel: 'webhook',
      partitionKey: hook.partitionKey,
      orderKey: id,
      firedAt: at,
      position: index,
      envelope: envelopeOf({ deliveryId: id }),
      createdAt: at,
      status: 'pending',
    }
  })
  await connection.db.transaction((tx) => enqueue(tx, rows))
  // The receiver is asked first: looking for a waiting delivery would take the database longer than the deliveries.
  await waitUntil('all deliveries have arrived', async () => {
    return Number(await (await fetch(receiverUrl)).text()) >= rows.length
  })
  await waitUntil('all deliveries are recorded', async () => {
    const [row] = await connection.sql<{ missing: boolean }[]>`
      select exists (select from deliveries where status in ('pending', 'retrying')) as missing`
    return row?.missing === false
  })
  const arrivals: readonly (readonly [string, number])[] = await (
    await fetch(`${receiverUrl}take`)
  ).json()
  // The wallets of some receivers have watches, whose messages may come at any time.
  const ids = new Set(rows.map(({ id }) => id))
  const own = arrivals.filter(([id]) => ids.has(id))
  if (own.length !== rows.length) throw new Error(`${own.length} of ${rows.length} arrived`)
  return rows.length
}

/**
 * Makes metered calls for some seconds, spread over the processes.
 *
 * @param loads full loads of one process: connections, and wallets
 */
function callForData(
  world: ScaleWorld,
  processes: readonly ServiceProcess[],
  loads: number,
): Promise<number> {
  return callFor(world, processes, { loads, seconds: CALL_SECONDS })
}

/** @param until number of calls to each process, or seconds */
async function callFor(
  { owners }: ScaleWorld,
  processes: readonly ServiceProcess[],
  {
    loads = 1,
    calls = Number.POSITIVE_INFINITY,
    seconds,
  }: { readonly loads?: number; readonly calls?: number; readonly seconds?: number },
): Promise<number> {
  const callers = owners.slice(0, loads * TOKEN_OWNER_COUNT)
  const connections = Math.ceil((loads * CALL_CONNECTIONS) / processes.length)
  let answered = 0
  await Promise.all(
    processes.map(({ url }, place) =>
      runLoad(url, {
        requestOf: (request) => {
          if (request >= calls) return undefined
          const owner = callers[(request * processes.length + place) % callers.length]
          return {
            path: '/data/ftso-analytics/feeds',
            headers: { authorization: `Bearer ${owner?.token}` },
          }
        },
        connections,
        ...(seconds !== undefined && { seconds }),
        onAnswer: () => {
          answered += 1
        },
      }),
    ),
  )
  return answered
}
