import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Sql } from 'postgres'

/** Linux counts the CPU time of a process in hundredths of a second. */
const MS_PER_TICK = 10
const SOCKET = /^socket:\[(\d+)\]$/

interface ProcessStat {
  readonly parent: number
  /** CPU time of the process itself, in milliseconds. */
  readonly ownMs: number
  /** CPU time of its children that ended. */
  readonly endedMs: number
}

/** CPU time of a process so far, in milliseconds; 0 for one that is gone. */
export function cpuMsOf(pid: number): number {
  return statOf(pid)?.ownMs ?? 0
}

/** Finds the main process of the PostgreSQL behind a connection; it runs on this machine. */
export async function findPostmaster(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const parent = statOf(row?.pid ?? 0)?.parent
  if (parent === undefined) throw new Error('PostgreSQL does not run on this machine')
  return parent
}

/** CPU time of a PostgreSQL so far, with its backends that live and those that ended, in milliseconds. */
export function databaseCpuMs(postmaster: number): number {
  const main = statOf(postmaster)
  if (main === undefined) throw new Error('PostgreSQL has ended')
  const living = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined
    return stat?.parent === postmaster ? [stat.ownMs + stat.endedMs] : []
  })
  return living.reduce((sum, ms) => sum + ms, main.ownMs + main.endedMs)
}

/** Local TCP ports that a process has open: PostgreSQL calls them `client_port`. */
export function portsOf(pid: number): ReadonlySet<number> {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return SOCKET.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? []
      } catch {
        // The process closed it meanwhile.
        return []
      }
    }),
  )
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1)
  return new Set(
    lines.flatMap((line) => {
      const [, local = '', , , , , , , , inode = ''] = line.trim().split(/\s+/)
      return inodes.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : []
    }),
  )
}

function statOf(pid: number): ProcessStat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name of the program, in parentheses, may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = (first: number) => Number(fields[first]) + Number(fields[first + 1])
  return {
    parent: Number(fields[1]),
    ownMs: ticks(11) * MS_PER_TICK,
    endedMs: ticks(13) * MS_PER_TICK,
  }
}
