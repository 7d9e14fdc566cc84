import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { cpuMsOf, databaseCpuMs } from './scale-cpu.ts'
import type { CpuCost, FixedCosts } from './scale-units.ts'

/** Units before the measurement, in each process. */
const WARM_UNITS = 3000
const UNITS = 8000
/** Units in progress at once in a full load of one process. */
const AT_ONCE = 16

interface Worker {
  readonly child: ChildProcess
  readonly lines: AsyncIterator<string>
}

/**
 * CPU time of fixed work in a number of processes. The processes share nothing, so a higher cost with more
 * processes comes from the machine alone: from caches, shared cores and switches between processes.
 */
export async function measureFixedWork(
  { databaseUrl, postmaster }: { readonly databaseUrl: string; readonly postmaster: number },
  count: number,
): Promise<FixedCosts> {
  const workers = await Promise.all(Array.from({ length: count }, () => startWorker(databaseUrl)))
  try {
    const measure = async (units: number, atOnce: number): Promise<CpuCost> => {
      const serviceMs = () => workers.reduce((sum, { child }) => sum + cpuMsOf(child.pid ?? 0), 0)
      const before = { service: serviceMs(), database: databaseCpuMs(postmaster) }
      await Promise.all(workers.map((worker) => doUnits(worker, units, atOnce)))
      const done = units * count
      return {
        service: (serviceMs() - before.service) / done,
        database: (databaseCpuMs(postmaster) - before.database) / done,
      }
    }
    await measure(WARM_UNITS, AT_ONCE)
    const divided = await measure(UNITS / count, AT_ONCE / count)
    return { divided, full: count === 1 ? divided : await measure(UNITS, AT_ONCE) }
  } finally {
    for (const { child } of workers) child.stdin?.end()
    await Promise.all(workers.map(({ child }) => ended(child)))
  }
}

async function startWorker(databaseUrl: string): Promise<Worker> {
  const script = join(import.meta.dirname, 'scale-floor-work.ts')
  const child = spawn(process.execPath, [script, databaseUrl], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const reader: Interface = createInterface({ input: child.stdout })
  const worker = { child, lines: reader[Symbol.asyncIterator]() }
  await nextLine(worker, 'ready')
  return worker
}

async function doUnits(worker: Worker, units: number, atOnce: number): Promise<void> {
  worker.child.stdin?.write(`${units} ${atOnce}\n`)
  await nextLine(worker, 'done')
}

async function nextLine({ lines }: Worker, expected: string): Promise<void> {
  const { value } = await lines.next()
  if (value !== expected) throw new Error(`a process of the floor did not say "${expected}"`)
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => child.once('exit', resolve))
  }
}
