import { encodeFunctionData, type Hex } from 'viem'
import { flare } from '../flare.ts'
import { FSP_ABI, RELAY_ABI, VOTERS_ABI } from './abi.ts'
import { CONTRACTS } from './contract-addresses.ts'
import { policyBytes } from './encode.ts'
import { setGeneration, setManagerContracts, setUpCall } from './install.ts'
import { createOpenVotes, type EpochVoteKind } from './open-votes.ts'
import { createPayouts } from './payouts.ts'
import { type KnownPolicy, type SimulatedProviderState, withMembers } from './policy.ts'
import { decodeProtocolEvents, type ProtocolEvent } from './protocol-events.ts'
import { rewardTree } from './reward-tree.ts'
import { epochStart, type ProtocolTiming } from './timing.ts'
import {
  policyVoteBuilder,
  preRegistration,
  registration,
  rewardsVoteBuilder,
  uptimeVoteBuilder,
  type VoteTransactionBuilder,
} from './votes.ts'
import type { MinedReceipt, UnsignedTx } from './writer.ts'

/** Runs a chain's reward epochs: Flare's daemon, and the providers' actions once per epoch. */
export interface EpochDaemon {
  /** The present reward epoch. */
  readonly epoch: number
  /** Every policy so far, oldest first. */
  readonly policies: readonly KnownPolicy[]
  /** Epochs with published rewards. */
  readonly published: ReadonlySet<number>
  /** The policy of a round. */
  policyOf(round: number): KnownPolicy
  /** The Relay that finalises a round, and the chain id its messages are bound to. */
  relayOf(round: number): { readonly address: Hex; readonly chainId: number | undefined }
  /** Earliest time of the next action; `now` if one is due. */
  nextDue(now: number): number
  /** Runs due actions, in blocks from `at` on, a second apart. */
  tick(at: number): Promise<void>
  /** Processes the receipts of the transactions that installed the contracts. */
  found(receipts: readonly MinedReceipt[]): void
  /** Time at which the registration for the next epoch opened; undefined while it is closed. */
  readonly registrationSince: number | undefined
}

/** Writes transactions in one or more blocks, from a time on. */
export type WriteTransactions = (
  at: number,
  transactions: readonly UnsignedTx[],
) => Promise<readonly MinedReceipt[]>

export interface EpochDaemonOptions {
  readonly timing: ProtocolTiming
  readonly providers: readonly SimulatedProviderState[]
  readonly commit: WriteTransactions
  /** The first epoch of the present generation of contracts; undefined: all epochs. */
  readonly newerFrom: number | undefined
}

const LATE_REGISTRATION_SECONDS = 1200
const DAEMON_GAS = 15_000_000
const SEED_GAS = 15_000_000

/**
 * Creates the daemon of a chain with installed contracts. Long because the steps of an epoch share its
 * policies, registrations and ballots.
 */
