import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import type { ProviderSimulationOptions } from '#sandbox/devnet/provider-simulation.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { fetchPublications } from '#src/jobs/fetch-publications.ts'
import { pollValidators } from '#src/jobs/poll-validators.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { providerFsp } from '#src/watches/types/provider-fsp/index.ts'
import { watchWorld } from './world.ts'

/** Every signal of a provider's watch, those that are off by default too. */
const EVERY_SIGNAL = providerFsp.signals.map(({ id }) => ({ id, enabled: true }))

/**
 * A chain with data providers, one watch for each given name, and the service that observes them.
 */
export async function roundWorld(
  watched: readonly string[],
  options: Partial<ProviderSimulationOptions> & {
    readonly unwatched?: readonly string[]
    /** The service knows the first endpoint only. */
    readonly isAlone?: boolean
    readonly log?: Logger
    /** Further settings of the service. */
    readonly env?: Readonly<Record<string, string>>
  } = {},
) {
  const { unwatched = [], isAlone = false, log, env = {}, ...more } = options
  const providers = [
    { name: 'Anchor', stake: 3_000_000_000 },
    ...[...watched, ...unwatched].map((name) => ({ name })),
  ]
  const world = await watchWorld({
    simulation: { providers, ...more },
    isAlone,
    env,
    ...(log && { log }),
  })
  const watchOf = new Map<string, number>()
  const simulation = world.simulation()

  async function watch(name: string, signals: readonly object[] = EVERY_SIGNAL): Promise<void> {
    const provider = simulation.provider(name).accounts.identity.address
    const { id } = await world.watch('provider-fsp', { provider }, {}, { signals })
    watchOf.set(name, id)
  }

  async function read(): Promise<void> {
    const { app } = world
    const signal = new AbortController().signal
    const tip = await world.running().chain.confirmedBlock(app.confirmations, signal)
    await world.running().facts.rounds.advance(tip, signal)
  }

  async function publish(): Promise<void> {
    const { signal } = new AbortController()
    await fetchPublications.run(world.running(), signal, CHECK_EVERYTHING)
    await pollValidators.run(world.running(), signal, CHECK_EVERYTHING)
  }

  for (const name of watched) await watch(name)
  return {
    ...world,
    simulation: () => simulation,
    watch,
    watchOf: (name: string) => watchOf.get(name) ?? 0,
    /** Fetches what is published beside the chain. */
    publish,
    /** Reads the rounds up to two blocks after the last, and nothing else. */
    read,
    /** Reads the rounds and judges every watch. */
    scan: async () => {
      await world.devnet.mine(2, 1)
      await publish()
      await read()
      await world.look()
    },
    behave: (name: string, behaviour: Behaviour) => simulation.behave(name, behaviour),
    /** Alerts of a provider's watch, oldest first, such as `fsp.ftso-commit warning`. */
    events: async (name: string): Promise<string[]> => {
      const notified = await world.notified(watchOf.get(name) ?? 0)
      return notified.map(({ event, severity }) => `${event} ${severity}`)
    },
    alerts: (name: string) => world.notified(watchOf.get(name) ?? 0),
  }
}

export type RoundWorld = Awaited<ReturnType<typeof roundWorld>>
