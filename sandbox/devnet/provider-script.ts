import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '#src/kernel/clock.ts'
import type { FurnishedDevnet } from '../devnet.ts'
import { PRICES } from './deployment.ts'
import { type Behaviour, begin } from './fsp/behaviours.ts'
import { createKeeper } from './fsp/epoch-daemon.ts'
import {
  entityTx,
  expectSuccess,
  type Founder,
  FUNDED_WEI,
  fund,
  installFsp,
  PLAYER,
} from './fsp/install.ts'
import { keepUp, LIVE_LOOK_MS } from './fsp/live.ts'
import type { KnownPolicy, ProviderState } from './fsp/policy.ts'
import { createCourse } from './fsp/price-path.ts'
import { type ProviderAccounts, providerAccounts } from './fsp/provider.ts'
import { planRound } from './fsp/round.ts'
import { createTravel, type PlayedRounds } from './fsp/time-travel.ts'
import { epochAt, FLARE_TIMING, type Timing } from './fsp/timing.ts'
import { createBlockWriter, type Receipt, readReceipts, type Tx } from './fsp/writer.ts'

/** A provider as it is asked for. */
export interface ProviderOptions {
  readonly name: string
  /** Its weight, in whole FLR; all have the same without it. */
  readonly stake?: number
  /** Asks early to be registered as soon as that opens, instead of registering then. */
  readonly preRegisters?: boolean
}

/** What is played. */
export interface PlayerOptions {
  readonly providers: readonly ProviderOptions[]
  /** What differs from Flare's times. */
  readonly timing?: Partial<Timing>
  /**
   * The first reward epoch of the present Relay and registries; those before have the former ones. Without
   * it there are only the present ones.
   */
  readonly newerFrom?: number
  /** How many different attestation requests a round has; three without it. */
  readonly requests?: (round: number) => number
  /** Hears the time of every block that is made while something is played. */
  readonly onTime?: (seconds: number) => void
}

/** A data provider that is played. */
export interface PlayedProvider {
  readonly name: string
  /** What it has now. Changed accounts count from the next reward epoch on. */
  readonly accounts: ProviderAccounts
  readonly behaviours: ReadonlySet<Behaviour>
}

/**
 * Plays data providers and Flare's own daemon on a local chain, in the time of that chain.
 *
 * Rounds overlap as they do on Flare: what a round reveals and signs is in the time of the next one. Where
 * time is skipped there are no blocks but those of the reward epochs' own events, so nothing can be said of
 * the rounds of that time, nor of the ones that it touches.
 */
export interface Player {
  readonly timing: Timing
  readonly providers: readonly PlayedProvider[]
  /** The round that begins next. */
  readonly round: number
  readonly rewardEpoch: number
  /** Every signing policy so far, oldest first. */
  readonly policies: readonly KnownPolicy[]
  /** Reward epochs whose rewards are published, oldest first. */
  readonly published: readonly number[]
  /** When the registration for the next epoch opened; undefined while it is not open. */
  readonly registrationSince: number | undefined
  provider(name: string): PlayedProvider
  /**
   * Plays so many rounds in full.
   *
   * @param quietBlocks so many empty blocks are made in each round besides
   */
  playRounds(rounds: number, quietBlocks?: number): Promise<PlayedRounds>
  /** Skips or plays to a time, in seconds since 1970; what reward epochs bring meanwhile happens. */
  playTo(seconds: number, options?: { readonly inFull?: boolean }): Promise<void>
  /** To two rounds after the end of the reward epoch; skips what is quiet unless `inFull`. */
  playToEpochEnd(options?: { readonly inFull?: boolean }): Promise<PlayedRounds>
  /** To the round after the next opening of the registration. */
  playToRegistration(): Promise<PlayedRounds>
  /** To two rounds after the publication of the last epoch's rewards. */
  playToPublication(): Promise<PlayedRounds>
  /** Lets a provider do something wrong from the next round on, instead of what that cannot go with. */
  behave(name: string, ...behaviours: readonly Behaviour[]): Promise<void>
  /** Lets it do that no more, or nothing wrong at all. */
  recover(name: string, ...behaviours: readonly Behaviour[]): Promise<void>
  /**
   * Says what a feed is worth in US dollars, from now on.
   *
   * @param since when it was updated last; whenever it is read without it
   */
  setFeed(name: string, price: number, since?: Date): Promise<void>
  /** What a feed is worth at present, in US dollars. */
  feed(name: string): number
  /**
   * Goes on in the time of a clock until the signal is aborted. Whatever is played meanwhile comes first.
   *
   * @param onProblem hears what went wrong; it is tried again
   */
  keepUp(clock: Clock, signal: AbortSignal, onProblem: (error: unknown) => void): Promise<void>
}

