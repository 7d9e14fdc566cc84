import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { connect } from '#src/db/connection.ts'
import { withDatabase } from './database.ts'
import { type Measurement, median } from './report.ts'

const ROUNDS = 7
const BALANCES = 9950
const FEED_WINDOWS = 50
const MANY = 1_000_000
const FEW = 10_000
const CPU_GOAL_SECONDS = 0.4
const RATIO_GOAL = 1.5
/** Seconds between two observations: so many that prices are read in each. */
const SECONDS_BETWEEN = 30

/**
 * One observation of 10 000 unchanged targets with a million watches, compared with 10 000 watches
 * on the same targets: CPU time of the service, and requests to the endpoint.
 *
 * Targets are balances and windows of price feeds; the endpoint is a local chain.
 */
export async function benchObserve(): Promise<Measurement[]> {
  const devnet = await startDevnet({ contracts: true })
  const proxy = await startRpcProxy(devnet.rpcUrl)
  try {
    return await withDatabase((many) =>
      withDatabase(async (few) => {
        await fill(many, MANY)
        await fill(few, FEW)
        return measure(devnet, proxy, { many, few })
      }),
    )
  } finally {
    await proxy.close()
    await devnet.close()
  }
}

async function measure(
  devnet: DevnetWithContracts,
  proxy: Awaited<ReturnType<typeof startRpcProxy>>,
  urls: { readonly many: string; readonly few: string },
): Promise<Measurement[]> {
  const place = [proxy.url, devnet.contracts.registry] as const
  const [many, few] = await Promise.all([
    startSubject(urls.many, ...place),
    startSubject(urls.few, ...place),
  ])
  const looks: { many: Cost; few: Cost; requests: number }[] = []
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      await devnet.mine(1, SECONDS_BETWEEN)
      proxy.resetCounts()
      const manyCost = await many.look()
      const requests = Object.values(proxy.counts()).reduce((sum, count) => sum + count, 0)
      const fewCost = await few.look()
      // The first round warms both up.
      if (round > 0) looks.push({ many: manyCost, few: fewCost, requests })
    }
  } finally {
    many.stop()
    few.stop()
  }
  const cpu = median(looks.map((look) => look.many.cpuSeconds))
  const cpuOfFew = median(looks.map((look) => look.few.cpuSeconds))
  const ratio = median(looks.map((look) => look.many.cpuSeconds / look.few.cpuSeconds))
  const requests = median(looks.map((look) => look.requests))
  const common = { bench: 'observe', floor: null, ratio: null }
  return [
    {
      ...common,
      measure: 'a look, 1 000 000 watches on 10 000 targets: CPU',
      value: cpu,
      unit: 's',
      goal: `<= ${CPU_GOAL_SECONDS} s`,
      met: cpu <= CPU_GOAL_SECONDS,
    },
    {
      ...common,
      measure: 'the same beside 10 000 watches: CPU',
      value: cpu,
      unit: 's',
      floor: cpuOfFew,
      ratio,
      goal: `<= ${RATIO_GOAL} of 10 000 watches on the same targets`,
      met: ratio <= RATIO_GOAL,
    },
    {
      ...common,
      measure: 'the same: time',
      value: median(looks.map((look) => look.many.seconds)),
      unit: 's',
      goal: '-',
      met: true,
    },
    {
      ...common,
      measure: 'the same: RPC requests',
      value: requests,
      unit: 'requests',
      goal: '-',
      met: true,
    },
  ]
}

/** Writes watches that are spread evenly over the same targets, in the state after a first judgement. */
async function fill(databaseUrl: string, watches: number): Promise<void> {
  const { sql, close } = connect(databaseUrl, { statementTimeoutMs: 0 })
  const { address } = PEOPLE.bob.account
  const seen = { position: 0, at: '2026-11-20T12:00:00.000Z' }
  await sql`
    insert into targets (type, key, target, watch_count, must_judge, observation, observed_at)
    select 'wallet-balance', address, jsonb_build_object('address', address, 'asset', 'FLR'), 1, false,
      ${sql.json({ ...seen, balanceUnits: '0', symbol: 'FLR', decimals: 18, movement: null })}, ${seen.at}
    from (select '0x' || lpad(to_hex(16777216 + n), 40, '0') as address
      from generate_series(1, ${BALANCES}::int) n) t`
  const price = { value: '200000', decimals: 7 }
  const feed = { feed: 'FLR/USD', feedId: '0x01464c522f55534400000000000000000000000000' }
  const prices = { price, updatedAt: seen.at, oldest: { ...price, at: seen.at } }
  await sql`
    insert into targets (type, key, target, key_settings, watch_count, must_judge, observation, summary, observed_at)
    select 'feed-move', 'window ' || n, '{"feed":"FLR/USD"}', jsonb_build_object('windowSeconds', 60 * n),
      1, false, ${sql.json({ ...seen, ...feed, ...prices })},
      '{"up":5,"down":5,"above":null,"below":null,"dueAt":null}', ${seen.at}
    from generate_series(1, ${FEED_WINDOWS}::int) n`
  const each = watches / (BALANCES + FEED_WINDOWS)
  await sql`
    insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
      cooldown_seconds, status, version, created_at, updated_at)
    select ${address}, type, id, 'Bench ' || id, case type when 'feed-move'
      then jsonb_build_object('percent', 5, 'direction', 'any', 'windowSeconds', key_settings->'windowSeconds')
      else '{"threshold":"1","direction":"any"}' end,
      '[]', 'info', 0, 'active', 1, ${seen.at}, ${seen.at}
    from targets, generate_series(1, ${each}::int)`
  await sql`analyze`
  await close()
}

interface Cost {
  readonly cpuSeconds: number
  readonly seconds: number
}

async function startSubject(...args: readonly string[]) {
  const script = join(import.meta.dirname, 'observe-subject.ts')
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  await once(lines, 'line')
  return {
    look: async (): Promise<Cost> => {
      const answer = once(lines, 'line')
      child.stdin.write('look\n')
      return JSON.parse(String(await answer))
    },
    stop: () => child.kill(),
  }
}
