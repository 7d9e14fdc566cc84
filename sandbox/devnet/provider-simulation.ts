import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '#src/kernel/clock.ts'
import type { DevnetWithContracts } from '../devnet.ts'
import { createTaskQueue } from '../task-queue.ts'
import { PRICES } from './deployment.ts'
import { type Behaviour, startFault } from './fsp/behaviours.ts'
import { createEpochDaemon } from './fsp/epoch-daemon.ts'
import {
  entityTx,
  expectSuccess,
  FUNDED_WEI,
  fundAll,
  type GenesisProvider,
  installFsp,
  SIMULATION_ACCOUNT,
} from './fsp/install.ts'
import type { KnownPolicy, SimulatedProviderState } from './fsp/policy.ts'
import { type ProviderAccounts, providerAccounts } from './fsp/provider.ts'
import { LIVE_POLL_MS, runInRealTime } from './fsp/real-time.ts'
import { planRound } from './fsp/round.ts'
import { createRoundSchedule } from './fsp/round-schedule.ts'
import { createTimeTravel, type SimulatedRounds } from './fsp/time-travel.ts'
import { epochAt, FLARE_TIMING, type ProtocolTiming } from './fsp/timing.ts'
import {
  createBlockWriter,
  type MinedReceipt,
  readReceipts,
  type UnsignedTx,
} from './fsp/writer.ts'

/** Options of a simulated provider. */
export interface ProviderOptions {
  readonly name: string
  /** Stake in whole FLR, which decides the weight; equal for all providers by default. */
  readonly stake?: number
  /** Whether it pre-registers, instead of registering at the opening. */
  readonly preRegisters?: boolean
}

/** Options of the simulation. */
export interface ProviderSimulationOptions {
  readonly providers: readonly ProviderOptions[]
  /** Differences from Flare's timing. */
  readonly timing?: Partial<ProtocolTiming>
  /**
   * The first reward epoch of the present Relay and registries; earlier ones have the former contracts. By
   * default there are only the present ones.
   */
  readonly newerFrom?: number
  /** Number of different attestation requests in a round; three by default. */
  readonly requests?: (round: number) => number
  /** Called with the time of every block before it is created. */
  readonly onTime?: (seconds: number) => void
  /** Called when a simulation has ended, which may have skipped time. */
  readonly onRest?: () => void
  /** Interval of looking for due actions in real time; a quarter of a second by default. */
  readonly pollMs?: number
}

/** A simulated data provider. */
export interface SimulatedProvider {
  readonly name: string
  /** Present accounts. Changes apply from the next reward epoch on. */
  readonly accounts: ProviderAccounts
  readonly behaviours: ReadonlySet<Behaviour>
}

/**
 * Simulates data providers and Flare's daemon on a local chain, in the time of that chain.
 *
 * Rounds overlap as on Flare: reveals and signatures of a round are in the time of the next. Skipped time
 * has only the blocks of reward epochs' events, so rounds in that time, and those it touches, cannot be
 * judged.
 */
export interface ProviderSimulation {
  readonly timing: ProtocolTiming
  readonly providers: readonly SimulatedProvider[]
  /** The next round to begin. */
  readonly round: number
  readonly rewardEpoch: number
  /** Every signing policy so far, oldest first. */
  readonly policies: readonly KnownPolicy[]
  /** Reward epochs with published rewards, oldest first. */
  readonly published: readonly number[]
  /** Opening of the registration for the next epoch; undefined while it is closed. */
  readonly registrationSince: number | undefined
  provider(name: string): SimulatedProvider
  /**
   * Simulates complete rounds.
   *
   * @param quietBlocks number of additional empty blocks in each round
   */
  playRounds(rounds: number, quietBlocks?: number): Promise<SimulatedRounds>
  /** Skips or simulates up to a time, in epoch seconds; events of reward epochs happen in both cases. */
  playTo(seconds: number, options?: { readonly inFull?: boolean }): Promise<void>
  /** Continues to two rounds after the end of the reward epoch; skips quiet time unless `inFull`. */
  playToEpochEnd(options?: { readonly inFull?: boolean }): Promise<SimulatedRounds>
  /** Continues to the round after the next opening of the registration. */
  playToRegistration(): Promise<SimulatedRounds>
  /** Continues to two rounds after the publication of the last epoch's rewards. */
  playToPublication(): Promise<SimulatedRounds>
  /** Starts faults of a provider from the next round on; they replace faults they exclude. */
  behave(name: string, ...behaviours: readonly Behaviour[]): Promise<void>
  /** Ends these faults, or all. */
  recover(name: string, ...behaviours: readonly Behaviour[]): Promise<void>
  /**
   * Sets a feed's price in US dollars, from now on.
   *
   * @param since time of its last update; always fresh by default
   */
  setFeed(name: string, price: number, since?: Date): Promise<void>
  /** Present price of a feed, in US dollars. */
  feed(name: string): number
  /**
   * Runs in real time until the signal is aborted. Explicit simulations take precedence.
   *
   * @param onProblem called with an error; the action is retried
   */
  keepUp(clock: Clock, signal: AbortSignal, onProblem: (error: unknown) => void): Promise<void>
}

