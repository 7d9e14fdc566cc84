import { cpuMsOf, databaseMs } from './scale-cpu.ts'

/** Shares of one core that each side of a load took; two cores are 2 in all. */
export interface Busy {
  /** The process that asks: this one. */
  readonly load: number
  readonly server: number
  readonly database: number
}

/** Runs a load, and says how busy each side was meanwhile. */
export async function watchBusy<T>(
  sides: { readonly serverPid: number; readonly postmaster: number },
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly busy: Busy }> {
  const look = () => {
    const { user, system } = process.cpuUsage()
    return {
      at: performance.now(),
      load: (user + system) / 1000,
      server: cpuMsOf(sides.serverPid),
      database: databaseMs(sides.postmaster),
    }
  }
  const before = look()
  const result = await work()
  const after = look()
  const share = (of: keyof Busy) => (after[of] - before[of]) / (after.at - before.at)
  return {
    result,
    busy: { load: share('load'), server: share('server'), database: share('database') },
  }
}

/** A line about a subject and its floor, such as `rest: floor took 0.95 of a core, its …`. */
export function busyLine(bench: string, subject: Busy, floor: Busy): string {
  const words = ({ server, database, load }: Busy) =>
    `${server.toFixed(2)} server, ${database.toFixed(2)} PostgreSQL, ${load.toFixed(2)} load`
  return `${bench}: cores taken by the subject: ${words(subject)}; by the floor: ${words(floor)}\n`
}
