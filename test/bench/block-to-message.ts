import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { startDevnet } from '#sandbox/devnet.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { ROOT, startServiceProcess } from '../support/process.ts'
import { arrangeYear, withDatabase } from './database.ts'
import { fillHooks, type Hook } from './delivery-hooks.ts'
import { startServer } from './process.ts'
import type { Measurement } from './report.ts'
import { until } from './until.ts'

const BLOCKS = 30
/** Blocks before those that count: programs get warm, and the rate is learned. */
const WARM_BLOCKS = 6
/** Time between two blocks, as of Flare. */
const BLOCK_MS = 1500
const INTERVAL_MS = 2000
const AMOUNT_WEI = 5n * 10n ** 18n
const P50_GOAL_MS = 150
const P99_GOAL_MS = 500

/**
 * From a transaction at the endpoint, which makes a block of it, to the first bytes of its alert at a
 * webhook, with one confirmation: with `newHeads`, and by the rate of the blocks alone. The floor is half
 * of the longest interval, the mean age of a block for a reader that goes by the clock.
 */
export async function benchBlockToMessage(): Promise<readonly Measurement[]> {
  return [...(await measure('newHeads')), ...(await measure('block rate'))]
}

async function measure(way: 'newHeads' | 'block rate'): Promise<readonly Measurement[]> {
  const devnet = await startDevnet()
  const receiver = await startServer('./delivery-receiver.ts', '')
  const [receiverUrl = ''] = receiver.url.split(' ')
  try {
    return await withDatabase(async (databaseUrl) => {
      const connection = connect(databaseUrl)
      await arrangeYear(connection, systemClock.now())
      const hooks = await fillHooks(connection, receiverUrl, BLOCKS + WARM_BLOCKS)
      const holders = await fillHolders(connection, hooks)
      const service = await startServiceProcess(
        {
          ...{ DATABASE_URL: databaseUrl, FLARE_RPC_URLS: devnet.rpcUrl, CONFIRMATIONS: '1' },
          ...{ EVALUATION_INTERVAL_MS: `${INTERVAL_MS}`, BILLING_ENABLED: 'false' },
          ...(way === 'newHeads' && { FLARE_WS_URLS: devnet.socketUrl }),
        },
        ROOT,
      )
      try {
        await devnet.mine(2, 1)
        await until('all targets are seen', async () => {
          const [row] = await connection.sql<{ missing: number }[]>`
            select count(*)::int as missing from targets where observation is null`
          return row?.missing === 0
        })
        const sentAt: number[] = []
        for (const holder of holders) {
          await wait(BLOCK_MS)
          sentAt.push(performance.timeOrigin + performance.now())
          await devnet.transfer(PEOPLE.alice.account.address, holder, AMOUNT_WEI)
        }
        const arrivedAt = await takeArrivals(receiverUrl, sentAt.length)
        const waits = arrivedAt.map((at, index) => at - (sentAt[index] ?? Number.NaN))
        return measurements(way, waits.slice(WARM_BLOCKS))
      } finally {
        await service.stop()
        await connection.close()
      }
    })
  } finally {
    receiver.stop()
    await devnet.close()
  }
}

/** An address for each wallet, and its watch of it. */
async function fillHolders(
  { sql }: Connection,
  hooks: readonly Hook[],
): Promise<readonly Address[]> {
  const holders = hooks.map((_, index) =>
    storedAddress(`0x${(0xbeef0000 + index).toString(16).padStart(40, '0')}`),
  )
  for (const [index, { wallet }] of hooks.entries()) {
    const target = { address: holders[index] ?? '', asset: 'FLR' }
    await sql`with made as (
        insert into targets (type, key, target, watch_count, stale)
        values ('wallet-balance', ${canonicalJson(target)}, ${sql.json(target)}, 1, true) returning id)
      insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
        cooldown_seconds, status, version, created_at, updated_at)
      select ${wallet}, 'wallet-balance', id, 'Bench', '{"threshold":"1","direction":"any"}', '[]', 'info', 0,
        'active', 1, now(), now() from made`
  }
  return holders
}

const Arrivals = z.array(z.tuple([z.string(), z.number()]))

/** When messages came, in order; each block has one. */
async function takeArrivals(url: string, count: number): Promise<readonly number[]> {
  await until(`${count} messages`, async () => Number(await (await fetch(url)).text()) >= count)
  const arrivals = Arrivals.parse(await (await fetch(`${url}take`)).json())
  if (arrivals.length !== count) throw new Error(`${arrivals.length} messages for ${count} blocks`)
  return arrivals.map(([, at]) => at)
}

function measurements(way: string, waits: readonly number[]): readonly Measurement[] {
  const sorted = waits.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  const floor = INTERVAL_MS / 2
  return [['p50', at(0.5), P50_GOAL_MS] as const, ['p99', at(0.99), P99_GOAL_MS] as const].map(
    ([name, value, goalMs]) => ({
      bench: 'block-to-message',
      measure: `${name} of ${waits.length} blocks, ${way}`,
      ...{ value, unit: 'ms', floor, ratio: value / floor },
      goal: `<= ${goalMs} ms`,
      met: value <= goalMs,
    }),
  )
}
