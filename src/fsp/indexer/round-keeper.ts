import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import { type Fence, transactUnder } from '#src/db/lock.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { FspChain } from '../chain.ts'
import { roundAt, roundStart } from '../protocol/epochs.ts'
import { nodeIdOf } from '../protocol/node-id.ts'
import { indexPolicy, policyOfRound } from '../protocol/policy.ts'
import type { RoundEvidence } from '../protocol/round-evidence.ts'
import { collectRounds, type RoundCollector } from '../protocol/rounds.ts'
import { judgeRound } from '../protocol/verdicts.ts'
import type { SystemState } from '../reader/provider-states.ts'
import type { RewardClaim } from '../reader/round-events.ts'
import type { Policies } from '../reader/round-reader.ts'
import { createRewardFacts } from './rewards.ts'
import { type KnownPolicies, type Moment, ownersOf, partsOf, silenceIn } from './round-parts.ts'
import { type RoundRecord, recordOf } from './round-record.ts'
import {
  addBlock,
  addPoll,
  addUnsureBlock,
  CarriedState,
  EMPTY_STATE,
  forget,
  type Owners,
  sendersOf,
} from './round-state.ts'
import * as store from './round-store.ts'

/** Where rounds are read from. */
export interface RoundSource {
  readonly db: Db
  readonly chain: FspChain
  readonly clock: Clock
  readonly log: Logger
  readonly chainId: number
  /** Where the rewards of a reward epoch are published; none: nothing is said of them. */
  readonly rewardDataUrls: readonly string[]
  /** Identities of the providers that somebody watches in every round. */
  readonly watchedProviders: () => Promise<readonly Address[]>
}

/** Reads on, round after round. */
export interface RoundKeeper {
  /**
   * Reads every block up to `tip` and keeps the rounds that are complete, with what is known of each
   * provider. A stop anywhere loses and repeats nothing.
   *
   * @param fence the right to write as the one process that reads; without it nobody else does
   * @throws AppError upstream `dependency_unavailable` when blocks cannot be read: the next call goes on;
   *   FenceError when another process took over
   */
  advance(tip: BlockRef, signal: AbortSignal, fence?: Fence): Promise<void>
}

/** Blocks read before the first round that is judged, at the very first start. */
const BLOCKS_BACK = 400
/** A longer pause than that is left out: a gap in every streak. */
const BACKFILL_MAX = 150_000
/** What is read at the end of a block is only asked for while the block is young. */
const STATE_AGE_MS = 600_000
const PACE_BLOCKS = 20_000

/** What is open while reading goes on. It ends with the lock it was opened under. */
interface Session {
  readonly fence: Fence | undefined
  /** The block up to which progress is stored; undefined before the first round. */
  savedTo: number | undefined
  readonly state: CarriedState
  readonly collector: RoundCollector
  policies: KnownPolicies
  /** The round of the tip that the policies, and who is watched, were asked for at. */
  knownAt: number
  watched: readonly Address[]
  owners: Owners
  /** First block of each open round. */
  readonly firstBlocks: Map<number, number>
  /** Rewards claimed since the last round that was kept. */
  claims: RewardClaim[]
  from: number
  /** Up to here everything but the open rounds has been counted before a stop. */
  readonly countedTo: number
  after: Hash | undefined
  blockSeconds: number
  /** Something has been noted as unreadable since, and that it can be read again has not. */
  isFailing: boolean
}

