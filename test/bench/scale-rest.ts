import { setTimeout as wait } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { ServiceProcess } from '../support/service-process.ts'
import { cpuMsOf, databaseCpuMs } from './scale-cpu.ts'
import type { CpuCost } from './scale-units.ts'
import { type ScaleWorld, untilEvaluated } from './scale-world.ts'
import { waitUntil } from './wait-until.ts'

const WINDOW_MS = 5000
/** Windows without work, at most, until the cost is steady. */
const WINDOWS_MAX = 12
/** Most by which two windows in a row differ when the cost is steady, as a share of the larger one. */
const STEADY = 0.1

/** CPU time that work cost, and its duration. */
export interface Spent extends CpuCost {
  readonly seconds: number
  /** Number of units. */
  readonly done: number
}

export type Meter = (work: () => Promise<number>) => Promise<Spent>

/** Creates a function that runs work and measures its CPU time; the work returns its number of units. */
export function createMeter(
  { postmaster }: Pick<ScaleWorld, 'postmaster'>,
  processes: readonly ServiceProcess[],
): Meter {
  const serviceMs = () => processes.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0)
  return async (work) => {
    const before = { service: serviceMs(), database: databaseCpuMs(postmaster) }
    const startedAt = performance.now()
    const done = await work()
    const seconds = (performance.now() - startedAt) / 1000
    return {
      done,
      seconds,
      service: serviceMs() - before.service,
      database: databaseCpuMs(postmaster) - before.database,
    }
  }
}

/** Cost of one unit. */
export function per({ service, database }: CpuCost, count: number): CpuCost {
  return { service: service / count, database: database / count }
}

/**
 * Turns autovacuum off: it would run during some measurements and not during others. `settle` vacuums between them.
 */
export async function turnAutovacuumOff(sql: Sql): Promise<void> {
  await sql`alter system set autovacuum = off`
  await sql`select pg_reload_conf()`
  await waitUntil('autovacuum has ended', async () => {
    const rows = await sql`select from pg_stat_activity where backend_type = 'autovacuum worker'`
    return rows.length === 0
  })
}

/**
 * Does the work that PostgreSQL has put off, so that no measurement pays for what came before it; and mines a block,
 * because after 90 seconds without one every watch would alert that its chain is silent.
 */
export async function settle(world: Pick<ScaleWorld, 'connection' | 'devnet'>): Promise<void> {
  const { sql } = world.connection
  await world.devnet.mine(1, 1)
  await untilEvaluated(world)
  await sql`vacuum (analyze)`
  await sql`checkpoint`
}

/** Cost of a second without work, in windows until two in a row are alike: the mean of these two. */
export async function restedCost(
  world: Pick<ScaleWorld, 'connection' | 'devnet'>,
  meter: Meter,
): Promise<CpuCost> {
  await settle(world)
  let before: CpuCost | undefined
  for (let window = 1; ; window += 1) {
    const resting = await meter(async () => {
      await wait(WINDOW_MS)
      return 1
    })
    const cost = per(resting, resting.seconds)
    if (before !== undefined && (areAlike(before, cost) || window >= WINDOWS_MAX))
      return mean(before, cost)
    before = cost
  }
}

export function mean(a: CpuCost, b: CpuCost): CpuCost {
  return { service: (a.service + b.service) / 2, database: (a.database + b.database) / 2 }
}

function areAlike(a: CpuCost, b: CpuCost): boolean {
  return (['service', 'database'] as const).every(
    (part) => Math.abs(a[part] - b[part]) <= STEADY * Math.max(a[part], b[part]),
  )
}