export function createEpochDaemon(options: EpochDaemonOptions): EpochDaemon {
  const { timing, providers, commit, newerFrom = 0 } = options
  const policies: KnownPolicy[] = []
  const ballots = createOpenVotes()
  const payouts = createPayouts(timing)
  const preRegistered = new Set<SimulatedProviderState>()
  const registered = new Map<SimulatedProviderState, SimulatedProviderState['accounts']>()
  let epoch = 0
  let acquiringSince: number | undefined
  let registrationSince: number | undefined
  /** Time at which the vote on the last epoch's uptime opens; infinity when none is due. */
  let uptimeDue = Number.POSITIVE_INFINITY

  const isFormer = (rewardEpoch: number) => rewardEpoch < newerFrom
  const chainIdOf = (rewardEpoch: number) => (isFormer(rewardEpoch) ? undefined : flare.id)
  const next = () => policies.find((policy) => policy.epoch === epoch + 1)
  const registriesOf = (rewardEpoch: number) =>
    isFormer(rewardEpoch)
      ? { registry: CONTRACTS.oldVoterRegistry, preRegistry: CONTRACTS.oldVoterPreRegistry }
      : { registry: CONTRACTS.voterRegistry, preRegistry: CONTRACTS.voterPreRegistry }

  /** Time of the daemon's next step. */
  const daemonDue = () => Math.min(uptimeDue, phaseDue())

  function phaseDue(): number {
    const end = epochStart(timing, epoch + 1)
    if (next() !== undefined) {
      const first = timing.firstRoundStart + (next()?.startRound ?? 0) * timing.roundSeconds
      return Math.max(end, first)
    }
    if (registrationSince !== undefined) return registrationSince + timing.registrationSeconds + 1
    if (acquiringSince !== undefined) return acquiringSince + timing.randomAcquisitionSeconds
    return end - timing.initializationSeconds
  }

  function isPolicyDue(at: number): boolean {
    return registrationSince !== undefined && next() === undefined && phaseDue() <= at
  }

  /** Time at which an unregistered provider registers; infinity if it never does. */
  function registersAt({ behaviours }: SimulatedProviderState): number {
    if (registrationSince === undefined || next() !== undefined || behaviours.has('unregistered')) {
      return Number.POSITIVE_INFINITY
    }
    return registrationSince + (behaviours.has('late-registration') ? LATE_REGISTRATION_SECONDS : 0)
  }

  function unregistered(): readonly SimulatedProviderState[] {
    return providers.filter((provider) => !registered.has(provider))
  }

  /** Unregistered providers whose time to register has come. */
  function registering(at: number): readonly SimulatedProviderState[] {
    return unregistered().filter((provider) => registersAt(provider) <= at)
  }

  function preRegistering(): readonly SimulatedProviderState[] {
    if (registrationSince !== undefined) return []
    const members = new Set(policyFor(epoch)?.members.map(({ provider }) => provider))
    return providers.filter(
      (provider) =>
        provider.preRegisters &&
        members.has(provider) &&
        !preRegistered.has(provider) &&
        !provider.behaviours.has('unregistered'),
    )
  }

  function policyFor(rewardEpoch: number): KnownPolicy | undefined {
    return policies.find((policy) => policy.epoch === rewardEpoch)
  }

  function take(event: ProtocolEvent): void {
    const ending = policyFor(epoch)
    switch (event.what) {
      case 'acquisition':
        acquiringSince = event.at
        return
      case 'registration':
        registrationSince = event.at
        for (const provider of providers) {
          if (preRegistered.has(provider)) registered.set(provider, provider.accounts)
        }
        return
      case 'policy': {
        const all = [...registered].map(([provider, accounts]) => ({ provider, accounts }))
        policies.push(withMembers(event.policy, all))
        return
      }
      case 'started':
        if (ending !== undefined) payouts.end(ending, event.at)
        uptimeDue = event.at + timing.uptimeVoteSeconds + 1
        epoch = event.epoch
        acquiringSince = undefined
        registrationSince = undefined
        registered.clear()
        preRegistered.clear()
        return
      case 'uptime':
        uptimeDue = Number.POSITIVE_INFINITY
        openBallot('uptime', event.epoch, uptimeVoteBuilder(event.epoch))
        return
      case 'vote':
        if (!event.isOver) return
        if (event.kind === 'uptime') ballots.allowRewards(event.epoch)
        else payouts.allowClaims(event.epoch)
    }
  }

  function openBallot(kind: EpochVoteKind, electorate: number, vote: VoteTransactionBuilder): void {
    const policy = policyFor(electorate)
    if (policy !== undefined) ballots.open(kind, policy, vote)
  }

  async function write(
    at: number,
    transactions: readonly UnsignedTx[],
  ): Promise<readonly ProtocolEvent[]> {
    const receipts = decodeProtocolEvents(await commit(at, transactions))
    for (const event of receipts) take(event)
    return receipts
  }

  async function runDaemon(at: number): Promise<number> {
    let time = at
    while (daemonDue() <= time) {
      if (isPolicyDue(time)) time = await pushOut(time)
      const daemonize = encodeFunctionData({ abi: FSP_ABI, functionName: 'daemonize' })
      const receipts = await write(time, [
        setUpCall(CONTRACTS.flareSystemsManager, daemonize, DAEMON_GAS),
      ])
      time += 1
      if (receipts.length === 0) throw new Error('the daemon had nothing to do')
      for (const event of receipts) time = await follow(event, time)
    }
    return time
  }

  /** Does what follows a daemon's step: opens the vote on a new policy, writes the change of generation. */
  async function follow(event: ProtocolEvent, at: number): Promise<number> {
    if (event.what === 'policy') {
      const { policy } = event
      openBallot(
        'policy',
        epoch,
        policyVoteBuilder(policy.epoch, policyBytes(policy), chainIdOf(policy.epoch - 1)),
      )
    }
    const transactions = changeOfGeneration(event)
    if (transactions.length === 0) return at
    await write(at, transactions)
    return at + 1
  }

  function changeOfGeneration(event: ProtocolEvent): readonly UnsignedTx[] {
    if (event.what === 'acquisition' && event.epoch === newerFrom) {
      return setGeneration({ relay: true, registries: false })
    }
    if (event.what === 'policy' && event.policy.epoch === newerFrom) {
      const { startRound, seed, voters } = event.policy
      const seedPolicy = encodeFunctionData({
        abi: RELAY_ABI,
        functionName: 'seedSigningPolicy',
        args: [
          ...([newerFrom, startRound, seed] as const),
          voters.map(({ address }) => address),
          voters.map(({ weight }) => weight),
        ],
      })
      return [
        setUpCall(CONTRACTS.relay, seedPolicy, SEED_GAS),
        setManagerContracts(CONTRACTS.relay, false),
      ]
    }
    if (event.what === 'started' && event.epoch === newerFrom) {
      return setGeneration({ relay: false, registries: false })
    }
    return []
  }

  /**
   * Removes the voters with the fault `not-in-policy`, in the block before the daemon sets the policy, unless
   * all of them have the fault.
   */
  async function pushOut(at: number): Promise<number> {
    const out = [...registered.keys()].filter(({ behaviours }) => behaviours.has('not-in-policy'))
    if (out.length === 0 || out.length === registered.size) return at
    const transactions = out.map(({ accounts }) =>
      setUpCall(
        registriesOf(epoch + 1).registry,
        encodeFunctionData({
          abi: VOTERS_ABI,
          functionName: 'removeVoter',
          args: [accounts.identity.address, BigInt(epoch + 1)],
        }),
      ),
    )
    for (const provider of out) registered.delete(provider)
    await write(at, transactions)
    return at + 1
  }

  function register(at: number): readonly UnsignedTx[] {
    const to = registriesOf(epoch + 1)
    const chainId = chainIdOf(epoch + 1)
    const early = preRegistering()
    const now = registering(at)
    for (const provider of early) preRegistered.add(provider)
    for (const provider of now) registered.set(provider, provider.accounts)
    return [
      ...early.map(({ accounts }) => preRegistration(accounts, epoch + 1, to.preRegistry)),
      ...now.map(({ accounts }) => registration(accounts, epoch + 1, chainId, to.registry)),
    ]
  }

  function publish(at: number): readonly UnsignedTx[] {
    return payouts.publish(at).flatMap(({ policy, transactions }) => {
      const { root } = rewardTree(policy.epoch, policy.members)
      ballots.open('rewards', policy, rewardsVoteBuilder(policy.epoch, root))
      return transactions
    })
  }

  return {
    get epoch() {
      return epoch
    },
    get registrationSince() {
      return next() === undefined ? registrationSince : undefined
    },
    policies,
    published: payouts.published,
    policyOf: (round) => {
      const policy = policies.findLast(({ startRound }) => startRound <= round)
      if (policy === undefined) throw new Error(`round ${round} is before the first policy`)
      return policy
    },
    relayOf: (round) => {
      const first = policies.find((policy) => policy.epoch === newerFrom)?.startRound
      const isOld = newerFrom > 0 && (first === undefined ? isFormer(epoch) : round < first)
      return isOld
        ? { address: CONTRACTS.oldRelay, chainId: undefined }
        : { address: CONTRACTS.relay, chainId: flare.id }
    },
    nextDue: (now) => {
      const isWaiting =
        registering(now).length > 0 ||
        preRegistering().length > 0 ||
        payouts.isWaiting() ||
        ballots.isWaiting()
      if (isWaiting) return now
      const lateAt = Math.min(...unregistered().map(registersAt))
      return Math.max(now, Math.min(daemonDue(), lateAt, payouts.nextPublication()))
    },
    tick: async (at) => {
      let time = await runDaemon(at)
      for (const step of [[...register(time), ...publish(time)], ballots.cast(), payouts.claim()]) {
        if (step.length === 0) continue
        await write(time, step)
        time += 1
      }
    },
    found: (receipts) => {
      for (const provider of providers) registered.set(provider, provider.accounts)
      for (const event of decodeProtocolEvents(receipts)) take(event)
      registered.clear()
      epoch = policies.at(-1)?.epoch ?? 0
      for (const { epoch: publishedEpoch } of policies.slice(0, -1)) {
        payouts.addPublished(publishedEpoch)
      }
    },
  }
}
