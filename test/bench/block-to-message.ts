import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { startDevnet } from '#sandbox/devnet.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { ROOT, startServiceProcess } from '../support/service-process.ts'
import { createYearOfPartitions, withDatabase } from './database.ts'
import { fillHooks, type WalletWithHook } from './delivery-hooks.ts'
import type { Measurement } from './report.ts'
import { startServer } from './start-server.ts'
import { waitUntil } from './wait-until.ts'

const BLOCKS = 30
/** Blocks at the start that are not measured: code is compiled, and the service learns the block rate. */
const WARM_UP_BLOCKS = 6
/** Time between two blocks, as on Flare. */
const BLOCK_MS = 1500
const EVALUATION_INTERVAL_MS = 2000
const AMOUNT_WEI = 5n * 10n ** 18n
const P50_GOAL_MS = 150
const P99_GOAL_MS = 500

/**
 * Measures the time from sending a transaction, which the local chain mines at once, until the first bytes of its
 * alert reach a webhook, with one confirmation. Measured twice: with `newHeads`, and with polls at the learned
 * block rate. The floor is half of EVALUATION_INTERVAL_MS: the mean delay of a client that polls at that interval.
 */
export async function benchBlockToMessage(): Promise<readonly Measurement[]> {
  return [...(await measure('newHeads')), ...(await measure('block rate'))]
}

async function measure(mode: 'newHeads' | 'block rate'): Promise<readonly Measurement[]> {
  const devnet = await startDevnet()
  const receiver = await startServer('./delivery-receiver.ts', '')
  const [receiverUrl = ''] = receiver.url.split(' ')
  try {
    return await withDatabase(async (databaseUrl) => {
      const connection = connect(databaseUrl)
      await createYearOfPartitions(connection, systemClock.now())
      const hooks = await fillHooks(connection, receiverUrl, BLOCKS + WARM_UP_BLOCKS)
      const watchedAddresses = await fillWatches(connection, hooks)
      const service = await startServiceProcess(
        {
          ...{ DATABASE_URL: databaseUrl, FLARE_RPC_URLS: devnet.rpcUrl, CONFIRMATIONS: '1' },
          ...{ EVALUATION_INTERVAL_MS: `${EVALUATION_INTERVAL_MS}`, BILLING_ENABLED: 'false' },
          ...(mode === 'newHeads' && { FLARE_WS_URLS: devnet.socketUrl }),
        },
        ROOT,
      )
      try {
        await devnet.mine(2, 1)
        await waitUntil('every target has its first observation', async () => {
          const [row] = await connection.sql<{ missing: number }[]>`
            select count(*)::int as missing from targets where observation is null`
          return row?.missing === 0
        })
        const sentAt: number[] = []
        for (const address of watchedAddresses) {
          await wait(BLOCK_MS)
          sentAt.push(performance.timeOrigin + performance.now())
          await devnet.transfer(PEOPLE.alice.account.address, address, AMOUNT_WEI)
        }
        const arrivedAt = await takeArrivals(receiverUrl, sentAt.length)
        const waits = arrivedAt.map((at, index) => at - (sentAt[index] ?? Number.NaN))
        return measurements(mode, waits.slice(WARM_UP_BLOCKS))
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

/** Creates an address for each wallet, and a watch of the wallet on it; returns the addresses. */
async function fillWatches(
  { sql }: Connection,
  hooks: readonly WalletWithHook[],
): Promise<readonly Address[]> {
  const addresses = hooks.map((_, index) =>
    storedAddress(`0x${(0xbeef0000 + index).toString(16).padStart(40, '0')}`),
  )
  for (const [index, { wallet }] of hooks.entries()) {
    const target = { address: addresses[index] ?? '', asset: 'FLR' }
    await sql`with made as (
        insert into targets (type, key, target, watch_count, must_judge)
        values ('wallet-balance', ${canonicalJson(target)}, ${sql.json(target)}, 1, true) returning id)
      insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
        cooldown_seconds, status, version, created_at, updated_at)
      select ${wallet}, 'wallet-balance', id, 'Bench', '{"threshold":"1","direction":"any"}', '[]', 'info', 0,
        'active', 1, now(), now() from made`
  }
  return addresses
}

const Arrivals = z.array(z.tuple([z.string(), z.number()]))

/** Times at which messages arrived, in order. Each block causes one message. */
async function takeArrivals(url: string, count: number): Promise<readonly number[]> {
  await waitUntil(`${count} messages`, async () => Number(await (await fetch(url)).text()) >= count)
  const arrivals = Arrivals.parse(await (await fetch(`${url}take`)).json())
  if (arrivals.length !== count) throw new Error(`${arrivals.length} messages for ${count} blocks`)
  return arrivals.map(([, at]) => at)
}

function measurements(mode: string, waits: readonly number[]): readonly Measurement[] {
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  const floor = EVALUATION_INTERVAL_MS / 2
  return [['p50', at(0.5), P50_GOAL_MS] as const, ['p99', at(0.99), P99_GOAL_MS] as const].map(
    ([name, value, goalMs]) => ({
      bench: 'block-to-message',
      measure: `${name} of ${waits.length} blocks, ${mode}`,
      ...{ value, unit: 'ms', floor, ratio: value / floor },
      goal: `<= ${goalMs} ms`,
      met: value <= goalMs,
    }),
  )
}
