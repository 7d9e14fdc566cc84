import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import {
  createProviderSimulation,
  type ProviderSimulation,
  type ProviderSimulationOptions,
} from '#sandbox/devnet/provider-simulation.ts'
import { startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { startDevnet } from '#sandbox/devnet.ts'
import { startProtocolData } from '#sandbox/world/protocol-data.ts'
import * as alerts from '#src/alerts/service.ts'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { everySlice } from '#src/db/slices.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { fetchPublications } from '#src/jobs/fetch-publications.ts'
import { observeWatches as observeWatchesJob } from '#src/jobs/observe-watches.ts'
import { readTip } from '#src/jobs/read-tip.ts'
import { startJobs } from '#src/jobs/runner.ts'
import { scanRounds } from '#src/jobs/scan-rounds.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import { testClock } from '../support/clock.ts'
import { giveCredits } from '../support/credits.ts'
import { testEnvironment } from '../support/environment.ts'
import { serviceOnly } from '../support/harness.ts'
import { type ObserveDeps, observeWatches } from '../support/observe.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

/** Start of the chain. */
const AT = new Date('2026-11-20T12:00:00Z')

/** Summary of an alert. */
export interface Notified {
  readonly event: string
  readonly severity: string
  readonly firedAt: string
  readonly data: Readonly<Record<string, never>>
}

/**
 * A service that reads a local chain with Flare's contracts through two endpoints, which can misbehave. The
 * service's clock follows the chain's.
 */
export async function watchWorld(
  options: {
    readonly simulation?: ProviderSimulationOptions
    readonly env?: Readonly<Record<string, string>>
    /** Only the first endpoint is known to the service. */
    readonly isAlone?: boolean
    readonly log?: Logger
  } = {},
) {
  const clock = testClock(AT)
  const devnet = await startDevnet({ contracts: true, startsAt: AT })
  const [primary, secondary] = await Promise.all([
    startRpcProxy(devnet.rpcUrl),
    startRpcProxy(devnet.rpcUrl),
  ])
  const onTime = (seconds: number) => clock.set(new Date(seconds * 1000))
  const simulation =
    options.simulation &&
    (await createProviderSimulation(devnet, { ...options.simulation, onTime }))
  const published = simulation && (await startProtocolData({ simulation, clock }))
  const environment = {
    FLARE_RPC_URLS: options.isAlone ? primary.url : `${primary.url},${secondary.url}`,
    FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
    FORMER_SUBMISSION_ADDRESSES: CONTRACTS.oldSubmission,
    ...(published && {
      PROVIDER_DATASET_URL: published.passesUrl,
      REWARD_DATA_URLS: published.rewardsUrl,
      P_CHAIN_RPC_URL: published.pChainUrl,
    }),
    ...options.env,
  }
  const only = await serviceOnly(environment, clock, options.log ?? silentLogger)
  const { app } = only
  const others: Service[] = []
  let running = app
  const alice = await withTrial(await signIn(only, 'alice'))
  await giveSlots(app, alice, 19)

  async function look(): Promise<void> {
    const { signal } = new AbortController()
    await fetchPublications.run(running, signal, CHECK_EVERYTHING).catch(() => undefined)
    const recordAlerts: ObserveDeps['recordAlerts'] = (tx, candidates) =>
      alerts.recordAlerts(running, tx, candidates)
    await observeWatches({ ...running, recordAlerts }, signal)
  }

  /** Moves the clock to the chain's time, never back. */
  async function follow(): Promise<void> {
    const { timestamp } = await devnet.client.getBlock()
    clock.set(new Date(Math.max(clock.now().getTime(), Number(timestamp) * 1000)))
  }

  function restart(): void {
    const config = loadConfig(testEnvironment(environment))
    const databaseUrl = only.database.nearUrl
    const other = createApp(config, { databaseUrl, log: options.log ?? silentLogger, clock })
    others.push(other)
    running = other.app
  }

  return {
    ...only,
    clock,
    devnet,
    published,
    primary,
    secondary,
    alice,
    look,
    /** The observing service. */
    running: () => running,
    /** Restarts the service: only stored state remains. */
    restart,
    /** Runs what reads the chain and judges watches in the observing service, as a process does, until `stop`. */
    start: () =>
      startJobs({ ...running, slices: everySlice() }, only.service.sql, [
        readTip,
        scanRounds,
        observeWatchesJob,
      ]),
    /** Another service on the same chain, with an empty database. */
    fresh: async (log: Logger) => {
      const other = await serviceOnly(environment, clock, log)
      const owner = await withTrial(await signIn(other, 'alice'))
      await giveSlots(other.app, owner, 19)
      return { ...other, alice: owner }
    },
    /**
     * Ends a test before another of the same world: no endpoint has a fault, there are no watches, the chain is as late
     * as the clock, and the service is restarted.
     */
    renew: async () => {
      await Promise.all([primary.up(), secondary.up()])
      const { body } = await alice.request('GET', '/watches')
      for (const { id } of body.data) await alice.request('DELETE', `/watches/${id}`)
      const { timestamp } = await devnet.client.getBlock()
      const late = Math.ceil(clock.now().getTime() / 1000) - Number(timestamp)
      if (late > 0) await devnet.increaseTime(late)
      restart()
    },
    simulation: () => {
      if (simulation === undefined) throw new Error('this world has no simulated providers')
      return simulation satisfies ProviderSimulation
    },
    follow,
    /** Advances the time with a number of blocks, and observes once at the end. */
    pass: async (seconds: number, blocks = 2) => {
      await devnet.increaseTime(seconds)
      await devnet.mine(blocks, 1)
      await follow()
      await look()
    },
    /**
     * Creates two blocks, so that the state before them has enough blocks above it to be observed, and
     * observes once.
     */
    see: async () => {
      await devnet.mine(2, 1)
      await follow()
      await look()
    },
    watch: async (type: string, target: object, settings: object = {}, more: object = {}) => {
      const body = { type, target, settings, ...more }
      const made = await alice.request('POST', '/watches', body)
      if (made.status !== 201) throw new Error(`no watch: ${made.text}`)
      return made.body as { readonly id: number; readonly target: { readonly provider: Address } }
    },
    /** Raised alerts, oldest first. */
    notified: async (watchId?: number): Promise<readonly Notified[]> => {
      const filter = watchId === undefined ? '' : `&watchId=${watchId}`
      const { body } = await alice.request('GET', `/alerts?limit=250${filter}`)
      return body.data.toReversed()
    },
    events: async (watchId?: number): Promise<readonly string[]> => {
      const filter = watchId === undefined ? '' : `&watchId=${watchId}`
      const { body } = await alice.request('GET', `/alerts?limit=250${filter}`)
      return body.data.toReversed().map(({ event }: Notified) => event)
    },
    close: async () => {
      for (const other of others) await other.stop()
      await only.close()
      await Promise.all([primary.close(), secondary.close(), published?.close()])
      await devnet.close()
    },
  }
}

export type WatchWorld = Awaited<ReturnType<typeof watchWorld>>

async function giveSlots(
  app: Parameters<typeof giveCredits>[0],
  client: Client,
  quantity: number,
): Promise<void> {
  await giveCredits(app, client.caller.wallet, 100_000)
  const bought = await client.request('POST', '/subscriptions', { quantity, periods: 12 })
  if (bought.status !== 201) throw new Error(`no slots: ${bought.text}`)
}