const STAKE = 100_000_000
const REQUESTS = 3
const LOW_BALANCE_WEI = 3n * 10n ** 18n
/** What should have happened longer ago than this does not any more: time was skipped. */
const LATE_SECONDS = 15
/**
 * A player of these providers. They are registered for the reward epoch under way and the one before.
 *
 * @throws Error when a transaction of the founding fails
 */
export async function createPlayer(
  devnet: FurnishedDevnet,
  options: PlayerOptions,
): Promise<Player> {
  const timing = { ...FLARE_TIMING, ...options.timing }
  const { newerFrom, requests = () => REQUESTS, onTime = () => undefined } = options
  const writer = createBlockWriter(devnet)
  const providers = options.providers.map(
    ({ name, stake = STAKE, preRegisters = false }): ProviderState => ({
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

  const commit = async (at: number, transactions: readonly Tx[]): Promise<readonly Receipt[]> => {
    if (!isLive) {
      const time = Math.max(at, writer.head.timestamp + 1)
      const hashes = await writer.block(time, transactions)
      onTime(time)
      return expectSuccess(writer, hashes)
    }
    const hashes = await writer.send(transactions)
    for (;;) {
      const receipts = await readReceipts(writer, hashes)
      if (receipts.every((receipt) => receipt !== null)) return expectSuccess(writer, hashes)
      await wait(LIVE_LOOK_MS)
    }
  }
  const keeper = createKeeper({ timing, providers, commit, newerFrom })

  await writer.hold()
  try {
    const epoch = epochAt(timing, writer.head.timestamp)
    const founders: readonly Founder[] = providers
    const isFormer = newerFrom !== undefined && epoch < newerFrom
    keeper.found(await installFsp(writer, { timing, epoch, founders, isFormer }))
  } finally {
    await writer.release()
  }

  const course = createCourse({
    timing,
    writer,
    keeper,
    onTime,
    plan: async (round) => {
      const policy = keeper.policyOf(round)
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
        relay: keeper.relayOf(round),
        asker: PLAYER,
      })
    },
  })

  /** One thing at a time. */
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const mine = turn.then(run)
    turn = mine.catch(() => undefined)
    return mine
  }
  /** Makes blocks itself meanwhile. */
  const playing = <T>(run: () => Promise<T>): Promise<T> =>
    inTurn(async () => {
      await writer.hold()
      try {
        const { timestamp } = writer.head
        if (course.nextAt() < timestamp - LATE_SECONDS) course.resume(timestamp)
        return await run()
      } finally {
        await writer.release()
      }
    })

  const travel = createTravel({ timing, writer, keeper, course, onTime })

  const states = new Map(providers.map((provider) => [provider.name, provider]))
  const stateOf = (name: string): ProviderState => {
    const found = states.get(name)
    if (found === undefined) throw new Error(`there is no provider ${name}`)
    return found
  }

  /** What behaviours bring that are not of rounds. */
  async function apply(provider: ProviderState, was: ReadonlySet<Behaviour>): Promise<void> {
    const turned = (one: Behaviour) => was.has(one) !== provider.behaviours.has(one)
    if (turned('changed-submit-address')) {
      const version = provider.behaviours.has('changed-submit-address') ? 2 : 1
      provider.accounts = providerAccounts(provider.name, version)
      await fund(writer, [provider])
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
    const isMined = (one: Behaviour) => was.has(one) !== provider.behaviours.has(one)
    if (isMined('changed-submit-address')) return playing(() => apply(provider, was))
    return inTurn(() => apply(provider, was))
  }

  return {
    timing,
    providers,
    policies: keeper.policies,
    get round() {
      return course.round
    },
    get rewardEpoch() {
      return keeper.epoch
    },
    get published() {
      return [...keeper.published].toSorted((a, b) => a - b)
    },
    get registrationSince() {
      return keeper.registrationSince
    },
    provider: stateOf,
    playRounds: (rounds, quietBlocks) => playing(() => travel.inFull(rounds, quietBlocks)),
    playTo: (seconds, { inFull = false } = {}) =>
      playing(() => (inFull ? travel.playTo(seconds) : travel.skipTo(seconds))),
    playToEpochEnd: ({ inFull = false } = {}) => playing(() => travel.toEpochEnd(inFull)),
    playToRegistration: () => playing(travel.toRegistration),
    playToPublication: () => playing(travel.toPublication),
    behave: (name, ...behaviours) =>
      change(name, (all) => {
        for (const one of behaviours) begin(all, one)
      }),
    recover: (name, ...behaviours) =>
      change(name, (all) => {
        if (behaviours.length === 0) all.clear()
        for (const one of behaviours) all.delete(one)
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
      keepUp({
        ...{ course, writer, clock, signal, onProblem },
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
