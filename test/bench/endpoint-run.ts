import { setTimeout as wait } from 'node:timers/promises'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import type { RpcTraffic } from '#sandbox/devnet/rpc-traffic.ts'
import { createApp } from '#src/app.ts'
import { acceptTerms } from '#src/billing/account/service.ts'
import { startTrial } from '#src/billing/subscriptions/service.ts'
import { loadConfig } from '#src/config.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import { linkedAccounts } from '#src/recipients/linked-accounts.ts'
import { createWatch } from '#src/watches/manage/service.ts'
import { NewWatch } from '#src/watches/model.ts'
import { testEnvironment } from '../support/environment.ts'
import { ROOT, startServiceProcess } from '../support/service-process.ts'
import { withDatabase } from './database.ts'
import type { EndpointKind } from './endpoint-kinds.ts'

/** The chain of a run. */
export interface EndpointChain {
  readonly rpcUrl: string
  readonly socketUrl: string
  readonly timing: { readonly firstRoundStart: number; readonly roundSeconds: number }
  /** Identity addresses. */
  readonly providers: readonly Address[]
  /** Settings of the service for this chain. */
  readonly environment: Readonly<Record<string, string>>
}

/** Number and time of the chain's newest block. */
export interface ChainHead {
  readonly number: number
  readonly seconds: number
}

/** What an endpoint of one kind was asked, and what came of it. */
export interface EndpointFigures {
  /** Of the measured time, after the start. */
  readonly steady: RpcTraffic
  readonly start: RpcTraffic
  readonly steadyBlocks: number
  /** Log lines a minute by level, in the measured time. */
  readonly linesPerMinute: Readonly<Record<string, number>>
  /** Seconds from the start to the first judged round; undefined without one. */
  readonly firstJudgedSeconds: number | undefined
  readonly judged: number
  /** Most seconds that a round was judged after it was due. */
  readonly lateSeconds: number
}

const LATENCY_MS = 40
/** Time of the start, which is counted by itself. */
const START_SECONDS = 60
const SAMPLE_MS = 1000
/** Time from the end of a round to the block that completes it. */
const COMPLETE_SECONDS = 90

/**
 * Runs the service with a fresh database and ten watches on an endpoint of one kind.
 *
 * @param head the newest block, kept up to date by the caller
 */
export async function runOnEndpoint(
  kind: EndpointKind,
  chain: EndpointChain,
  head: () => ChainHead,
  minutes: number,
): Promise<EndpointFigures> {
  return withDatabase(async (databaseUrl) => {
    const rpc = await startRpcProxy(chain.rpcUrl)
    const connection = connect(databaseUrl)
    try {
      const environment = {
        ...chain.environment,
        DATABASE_URL: databaseUrl,
        LOG_LEVEL: 'info',
        // The rate is learned, as where the operator states none.
        FLARE_RPC_PER_MINUTE: '',
        ...kind.environment,
        ...(kind.hasSocket && { FLARE_WS_URLS: chain.socketUrl }),
      }
      await addWatches(environment, databaseUrl, chain)
      rpc.behave(kind.rules)
      rpc.delay(LATENCY_MS)
      return await measure({ ...environment, FLARE_RPC_URLS: rpc.url }, rpc, {
        connection,
        head,
        minutes,
        timing: chain.timing,
      })
    } finally {
      await connection.close()
      await rpc.close()
    }
  })
}

interface Measured {
  readonly connection: Connection
  readonly head: () => ChainHead
  readonly minutes: number
  readonly timing: EndpointChain['timing']
}