/** Reads and keeps voting rounds, from wherever the last process stopped. */
export function createRoundKeeper(source: RoundSource): RoundKeeper {
  const { db, chain, clock, log, chainId } = source
  const rewards = createRewardFacts(source)
  let session: Session | undefined

  /** Whether the session can go on: under the same lock, and nobody else has stored progress since. */
  async function isCurrent(current: Session, fence: Fence | undefined): Promise<boolean> {
    return current.fence === fence && (await store.findBlock(db)) === current.savedTo
  }

  async function open(
    tip: BlockRef,
    signal: AbortSignal,
    fence: Fence | undefined,
  ): Promise<Session | undefined> {
    const progress = await store.findProgress(db)
    const oldest = Math.max(0, tip.number - (progress === undefined ? BLOCKS_BACK : BACKFILL_MAX))
    const from = Math.max(oldest, progress?.resumeFrom ?? 0)
    const first = await chain.blockAt(from, signal)
    const policies = await loadPolicies(tip, signal, { since: first?.at ?? tip.at })
    if (policies === undefined) return undefined
    const state = CarriedState.parse(progress?.state ?? structuredClone(EMPTY_STATE))
    if (progress !== undefined && from > progress.resumeFrom) {
      log.warn({ from: progress.resumeFrom, to: from }, 'rounds left out after a long pause')
      state.readSince = null
      state.registrationsSince = null
      state.registrations = {}
    }
    const opened: Session = {
      fence,
      savedTo: progress?.blockNumber,
      state,
      policies,
      knownAt: roundAt(policies.clock, tip.at.getTime() / 1000),
      collector: collectRounds(policies.clock, (round) =>
        policyOfRound(opened.policies.policies, round),
      ),
      watched: [],
      owners: { bySigningPolicy: new Map(), byAccount: new Map() },
      firstBlocks: new Map(),
      claims: [],
      from,
      countedTo: progress?.blockNumber ?? -1,
      after: undefined,
      blockSeconds: await readPace(tip, signal),
      isFailing: progress?.failingSince != null,
    }
    await refresh(opened, tip)
    return opened
  }

  async function loadPolicies(
    tip: BlockRef,
    signal: AbortSignal,
    { since, known }: { readonly since?: Date; readonly known?: KnownPolicies },
  ): Promise<KnownPolicies | undefined> {
    const found = await readPolicies(tip, signal, { since, known })
    return (
      found && {
        ...found,
        policies: found.policies.map((one) => ({ ...one, ...indexPolicy(one) })),
      }
    )
  }

  /** The policies of every round from `since` on. */
  async function readPolicies(
    tip: BlockRef,
    signal: AbortSignal,
    {
      since,
      known,
    }: { readonly since: Date | undefined; readonly known: KnownPolicies | undefined },
  ): Promise<Policies | undefined> {
    const found = await chain.rounds.policies(tip, signal, known && { known })
    if (found === undefined || since === undefined) return found
    const sinceRound = roundAt(found.clock, since.getTime() / 1000)
    if ((found.policies[0]?.startRound ?? 0) <= sinceRound) return found
    return chain.rounds.policies(tip, signal, { known: found, sinceRound })
  }

  /** Seconds from block to block of late. */
  async function readPace(tip: BlockRef, signal: AbortSignal): Promise<number> {
    const back = await chain.blockAt(Math.max(0, tip.number - PACE_BLOCKS), signal)
    const blocks = tip.number - (back?.number ?? tip.number)
    const seconds = (tip.at.getTime() - (back?.at ?? tip.at).getTime()) / 1000
    return blocks > 0 && seconds > 0 ? seconds / blocks : 1.2
  }

  /** Who is watched now, and whose the accounts are. */
  async function refresh(current: Session, at: BlockRef): Promise<void> {
    current.watched = await source.watchedProviders()
    const nowSeconds = at.at.getTime() / 1000
    current.owners = ownersOf(current.policies, new Set(current.watched), (voter) =>
      sendersOf(current.state, voter, nowSeconds),
    )
  }

  /**
   * Once in a round of the tip, before a block of it is looked at: a block is never judged by a policy
   * that was replaced before it, however long nobody has looked.
   */
  async function renew(current: Session, tip: BlockRef, signal: AbortSignal): Promise<void> {
    const round = roundAt(current.policies.clock, tip.at.getTime() / 1000)
    if (round <= current.knownAt) return
    const { currentEpoch } = current.policies
    const known = current.policies
    const first = current.from <= tip.number ? await chain.blockAt(current.from, signal) : undefined
    const since = first?.at ?? tip.at
    current.policies = (await loadPolicies(tip, signal, { since, known })) ?? current.policies
    if (current.policies.currentEpoch !== currentEpoch) {
      current.blockSeconds = await readPace(tip, signal)
    }
    await refresh(current, tip)
    current.knownAt = round
  }

  async function keepRound(
    current: Session,
    evidence: RoundEvidence,
    block: BlockRef,
    tip: BlockRef,
    signal: AbortSignal,
  ): Promise<void> {
    const { state, policies } = current
    const { round } = evidence
    const isYoung = tip.at.getTime() - block.at.getTime() < STATE_AGE_MS
    const system = isYoung ? await readSystem(current, block, signal) : undefined
    state.sampleSize = system?.sampleSize ?? state.sampleSize ?? (await readSampleSize(tip, signal))
    const judged = judgeRound(policies.clock, chainId, evidence)
    const records = new Map<Address, RoundRecord>(
      evidence.policy.providers.flatMap(({ voter }, place) => {
        const one = judged[place]
        return one === undefined ? [] : [[voter, recordOf(one)] as const]
      }),
    )
    const policy = policyOfRound(policies.policies, round)
    const peaks = new Map<Address, Moment>()
    for (const [voter, record] of records) {
      const silence = silenceIn(current, policy, voter, system)
      if (silence !== undefined) records.set(voter, { ...record, fastUpdates: silence.part })
      if (silence?.peak !== undefined) peaks.set(voter, silence.peak)
    }
    // Read twice after a stop, a claim is the same.
    await transactUnder(current.fence, db, (tx) => store.saveClaims(tx, current.claims))
    current.claims = []
    const waiting = isYoung
      ? await rewards.waiting(
          current.watched,
          { policies, readSince: state.readSince, block },
          signal,
          current.fence,
        )
      : undefined
    for (const voter of current.watched) {
      const parts = partsOf(current, voter, {
        block,
        system,
        policy,
        rewards: waiting?.get(voter),
        peak: peaks.get(voter),
      })
      records.set(voter, { ...records.get(voter), ...parts })
    }
    state.peaks = {}
    state.registrationMoments = {}
    state.contracts = Object.fromEntries(
      Object.entries(chain.rounds.contracts()).map(([name, all]) => [name, [...all]]),
    )
    forget(state, {
      members: new Set(policies.policies.flatMap((one) => one.providers.map(({ voter }) => voter))),
      active: new Set(evidence.policy.providers.map(({ voter }) => voter)),
      watched: new Set(current.watched),
      nodeIds: system && nodesOf(system),
      nowSeconds: block.at.getTime() / 1000,
    })
    await transactUnder(current.fence, db, async (tx) => {
      await store.insertRound(tx, {
        round,
        rewardEpoch: evidence.policy.rewardEpoch,
        startsAt: new Date(roundStart(policies.clock, round) * 1000),
        blockNumber: block.number,
        blockAt: block.at,
        providers: Object.fromEntries(records),
      })
      // Read once more after a restore, it has been counted.
      if (block.number < (current.savedTo ?? 0)) return
      await store.saveProgress(tx, {
        blockNumber: block.number,
        blockAt: block.at,
        resumeFrom: Math.max(0, (current.firstBlocks.get(round + 1) ?? block.number) - 1),
        state: z.encode(CarriedState, state),
        failingSince: null,
      })
    })
    current.savedTo = Math.max(block.number, current.savedTo ?? 0)
    current.isFailing = false
  }

  /** Updates expected a block at the tip: the chain keeps no history of it that every node answers. */
  async function readSampleSize(tip: BlockRef, signal: AbortSignal): Promise<number | null> {
    const query = { currentEpoch: 0, voters: [], members: new Map(), extra: new Map(), block: tip }
    return (await chain.rounds.states(query, signal)).sampleSize
  }

  function readSystem(
    { policies, watched, state }: Session,
    block: BlockRef,
    signal: AbortSignal,
  ): Promise<SystemState> {
    const nowSeconds = block.at.getTime() / 1000
    const extra = new Map(watched.map((voter) => [voter, sendersOf(state, voter, nowSeconds)]))
    const round = roundAt(policies.clock, nowSeconds)
    const inForce = policyOfRound(policies.policies, round)
    const currentEpoch = inForce?.rewardEpoch ?? policies.currentEpoch
    const members = new Map(inForce?.providers.map((one) => [one.voter, one]))
    const query = { currentEpoch, voters: watched, members, extra, block }
    return chain.rounds.states(query, signal)
  }

  /** Counts what the P-chain has answered since it was counted last. */
  async function countPolls({ state }: Session): Promise<void> {
    const after = state.pollsTo === null ? undefined : new Date(state.pollsTo)
    for (const { polledAt, validators } of await store.listPolls(db, after)) {
      state.pollsTo = polledAt.toISOString()
      addPoll(state, validators)
    }
  }

  async function readOn(current: Session, tip: BlockRef, signal: AbortSignal): Promise<void> {
    await renew(current, tip, signal)
    await countPolls(current)
    const watched = new Set(current.owners.byAccount.keys())
    while (current.from <= tip.number && !signal.aborted) {
      const range = { from: current.from, to: tip.number, after: current.after }
      const { blocks, upTo } = await chain.rounds.span(range, watched, signal)
      for (const block of blocks) {
        if (block.isSure === false) {
          log.warn({ block: block.number }, 'endpoints contradict each other: rounds left out')
        }
        recordFirst(current, roundAt(current.policies.clock, block.at), block.number)
        const complete = current.collector.add(block)
        if (block.number > current.countedTo) {
          if (block.isSure === false) addUnsureBlock(current.state)
          else addBlock(current.state, block, current.owners)
        }
        if (block.isSure !== false) current.claims.push(...block.claims)
        for (const evidence of complete) {
          await keepRound(current, evidence, block.ref, tip, signal)
        }
        current.after = block.ref.hash
      }
      current.from = upTo + 1
    }
    if (!current.isFailing || signal.aborted) return
    await transactUnder(current.fence, db, (tx) => store.saveFailing(tx, null))
    current.isFailing = false
  }

  return {
    async advance(tip, signal, fence) {
      try {
        if (session !== undefined && !(await isCurrent(session, fence))) session = undefined
        session ??= await open(tip, signal, fence)
        if (session !== undefined) await readOn(session, tip, signal)
      } catch (error) {
        session = undefined
        if (!signal.aborted) {
          const progress = await store.findProgress(db)
          if (progress?.failingSince === null) {
            await transactUnder(fence, db, (tx) => store.saveFailing(tx, clock.now()))
          }
        }
        throw error
      }
    },
  }
}

/** Rounds that are open at a time, and one. */
const OPEN_ROUNDS = 4

function recordFirst({ firstBlocks }: Session, round: number, block: number): void {
  if (firstBlocks.has(round)) return
  firstBlocks.set(round, block)
  for (const one of firstBlocks.keys()) if (one <= round - OPEN_ROUNDS) firstBlocks.delete(one)
}

/** The validators of those we look at; undefined when they are not known of all. */
function nodesOf({ providers }: SystemState): ReadonlySet<string> | undefined {
  const all = [...providers.values()].map(({ nodeIds }) => nodeIds)
  if (all.includes(null)) return undefined
  return new Set(all.flatMap((nodeIds) => nodeIds ?? []).map(nodeIdOf))
}
