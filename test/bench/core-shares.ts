import { cpuMsOf, databaseCpuMs } from './scale-cpu.ts'

/** Share of one core that each side of a load used: 1 is one whole core. */
export interface CoreShares {
  /** This process, which sends the requests. */
  readonly load: number
  readonly server: number
  readonly database: number
}

/** Runs a load, and measures the CPU time of this process, the server and the database meanwhile. */
export async function measureSides<T>(
  sides: { readonly serverPid: number; readonly postmaster: number },
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly busy: CoreShares }> {
  const { result, cores } = await measureCores(
    {
      load: ownCpuMs,
      server: () => cpuMsOf(sides.serverPid),
      database: () => databaseCpuMs(sides.postmaster),
    },
    work,
  )
  return { result, busy: cores }
}

/** CPU time of this process so far, in milliseconds. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Runs work, and measures the share of a core that each side used meanwhile. @returns also the elapsed milliseconds
 *
 * @param sides the CPU time of each so far, in milliseconds
 */
export async function measureCores<T, Side extends string>(
  sides: Readonly<Record<Side, () => number>>,
  work: () => Promise<T>,
): Promise<{
  readonly result: T
  readonly cores: Readonly<Record<Side, number>>
  readonly tookMs: number
}> {
  const names = Object.keys(sides) as Side[]
  const look = () => new Map(names.map((name) => [name, sides[name]()]))
  const [startedAt, before] = [performance.now(), look()]
  const result = await work()
  const [tookMs, after] = [performance.now() - startedAt, look()]
  const shareOf = (name: Side) => ((after.get(name) ?? 0) - (before.get(name) ?? 0)) / tookMs
  const cores = Object.fromEntries(names.map((name) => [name, shareOf(name)]))
  return { result, tookMs, cores: cores as Record<Side, number> }
}

/** A line such as `delivery: CPU-ms for each: 0.30 sender, 0.20 PostgreSQL`. */
export function cpuPerItemLine(
  bench: string,
  { cores, tookMs }: { readonly cores: Readonly<Record<string, number>>; readonly tookMs: number },
  count: number,
): string {
  const words = Object.entries(cores).map(([side, share]) => {
    return `${((share * tookMs) / count).toFixed(3)} ${side}`
  })
  return `${bench}: CPU-ms for each: ${words.join(', ')}\n`
}

/** A line such as `delivery: cores taken by the floor: 0.40 sender, 0.30 receiver`. */
export function coresLine(bench: string, of: string, cores: Readonly<Record<string, number>>) {
  const words = Object.entries(cores).map(([side, share]) => `${share.toFixed(2)} ${side}`)
  return `${bench}: cores taken by ${of}: ${words.join(', ')}\n`
}

/** A line about a subject and its floor, such as `rest: floor took 0.95 of a core, its …`. */
export function busyLine(bench: string, subject: CoreShares, floor: CoreShares): string {
  const words = ({ server, database, load }: CoreShares) =>
    `${server.toFixed(2)} server, ${database.toFixed(2)} PostgreSQL, ${load.toFixed(2)} load`
  return `${bench}: cores taken by the subject: ${words(subject)}; by the floor: ${words(floor)}\n`
}
