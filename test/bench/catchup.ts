import { loadavg } from 'node:os'
import { Pool } from 'undici'
import { numberToHex } from 'viem'
import { createReceiptReader } from '#src/chain/blocks/receipts.ts'
import { createRecentBlocks } from '#src/chain/blocks/recent-blocks.ts'
import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import { CONTRACT_REGISTRY_ADDRESS } from '#src/chain/contracts.ts'
import { createEndpoints } from '#src/chain/endpoints/endpoints.ts'
import { createLogReader } from '#src/chain/events/logs.ts'
import { connect } from '#src/db/connection.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { createRoundFacts } from '#src/fsp/indexer/round-facts.ts'
import { createEpochPolicyReader } from '#src/fsp/reader/policy-of-epoch.ts'
import { createRoundReader } from '#src/fsp/reader/round-reader.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import {
  BLOCK_SECONDS,
  CATCHUP_POLICY,
  catchupBlocks,
  LATENCY_MS,
  MEASURED_ROUNDS,
  PROTOCOL_CONTRACTS,
  WARM_ROUNDS,
} from './catchup-chain.ts'
import { withDatabase } from './database.ts'
import { BENCH_PROVIDERS, FLARE_CLOCK } from './fsp-blocks.ts'
import type { Measurement } from './report.ts'
import { startServer } from './start-server.ts'

const MINUTES_GOAL = 30
/** Most concurrent requests to one endpoint, which a reader may have at once. */
const AT_ONCE = 48

/**
 * Reads a backlog of one hour of the chain, with a hundred watched providers, from two endpoints
 * with a fixed latency: blocks, events, receipts, judging and storing. The floor is bare undici
 * with the same number of requests and the concurrency that the reader may use with one endpoint.
 */
export async function benchCatchup(): Promise<readonly Measurement[]> {
  const endpoint = await startServer('catchup-endpoint.ts', '')
  try {
    return await withDatabase(async (databaseUrl) => {
      const { seconds, requests, rounds, cpuSeconds } = await readHour(databaseUrl, endpoint.url)
      const floorSeconds = await bareRequests(endpoint.url, requests)
      const measured = MEASURED_ROUNDS * FLARE_CLOCK.roundSeconds
      const [load = 0] = loadavg()
      process.stdout.write(
        `catchup: ${rounds} rounds of ${BENCH_PROVIDERS} watched providers, ${requests} requests in ` +
          `${seconds.toFixed(1)} s (${(requests / seconds).toFixed(0)} a second, ${LATENCY_MS} ms each), ` +
          `${cpuSeconds.toFixed(1)} s of CPU; load ${load.toFixed(1)}.\n`,
      )
      const minutesOf = (took: number) => ((DAY_SECONDS / measured) * took) / 60
      const [minutes, possible] = [minutesOf(seconds), minutesOf(floorSeconds)]
      const speed = measured / seconds
      const needed = DAY_SECONDS / (MINUTES_GOAL * 60)
      return [
        {
          bench: 'catchup',
          measure: `chain read after an absence, ${BENCH_PROVIDERS} providers watched`,
          value: speed,
          unit: 'x real time',
          floor: measured / floorSeconds,
          ratio: speed / (measured / floorSeconds),
          goal: `at least ${needed}`,
          met: speed >= needed,
        },
        {
          bench: 'catchup',
          measure: 'a day of absence at that speed',
          value: minutes,
          unit: 'minutes',
          floor: possible,
          ratio: minutes / possible,
          goal: `at most ${MINUTES_GOAL}`,
          met: minutes <= MINUTES_GOAL,
        },
      ]
    })
  } finally {
    endpoint.stop()
  }
}

async function readHour(databaseUrl: string, url: string) {
  const { db, sql, close } = connect(databaseUrl)
  const refs = catchupBlocks().map(({ ref }) => ref)
  const blocksPerRound = FLARE_CLOCK.roundSeconds / BLOCK_SECONDS
  const warm = refs[WARM_ROUNDS * blocksPerRound - 1]
  const tip = refs.at(-1)
  if (warm === undefined || tip === undefined) throw new Error('there are no blocks')
  const chain = chainAt([`${url}/1`, `${url}/2`], refs)
  const rounds = createRoundFacts({
    db,
    chain,
    clock: { now: () => tip.at },
    log: silentLogger,
    chainId: 14,
    rewardDataUrls: [],
    watchedProviders: async () => CATCHUP_POLICY.providers.map(({ voter }) => voter),
  })
  const { signal } = new AbortController()
  const countStored = async () => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from fsp_rounds`
    return row?.count ?? 0
  }
  await rounds.advance(warm, signal)
  const [before, asked] = [await countStored(), await requestsTo(url)]
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  await rounds.advance(tip, signal)
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const found = {
    seconds,
    requests: (await requestsTo(url)) - asked,
    rounds: (await countStored()) - before,
    cpuSeconds: (user + system) / 1e6,
  }
  await close()
  if (found.rounds < MEASURED_ROUNDS - 2) throw new Error(`only ${found.rounds} rounds were kept`)
  return found
}

/** The service's reader of blocks; the content of contracts is known without a request. */
function chainAt(rpcUrls: readonly string[], refs: readonly BlockRef[]): FspChain {
  const source = { rpcUrls, chainId: 14, log: silentLogger, clock: systemClock, timeoutMs: 5000 }
  const all = new Map<string, Address>(Object.entries(PROTOCOL_CONTRACTS))
  const endpoints = createEndpoints(source)
  const access: ChainAccess = {
    endpoints,
    contracts: {
      find: async (_client, name) => all.get(name),
      all: async (_client, name) => [all.get(name) ?? []].flat(),
      addAddress: () => undefined,
      seen: () => new Map(),
      expire: () => undefined,
      suspectMove: () => false,
      registry: CONTRACT_REGISTRY_ADDRESS,
      isMissing: () => false,
    },
    logs: createLogReader(),
    recent: createRecentBlocks(),
    receipts: createReceiptReader(endpoints),
    multicallAddress: ZERO_ADDRESS,
  }
  const reader = createRoundReader(access, createEpochPolicyReader(access))
  const chain = {
    blockAt: async (number: number) => refs.find((ref) => ref.number === number),
    rounds: {
      ...reader,
      policies: async () => ({
        clock: FLARE_CLOCK,
        currentEpoch: CATCHUP_POLICY.rewardEpoch,
        policies: [CATCHUP_POLICY],
        registrations: [],
        schedule: { registrationSeconds: 1800, preparationSeconds: 7200 },
      }),
      states: async () => ({
        registration: null,
        sampleSize: 1.5,
        feedCount: null,
        providers: new Map(),
      }),
    },
  }
  return chain as unknown as FspChain
}

async function requestsTo(url: string): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'bench_counts' })
  const answer = await fetch(url, { method: 'POST', body })
  const { result } = (await answer.json()) as { result: Record<string, number> }
  return Object.values(result).reduce((sum, count) => sum + count, 0)
}

/** Seconds that bare undici needs for this number of requests for blocks. */
async function bareRequests(origin: string, requests: number): Promise<number> {
  const pool = new Pool(origin, { connections: AT_ONCE, pipelining: 1 })
  const numbers = catchupBlocks().map(({ number }) => number)
  let asked = 0
  const client = async () => {
    while (asked < requests) {
      const number = numbers[asked++ % numbers.length] ?? 0
      const params = [numberToHex(number), true]
      const { body } = await pool.request({
        method: 'POST',
        path: '/',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params }),
      })
      await body.json()
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  const seconds = (performance.now() - startedAt) / 1000
  await pool.close()
  return seconds
}
