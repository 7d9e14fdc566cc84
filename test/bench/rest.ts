import { connect } from '#src/db/connection.ts'
import { busyLine, type CoreShares, measureSides } from './core-shares.ts'
import { withDatabase } from './database.ts'
import { type LoadResult, runLoad } from './load.ts'
import { fillWallets, type TokenOwner } from './metering.ts'
import { type Measurement, median } from './report.ts'
import { findPostmaster } from './scale-cpu.ts'
import { type BenchServer, startServer } from './start-server.ts'

const ROUNDS = 7
const SECONDS = 2
const CONNECTIONS = 32
const GOAL_RATIO = 1.2

interface Run extends LoadResult {
  readonly busy: CoreShares
}

/**
 * Measures authenticated `GET /watches/{id}` of 1000 wallets in turn, compared with bare Fastify and the same two
 * indexed queries.
 */
export async function benchRest(): Promise<Measurement[]> {
  return withDatabase(async (databaseUrl) => {
    const owners = await fillWallets(databaseUrl)
    const postmaster = await fillOwnWatches(databaseUrl, owners)
    const service = await startServer('./rest-subject.ts', databaseUrl)
    const floor = await startServer('./rest-floor.ts', databaseUrl)
    const requests = owners.map(({ token }, index) => ({
      path: `/api/x402/watches/${index + 1}`,
      headers: { authorization: `Bearer ${token}` },
    }))
    const run = async ({ url, pid }: BenchServer): Promise<Run> => {
      const { result, busy } = await measureSides({ serverPid: pid, postmaster }, () =>
        runLoad(url, {
          requestOf: (request) => requests[request % requests.length],
          connections: CONNECTIONS,
          seconds: SECONDS,
        }),
      )
      return { ...result, busy }
    }
    try {
      const rounds: { subject: Run; floor: Run }[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const below = await run(floor)
        const subject = await run(service)
        // The first round warms both up.
        if (round > 0) rounds.push({ subject, floor: below })
      }
      const [last] = rounds.slice(-1)
      if (last) process.stdout.write(busyLine('rest', last.subject.busy, last.floor.busy))
      return measurements(rounds)
    } finally {
      floor.stop()
      service.stop()
    }
  })
}

function measurements(rounds: readonly { subject: Run; floor: Run }[]): Measurement[] {
  const of = (pick: (run: Run) => number) => {
    const value = median(rounds.map(({ subject }) => pick(subject)))
    const floor = median(rounds.map((round) => pick(round.floor)))
    const ratio = median(rounds.map((round) => pick(round.subject) / pick(round.floor)))
    return { bench: 'rest', value, floor, ratio }
  }
  const rate = of(({ perSecond }) => perSecond)
  const late = of(({ p99Ms }) => p99Ms)
  return [
    {
      ...rate,
      measure: 'authenticated GET /watches/{id}',
      unit: 'requests/s',
      goal: `>= ${GOAL_RATIO} of bare Fastify with the same two queries`,
      met: rate.ratio >= GOAL_RATIO,
    },
    {
      ...late,
      measure: 'the same, p99',
      unit: 'ms',
      goal: '<= 1 of the same',
      met: late.ratio <= 1,
    },
  ]
}

/**
 * Writes a watch for each wallet, in the order of the wallets, so that ids count from 1. Returns the process id of
 * PostgreSQL.
 */
async function fillOwnWatches(databaseUrl: string, owners: readonly TokenOwner[]): Promise<number> {
  const { sql, close } = connect(databaseUrl)
  const wallets = owners.map(({ wallet }) => wallet).join()
  await sql`insert into targets (type, key, target, watch_count, must_judge)
    select 'wallet-balance', wallet, jsonb_build_object('address', wallet, 'asset', 'FLR'), 1, true
    from string_to_table(${wallets}, ',') wallet`
  await sql`insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
      cooldown_seconds, status, version, created_at, updated_at)
    select key, type, id, 'Bench ' || id, '{"threshold":"1","direction":"any"}', '[]', 'info', 0, 'active', 1,
      now(), now()
    from targets order by id`
  await sql`analyze`
  const postmaster = await findPostmaster(sql)
  await close()
  return postmaster
}
