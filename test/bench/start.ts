import { mkdtemp, readFile, rm, chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '#src/db/connection.ts'
import { startEmbedded } from '#src/db/embedded.ts'
import { migrate } from '#src/db/migrate.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { startDevnet } from '#src/sandbox/devnet.ts'
import { startServiceProcess } from '../support/process.ts'
import { type Measurement, median } from './report.ts'

const WATCHES = 10_000
const ROUNDS = 5
const READY_GOAL_SECONDS = 2
const RSS_GOAL_MB = 300
/** Looks at the chain before memory is read. */
const SETTLE_MS = 5000

/** `npm start` against an existing database with 10 000 watches: time to ready, memory afterwards. */
export async function benchStart(): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'watchdog-bench-'))
  await chmod(folder, 0o755)
  const devnet = await startDevnet()
  const embedded = await startEmbedded({ dataDir: folder, logger: silentLogger, durable: false })
  try {
    await fill(embedded.url)
    const runs = []
    for (let round = 0; round < ROUNDS; round++) runs.push(await measure(embedded.url, devnet.rpcUrl))
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
    await embedded.stop()
    await devnet.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(databaseUrl: string, rpcUrl: string) {
  const service = await startServiceProcess({ DATABASE_URL: databaseUrl, FLARE_RPC_URLS: rpcUrl })
  const readySeconds = service.readyMs / 1000
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8')
  const rssMb = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  await service.stop()
  return { readySeconds, rssMb }
}

async function fill(url: string): Promise<void> {
  const { sql, close } = connect(url)
  await migrate(sql, new URL('../../migrations', import.meta.url).pathname)
  await sql`insert into targets (type, key, target, watch_count, stale)
    select 'wallet-balance', address || '-' || n, jsonb_build_object('address', address, 'asset', 'FLR'), 1, true
    from (select n, '0x' || lpad(to_hex(n), 40, '0') as address
      from generate_series(1, ${WATCHES}::int) n) t`
  await sql`insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
      cooldown_seconds, status, version, created_at, updated_at)
    select '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 'wallet-balance', id, 'Bench ' || id,
      '{"threshold":"1","direction":"any"}', '[]', 'info', 0, 'active', 1, now(), now() from targets`
  await close()
}
