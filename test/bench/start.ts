import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startDevnet } from '#sandbox/devnet.ts'
import { ROOT, startServiceProcess } from '../support/service-process.ts'
import { fillWatches, withDatabase } from './database.ts'
import { type Measurement, median } from './report.ts'

/** Goals of a process with all roles, by its number of watches. */
const GOALS = [
  { watches: 10, seconds: 0.8, megabytes: 160 },
  { watches: 10_000, seconds: 0.9, megabytes: 200 },
] as const
const WITH_DATABASE_MB = 350
const ROUNDS = 5
/** Time for observations of the chain before memory is read. */
const SETTLE_MS = 5000
const MB = 1024

/** Until a process is ready, and its resident memory a while later. */
interface Run {
  readonly seconds: number
  readonly megabytes: number
}

/**
 * Runs `npm start` on an existing database; measures the time until it is ready and its memory afterwards. The floor, in
 * turns with it, is Fastify with one answer and the packages that the service is to use. Then the same with its own
 * PostgreSQL, whose memory counts: all of its processes together, each shared page once.
 */
export async function benchStart(): Promise<Measurement[]> {
  const devnet = await startDevnet()
  try {
    const all: Measurement[] = []
    for (const goal of GOALS) {
      const runs = await withDatabase(async (databaseUrl) => {
        await fillWatches(databaseUrl, goal.watches)
        return inTurns(databaseUrl, devnet.rpcUrl)
      })
      all.push(...compare(runs, goal))
    }
    return [...all, await withOwnDatabase(devnet.rpcUrl)]
  } finally {
    await devnet.close()
  }
}

async function inTurns(databaseUrl: string, rpcUrl: string) {
  const runs: { readonly subject: Run; readonly floor: Run }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const floor = await measureFloor()
    runs.push({ subject: await measure(databaseUrl, rpcUrl), floor })
  }
  return runs
}

function compare(
  runs: readonly { readonly subject: Run; readonly floor: Run }[],
  { watches, seconds, megabytes }: (typeof GOALS)[number],
): Measurement[] {
  const parts = [
    ['ready', 's', seconds, (run: Run) => run.seconds, median],
    // The largest, because memory is what a machine must have.
    ['RSS', 'MB', megabytes, (run: Run) => run.megabytes, largest],
  ] as const
  return parts.map(([name, unit, goal, pick, choose]) => {
    const value = choose(runs.map(({ subject }) => pick(subject)))
    const floor = choose(runs.map((run) => pick(run.floor)))
    const measure = `${name}, ${watches} watches`
    const goals = { goal: `<= ${goal} ${unit}`, met: value <= goal }
    return { bench: 'start', measure, value, unit, floor, ratio: value / floor, ...goals }
  })
}

const largest = (values: readonly number[]) => Math.max(...values)

async function measure(databaseUrl: string, rpcUrl: string): Promise<Run> {
  const service = await startServiceProcess(
    { DATABASE_URL: databaseUrl, FLARE_RPC_URLS: rpcUrl },
    ROOT,
  )
  await wait(SETTLE_MS)
  const megabytes = await residentMb(service.pid)
  await service.stop()
  return { seconds: service.readyMs / 1000, megabytes }
}

async function measureFloor(): Promise<Run> {
  const startedAt = performance.now()
  const flags = ['--max-semi-space-size=16', '--import', './src/quick-start.js']
  const child = spawn(process.execPath, [...flags, 'test/bench/start-floor.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const seconds = (performance.now() - startedAt) / 1000
  await wait(SETTLE_MS)
  const megabytes = await residentMb(child.pid ?? 0)
  child.kill()
  await once(child, 'exit')
  return { seconds, megabytes }
}

async function withOwnDatabase(rpcUrl: string): Promise<Measurement> {
  const dataDir = await mkdtemp(join(tmpdir(), 'watchdog-bench-'))
  await chmod(dataDir, 0o755)
  try {
    const service = await startServiceProcess(
      { DATABASE_URL: '', DATA_DIR: dataDir, FLARE_RPC_URLS: rpcUrl },
      ROOT,
    )
    await wait(SETTLE_MS)
    const postmaster = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')
    const server = await proportionalMb(Number(postmaster.split('\n')[0]))
    const value = (await residentMb(service.pid)) + server
    await service.stop()
    const goals = { goal: `<= ${WITH_DATABASE_MB} MB`, met: value <= WITH_DATABASE_MB }
    const measure = 'RSS with its own PostgreSQL'
    return { bench: 'start', measure, value, unit: 'MB', floor: null, ratio: null, ...goals }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / MB
}

/** Memory of a process and its children; a page that several have counts once in all. */
async function proportionalMb(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const pids = [pid, ...children.trim().split(' ').filter(Boolean).map(Number)]
  const sizes = pids.map(async (each) => {
    const rollup = await readFile(`/proc/${each}/smaps_rollup`, 'utf8')
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]) / MB
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
