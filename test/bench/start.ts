import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { startDevnet } from '#sandbox/devnet.ts'
import { ROOT, startServiceProcess } from '../support/service-process.ts'
import { fillWatches, withDatabase } from './database.ts'
import { type Measurement, median } from './report.ts'

const WATCHES = 10_000
const ROUNDS = 5
const READY_GOAL_SECONDS = 0.9
const RSS_GOAL_MB = 200
/** Time for observations of the chain before memory is read. */
const SETTLE_MS = 5000

/**
 * Runs `npm start` on an existing database with 10 000 watches; measures the time until it is ready and its memory
 * afterwards.
 */
export async function benchStart(): Promise<Measurement[]> {
  const devnet = await startDevnet()
  try {
    const runs = await withDatabase(async (databaseUrl) => {
      await fillWatches(databaseUrl, WATCHES)
      const all = []
      for (let round = 0; round < ROUNDS; round++) {
        all.push(await measure(databaseUrl, devnet.rpcUrl))
      }
      return all
    })
    const seconds = median(runs.map(({ readySeconds }) => readySeconds))
    const megabytes = Math.max(...runs.map(({ rssMb }) => rssMb))
    const common = { bench: 'start', floor: null, ratio: null }
    return [
      {
        ...common,
        measure: `ready, ${WATCHES} watches`,
        value: seconds,
        unit: 's',
        goal: `<= ${READY_GOAL_SECONDS} s`,
        met: seconds <= READY_GOAL_SECONDS,
      },
      {
        ...common,
        measure: `RSS, ${WATCHES} watches`,
        value: megabytes,
        unit: 'MB',
        goal: `<= ${RSS_GOAL_MB} MB`,
        met: megabytes <= RSS_GOAL_MB,
      },
    ]
  } finally {
    await devnet.close()
  }
}

async function measure(databaseUrl: string, rpcUrl: string) {
  const service = await startServiceProcess(
    { DATABASE_URL: databaseUrl, FLARE_RPC_URLS: rpcUrl },
    ROOT,
  )
  const readySeconds = service.readyMs / 1000
  await wait(SETTLE_MS)
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8')
  const rssMb = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  await service.stop()
  return { readySeconds, rssMb }
}
