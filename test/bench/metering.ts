import { createHash } from 'node:crypto'
import { getAddress } from 'viem/utils'
import { formatToken } from '#src/auth/token.ts'
import { connect } from '#src/db/connection.ts'
import { busyLine, type CoreShares, measureSides } from './core-shares.ts'
import { withDatabase } from './database.ts'
import { runLoad } from './load.ts'
import { type Measurement, median } from './report.ts'
import { findPostmaster } from './scale-cpu.ts'
import { type BenchServer, startServer } from './start-server.ts'

const ROUNDS = 7
const SECONDS = 2
const WALLETS = 1000
const CONNECTIONS = 64
const SPREAD_GOAL_RATIO = 1.5
const HOT_GOAL_RATIO = 8
const BALANCE_CREDITS = 1_000_000_000

/** One wallet with a token. Its free calls of the day are used up. */
export interface TokenOwner {
  readonly wallet: string
  readonly token: string
}

/**
 * Measures metered calls on a database that waits for the disk, 64 at a time: of 1000 wallets in turn, then of one
 * wallet. The floor is bare Fastify with one statement that updates and inserts. All balances must be exact.
 */
export async function benchMetering(): Promise<Measurement[]> {
  const work = async (databaseUrl: string) => {
    const owners = await fillWallets(databaseUrl)
    const { sql, close } = connect(databaseUrl)
    const postmaster = await findPostmaster(sql)
    await close()
    const service = await startServer('./metering-subject.ts', databaseUrl)
    const floor = await startServer('./metering-floor.ts', databaseUrl)
    try {
      const sides = { service, floor, postmaster }
      const [first] = owners
      if (first === undefined) throw new Error('there are no wallets')
      const spread = await compare(sides, (request) => owners[request % WALLETS] ?? first)
      const hot = await compare(sides, () => first)
      process.stdout.write(busyLine('metering, spread', ...spread.busy))
      process.stdout.write(busyLine('metering, hot', ...hot.busy))
      await proveBalances(databaseUrl, spread.calls + hot.calls)
      return [
        measurement(`spread over ${WALLETS} wallets`, spread, SPREAD_GOAL_RATIO),
        measurement(`one wallet, ${CONNECTIONS} calls at a time`, hot, HOT_GOAL_RATIO),
      ]
    } finally {
      floor.stop()
      service.stop()
    }
  }
  return withDatabase(work, { durable: true })
}

interface Comparison {
  readonly value: number
  readonly floor: number
  readonly ratio: number
  /** Number of answered calls of the subject and of the floor. */
  readonly calls: number
  /** Shares of a core that the subject and the floor used in the last round. */
  readonly busy: readonly [CoreShares, CoreShares]
}

interface Sides {
  readonly service: BenchServer
  readonly floor: BenchServer
  readonly postmaster: number
}

/**
 * Measures floor and subject in turns. If all calls are of one wallet, no two answers may state the same balance.
 */
async function compare(
  { service, floor, postmaster }: Sides,
  ownerOf: (request: number) => TokenOwner,
): Promise<Comparison> {
  const rounds: { subject: Run; floor: Run }[] = []
  let calls = 0
  const isOneWallet = ownerOf(0) === ownerOf(1)
  const run = async ({ url, pid }: BenchServer): Promise<Run> => {
    const balances: string[] = []
    const { result, busy } = await measureSides({ serverPid: pid, postmaster }, () =>
      runLoad(url, {
        requestOf: (request) => {
          const { wallet, token } = ownerOf(request)
          return {
            path: '/metered',
            headers: { authorization: `Bearer ${token}`, 'x-wallet': wallet },
          }
        },
        connections: CONNECTIONS,
        seconds: SECONDS,
        onAnswer: (headers) => balances.push(String(headers['x-credits-balance'])),
      }),
    )
    calls += balances.length
    if (isOneWallet && new Set(balances).size < balances.length) {
      throw new Error('two calls were answered with the same balance')
    }
    return { perSecond: result.perSecond, busy }
  }
  for (let round = 0; round <= ROUNDS; round++) {
    const floorRun = await run(floor)
    const subject = await run(service)
    // The first round warms both up.
    if (round > 0) rounds.push({ subject, floor: floorRun })
  }
  const last = rounds.at(-1)
  if (last === undefined) throw new Error('there are no rounds')
  return {
    value: median(rounds.map(({ subject }) => subject.perSecond)),
    floor: median(rounds.map((round) => round.floor.perSecond)),
    ratio: median(rounds.map((round) => round.subject.perSecond / round.floor.perSecond)),
    calls,
    busy: [last.subject.busy, last.floor.busy],
  }
}

interface Run {
  readonly perSecond: number
  readonly busy: CoreShares
}

function measurement(measure: string, result: Comparison, goal: number): Measurement {
  const { value, floor, ratio } = result
  return {
    bench: 'metering',
    measure,
    value,
    unit: 'calls/s',
    floor,
    ratio,
    goal: `>= ${goal} of bare Fastify with one update-and-insert`,
    met: ratio >= goal,
  }
}

/** Writes wallets with credits and a token, whose free calls of the day are used up. */
export async function fillWallets(
  databaseUrl: string,
  count = WALLETS,
): Promise<readonly TokenOwner[]> {
  const owners = Array.from({ length: count }, (_, index) => ({
    wallet: getAddress(`0x${(index + 1).toString(16).padStart(40, '0')}`),
    token: formatToken(createHash('sha256').update(`bench ${index}`).digest()),
  }))
  const wallets = owners.map(({ wallet }) => wallet).join()
  const hashes = owners.map(({ token }) => createHash('sha256').update(token).digest('hex')).join()
  const { sql, close } = connect(databaseUrl)
  await sql`insert into accounts (wallet, balance_credits, occupied_slots, entry_count,
      last_entry_at, created_at)
    select wallet, ${BALANCE_CREDITS}, 0, 1, now(), now() from string_to_table(${wallets}, ',') wallet`
  await sql`insert into ledger_entries (wallet, position, type, delta_credits,
      balance_after_credits, reference, created_at)
    select wallet, 1, 'adjustment', ${BALANCE_CREDITS}, ${BALANCE_CREDITS}, 'bench:' || wallet, now()
    from string_to_table(${wallets}, ',') wallet`
  await sql`insert into tokens (wallet, scopes, prefix, hash, created_at, expires_at, last_used_at)
    select wallet, '{read}', 'fwd_', hash, now(), now() + interval '1 day', now()
    from unnest(string_to_array(${wallets}, ','), string_to_array(${hashes}, ','))
      as made (wallet, hash)`
  await sql`insert into free_calls (subject, day, calls)
    select wallet, day, 50 from string_to_table(${wallets}, ',') wallet,
      unnest(array[current_date, current_date + 1]) day`
  await sql`analyze`
  await close()
  return owners
}

/** Checks that every answered call has a ledger entry, and that every balance is the sum of its entries. */
async function proveBalances(databaseUrl: string, calls: number): Promise<void> {
  const { sql, close } = connect(databaseUrl)
  const [found] = await sql`
    select sum(entries.calls) as calls, count(*) filter (where a.balance_credits <> entries.total
      or a.entry_count <> entries.calls + 1) as wrong
    from accounts a join (select wallet, sum(delta_credits) as total, count(*) - 1 as calls
      from ledger_entries group by wallet) entries using (wallet)`
  await close()
  if (Number(found?.['wrong']) > 0) throw new Error(`${found?.['wrong']} balances are not exact`)
  if (Number(found?.['calls']) !== calls) {
    throw new Error(`${calls} calls were answered and ${found?.['calls']} were charged`)
  }
}