async function measure(
  environment: Readonly<Record<string, string>>,
  rpc: RpcProxy,
  { connection, head, minutes, timing }: Measured,
): Promise<EndpointFigures> {
  const service = await startServiceProcess(environment, ROOT)
  try {
    const rounds = watchRounds(timing, head().seconds)
    const look = async () => rounds.see(await newestRound(connection), head().seconds)
    await repeat(START_SECONDS, look)
    const start = rpc.traffic()
    rpc.resetCounts()
    const [from, linesBefore] = [head().number, new Map(service.levels)]
    await repeat(minutes * 60, look)
    const linesPerMinute = Object.fromEntries(
      [...service.levels].map(([level, count]) => [
        level,
        (count - (linesBefore.get(level) ?? 0)) / minutes,
      ]),
    )
    const steady = rpc.traffic()
    const steadyBlocks = head().number - from
    return { steady, start, steadyBlocks, linesPerMinute, ...rounds.end(head().seconds) }
  } finally {
    await service.stop()
  }
}

async function repeat(seconds: number, look: () => Promise<void>): Promise<void> {
  const endsAt = performance.now() + seconds * 1000
  while (performance.now() < endsAt) {
    await look()
    await wait(SAMPLE_MS)
  }
}

/** Follows how late rounds are judged, in time of the chain. The newest one that was complete at the start counts from there. */
function watchRounds(
  { firstRoundStart, roundSeconds }: EndpointChain['timing'],
  startedAt: number,
) {
  const dueAt = (round: number) => firstRoundStart + (round + 1) * roundSeconds + COMPLETE_SECONDS
  const first = Math.floor((startedAt - COMPLETE_SECONDS - firstRoundStart) / roundSeconds) - 1
  let next = first
  let firstJudgedSeconds: number | undefined
  let lateSeconds = 0
  const late = (now: number) => {
    const since = Math.max(dueAt(next), startedAt)
    lateSeconds = Math.max(lateSeconds, now - since)
  }
  return {
    see: (newest: number | undefined, now: number) => {
      while (newest !== undefined && next <= newest) {
        firstJudgedSeconds ??= now - startedAt
        late(now)
        next += 1
      }
    },
    /** What is due and not judged yet is late too. */
    end: (now: number) => {
      late(now)
      return { firstJudgedSeconds, judged: next - first, lateSeconds }
    },
  }
}

async function newestRound({ sql }: Connection): Promise<number | undefined> {
  const [row] = await sql<{ round: number | null }[]>`select max(round) as round from fsp_rounds`
  return row?.round ?? undefined
}

/** Adds ten watches of five types, each of another wallet, before the service starts. */
async function addWatches(
  environment: Readonly<Record<string, string>>,
  databaseUrl: string,
  { rpcUrl, providers }: EndpointChain,
): Promise<void> {
  const config = loadConfig(testEnvironment({ ...environment, FLARE_RPC_URLS: rpcUrl }))
  const service = createApp(config, { databaseUrl, log: silentLogger })
  const provider = (index: number) => ({ provider: providers[index] })
  const move = { percent: 5, windowSeconds: 3600 }
  const watches: readonly (readonly [string, object, object])[] = [
    ['provider-fsp', provider(0), {}],
    ['provider-fsp', provider(1), {}],
    ['provider-fsp', provider(2), {}],
    ['provider-eligibility', provider(0), {}],
    ['provider-eligibility', provider(1), {}],
    ['reward-signing', provider(0), {}],
    ['wallet-balance', { address: providers[3], asset: 'FLR' }, { threshold: '1' }],
    ['wallet-balance', { address: providers[4], asset: 'FLR' }, { threshold: '1' }],
    ['feed-move', { feed: 'FLR/USD' }, move],
    ['feed-move', { feed: 'BTC/USD' }, move],
  ]
  try {
    for (const [index, [type, target, settings]] of watches.entries()) {
      const wallet = `0x${String(index).padStart(40, '5')}` as const
      const caller: Caller = { wallet, scopes: ['read', 'write'], via: 'http' }
      await acceptTerms(service.app, caller, { version: config.billing.terms.version })
      await startTrial({ ...service.app, linkedAccounts }, caller)
      await createWatch(service.app, caller, NewWatch.parse({ type, target, settings }))
    }
  } finally {
    await service.stop()
  }
}