const STAKE = 100_000_000
const REQUESTS = 3
const LOW_BALANCE_WEI = 3n * 10n ** 18n
/** Age at which overdue actions are dropped: time was skipped. */
const LATE_SECONDS = 15
/**
 * Creates the simulation of these providers. They are registered for the present reward epoch and the
 * previous one. Long because it founds the network and then runs it with the same providers and writer.
 *
 * @throws Error when a transaction of the founding fails
 */
export async function createProviderSimulation(
  devnet: DevnetWithContracts,
  options: ProviderSimulationOptions,
): Promise<ProviderSimulation> {
  const timing = { ...FLARE_TIMING, ...options.timing }
  const { newerFrom, requests = () => REQUESTS, onTime, onRest } = options
  const { pollMs = LIVE_POLL_MS } = options
  const writer = createBlockWriter(devnet, onTime)
  const providers = options.providers.map(
    ({ name, stake = STAKE, preRegisters = false }): SimulatedProviderState => ({
      name,
      stake,
      preRegisters,
      behaviours: new Set(),
      accounts: providerAccounts(name),
    }),
  )
  const feeds = new Map<string, { readonly value: bigint; readonly decimals: number }>(
    PRICES.map(({ name, value, decimals }) => [name, { value, decimals }]),
  )
  let isLive = false

  const commit = async (
    at: number,
    transactions: readonly UnsignedTx[],
  ): Promise<readonly MinedReceipt[]> => {
    if (!isLive) {
      const time = Math.max(at, writer.head.timestamp + 1)
      const hashes = await writer.block(time, transactions)
      return expectSuccess(writer, hashes)
    }
    const hashes = await writer.send(transactions)
    for (;;) {
      const receipts = await readReceipts(writer, hashes)
      if (receipts.every((receipt) => receipt !== null)) return expectSuccess(writer, hashes)
      await wait(LIVE_POLL_MS)
    }
  }
  const epochDaemon = createEpochDaemon({ timing, providers, commit, newerFrom })

  await writer.hold()
  try {
    const epoch = epochAt(timing, writer.head.timestamp)
    const founders: readonly GenesisProvider[] = providers
    const isFormer = newerFrom !== undefined && epoch < newerFrom
    epochDaemon.found(await installFsp(writer, { timing, epoch, founders, isFormer }))
  } finally {
    await writer.release()
  }

  const schedule = createRoundSchedule({
    timing,
    writer,
    epochDaemon,
    plan: (round) => {
      const policy = epochDaemon.policyOf(round)
      return planRound({
        round,
        timing,
        policy,
        members: policy.members.map(({ provider, ...rest }) => ({
          ...rest,
          behaviours: new Set(provider.behaviours),
        })),
        prices: [...feeds.values()].map(({ value }) => Number(value)),
        requests: requests(round),
        relay: epochDaemon.relayOf(round),
        asker: SIMULATION_ACCOUNT,
      })
    },
  })

  /** Serializes simulations. */
  const inTurn = createTaskQueue()
  /** Runs a simulation that creates blocks itself. */
  const playing = <T>(run: () => Promise<T>): Promise<T> =>
    inTurn(async () => {
      await writer.hold()
      try {
        const { timestamp } = writer.head
        if (schedule.nextAt() < timestamp - LATE_SECONDS) schedule.resume(timestamp)
        return await run()
      } finally {
        await writer.release()
        onRest?.()
      }
    })

  const timeTravel = createTimeTravel({ timing, writer, epochDaemon, schedule })

  const states = new Map(providers.map((provider) => [provider.name, provider]))
  const stateOf = (name: string): SimulatedProviderState => {
    const state = states.get(name)
    if (state === undefined) throw new Error(`there is no provider ${name}`)
    return state
  }

  /** Applies the effects of faults outside of rounds. */
  async function apply(
    provider: SimulatedProviderState,
    was: ReadonlySet<Behaviour>,
  ): Promise<void> {
    const turned = (behaviour: Behaviour) =>
      was.has(behaviour) !== provider.behaviours.has(behaviour)
    if (turned('changed-submit-address')) {
      const version = provider.behaviours.has('changed-submit-address') ? 2 : 1
      provider.accounts = providerAccounts(provider.name, version)
      await fundAll(writer, [provider])
      await commit(writer.head.timestamp + 1, [entityTx([provider.accounts])])
    }
    if (turned('low-balance')) {
      const isLow = provider.behaviours.has('low-balance')
      await devnet.setBalance(
        provider.accounts.submit.address,
        isLow ? LOW_BALANCE_WEI : FUNDED_WEI,
      )
    }
  }

  async function change(name: string, change: (all: Set<Behaviour>) => void): Promise<void> {
    const provider = stateOf(name)
    const was = new Set(provider.behaviours)
    change(provider.behaviours)
    const isMined = (behaviour: Behaviour) =>
      was.has(behaviour) !== provider.behaviours.has(behaviour)
    if (isMined('changed-submit-address')) return playing(() => apply(provider, was))
    return inTurn(() => apply(provider, was))
  }

  return {
    timing,
    providers,
    policies: epochDaemon.policies,
    get round() {
      return schedule.round
    },
    get rewardEpoch() {
      return epochDaemon.epoch
    },
    get published() {
      return [...epochDaemon.published].toSorted((a, b) => a - b)
    },
    get registrationSince() {
      return epochDaemon.registrationSince
    },
    provider: stateOf,
    playRounds: (rounds, quietBlocks) => playing(() => timeTravel.inFull(rounds, quietBlocks)),
    playTo: (seconds, { inFull = false } = {}) =>
      playing(() => (inFull ? timeTravel.playTo(seconds) : timeTravel.skipTo(seconds))),
    playToEpochEnd: ({ inFull = false } = {}) => playing(() => timeTravel.toEpochEnd(inFull)),
    playToRegistration: () => playing(timeTravel.toRegistration),
    playToPublication: () => playing(timeTravel.toPublication),
    behave: (name, ...behaviours) =>
      change(name, (all) => {
        for (const behaviour of behaviours) startFault(all, behaviour)
      }),
    recover: (name, ...behaviours) =>
      change(name, (all) => {
        if (behaviours.length === 0) all.clear()
        for (const behaviour of behaviours) all.delete(behaviour)
      }),
    setFeed: async (name, price, since) => {
      const known = feeds.get(name)
      if (known === undefined) throw new Error(`there is no feed ${name}`)
      const value = BigInt(Math.round(price * 10 ** known.decimals))
      feeds.set(name, { ...known, value })
      await inTurn(() => devnet.contracts.setFeed(name, value, known.decimals, since))
    },
    feed: (name) => {
      const known = feeds.get(name)
      if (known === undefined) throw new Error(`there is no feed ${name}`)
      return Number(known.value) / 10 ** known.decimals
    },
    keepUp: (clock, signal, onProblem) =>
      runInRealTime({
        ...{ schedule, writer, clock, signal, onProblem, pollMs },
        inTurn: (run) =>
          inTurn(async () => {
            isLive = true
            await run().finally(() => {
              isLive = false
            })
          }),
      }),
  }
}
