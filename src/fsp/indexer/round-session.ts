import type { BlockRef } from '#src/chain/chain.ts'
import type { RecoveryPool } from '#src/chain/signatures/recovery-pool.ts'
import type { Db } from '#src/db/connection.ts'
import type { Fence } from '#src/db/leases.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { FspChain } from '../chain.ts'
import { roundAt } from '../protocol/epochs.ts'
import type { RecoveredSigners } from '../protocol/judged-signatures.ts'
import { indexPolicy, policyOfRound } from '../protocol/policy.ts'
import { createRoundCollector, type RoundCollector } from '../protocol/round-collector.ts'
import type { RoundEvidence } from '../protocol/round-evidence.ts'
import type { PolicySnapshot } from '../reader/policies.ts'
import type { UpdateSettings } from '../reader/provider-states.ts'
import type { ProtocolBlock } from '../reader/round-blocks.ts'
import type { RewardClaim } from '../reader/round-events.ts'
import type { AccountOwners } from './account-owners.ts'
import { CarriedState, EMPTY_STATE, skipBlocks } from './carried-state.ts'
import { accountOwnersOf, type KnownPolicies } from './observation-parts.ts'
import * as store from './round-store.ts'
import { sendersOf } from './silence-state.ts'

/** Dependencies of reading rounds. */
export interface RoundSource {
  readonly db: Db
  readonly chain: FspChain
  readonly clock: Clock
  readonly log: Logger
  readonly chainId: number
  /** Recovers the signers of a round in other threads; if omitted, in this thread. */
  readonly recovery?: Pick<RecoveryPool, 'recover'> | undefined
  /** URLs of the rewards of a reward epoch; if empty, rewards are not judged. */
  readonly rewardDataUrls: readonly string[]
  /** Reads the identity addresses of the watched providers; called in every round. */
  readonly watchedProviders: () => Promise<readonly Address[]>
}

/** Number of blocks before the tip at which the very first start begins to read. */
const BLOCKS_BACK = 400
/** Maximum backlog of blocks that is read. Older blocks are skipped, which ends every streak. */
const BACKFILL_MAX = 150_000
/** Number of blocks over which the average block time is computed. */
const BLOCK_TIME_SAMPLE = 20_000
/** Time between blocks of a chain that has only blocks of one second. */
const BLOCK_SECONDS = 1

/** A complete round, and the signers of its signatures, which are being recovered. */
export interface CompleteRound {
  readonly evidence: RoundEvidence
  readonly signers: Promise<RecoveredSigners | undefined>
}

/** A block that is sorted into rounds, with the rounds that it completes. */
export interface SortedBlock {
  readonly block: ProtocolBlock
  readonly complete: readonly CompleteRound[]
  /** Whether its content is in the carried state. */
  isCounted: boolean
}

/**
 * State of reading, which is valid as long as the lock under which it was opened. A failure leaves it as it was after
 * the last step, so that nothing is read or counted twice.
 */
export interface IndexingSession {
  readonly fence: Fence | undefined
  /** Block up to which progress is stored; undefined before the first round. */
  savedTo: number | undefined
  state: CarriedState
  readonly collector: RoundCollector
  policies: KnownPolicies
  /** Round of the tip at which the policies and watched providers were read. */
  knownAtRound: number
  watched: readonly Address[]
  owners: AccountOwners
  /** First block of each open round. */
  readonly firstBlocks: Map<number, number>
  /** Rewards claimed since the last stored round. */
  claims: RewardClaim[]
  /** Blocks that were read and are not in `sorted` yet, in order. */
  readonly read: ProtocolBlock[]
  /** Blocks that are to be counted and judged, in order, before those of `read`. */
  readonly sorted: SortedBlock[]
  /** The next block to read. */
  from: number
  /** Hash of the block before `from`; undefined before the first. */
  after: Hash | undefined
  /** Settings of fast updates of the newest state, with the tip at which they were read. */
  newest?: { readonly tip: number; readonly settings: UpdateSettings }
  /** Block up to which everything except the open rounds was counted before a stop. */
  readonly countedTo: number
  blockSeconds: number
}

/** Opens a session at the stored progress; undefined on a chain without the protocol. */
export async function openIndexingSession(
  source: RoundSource,
  tip: BlockRef,
  signal: AbortSignal,
  fence: Fence | undefined,
): Promise<IndexingSession | undefined> {
  const { db, chain, log } = source
  const progress = await store.findIndexingProgress(db)
  const oldest = Math.max(0, tip.number - (progress === undefined ? BLOCKS_BACK : BACKFILL_MAX))
  const from = Math.max(oldest, progress?.resumeFrom ?? 0)
  const first = await chain.blockAt(from, signal)
  const policies = await loadPolicies(source, tip, signal, { since: first?.at ?? tip.at })
  if (policies === undefined) return undefined
  const state = CarriedState.parse(progress?.state ?? structuredClone(EMPTY_STATE))
  if (progress !== undefined && from > progress.resumeFrom) {
    log.warn({ from: progress.resumeFrom, to: from }, 'rounds were skipped after a long pause')
    skipBlocks(state)
  }
  const opened: IndexingSession = {
    fence,
    savedTo: progress?.blockNumber,
    state,
    policies,
    knownAtRound: roundAt(policies.clock, tip.at.getTime() / 1000),
    collector: createRoundCollector(policies.clock, (round) =>
      policyOfRound(opened.policies.policies, round),
    ),
    watched: [],
    owners: { bySigningPolicy: new Map(), byAccount: new Map() },
    firstBlocks: new Map(),
    claims: [],
    read: [],
    sorted: [],
    from,
    countedTo: progress?.blockNumber ?? -1,
    after: undefined,
    blockSeconds: await readBlockSeconds(source, tip, signal),
  }
  await refresh(source, opened, tip)
  return opened
}

/**
 * Reads policies once per round of the tip, before a block of the round is processed, so that no block is
 * judged by a replaced policy, even after a long pause.
 */
export async function renewIndexingSession(
  source: RoundSource,
  current: IndexingSession,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const round = roundAt(current.policies.clock, tip.at.getTime() / 1000)
  if (round <= current.knownAtRound) return
  const known = current.policies
  const waiting = current.sorted[0]?.block ?? current.read[0]
  const first =
    waiting?.ref ??
    (current.from <= tip.number ? await source.chain.blockAt(current.from, signal) : undefined)
  const since = first?.at ?? tip.at
  const policies = (await loadPolicies(source, tip, signal, { since, known })) ?? known
  if (policies.currentEpoch !== known.currentEpoch) {
    current.blockSeconds = await readBlockSeconds(source, tip, signal)
  }
  current.policies = policies
  await refresh(source, current, tip)
  current.knownAtRound = round
}

async function loadPolicies(
  source: RoundSource,
  tip: BlockRef,
  signal: AbortSignal,
  { since, known }: { readonly since?: Date; readonly known?: KnownPolicies },
): Promise<KnownPolicies | undefined> {
  const policies = await readPolicies(source, tip, signal, { since, known })
  return (
    policies && {
      ...policies,
      policies: policies.policies.map((policy) => indexPolicy(policy)),
    }
  )
}

/** Reads the policies of every round from `since` on. */
async function readPolicies(
  { chain }: RoundSource,
  tip: BlockRef,
  signal: AbortSignal,
  { since, known }: { readonly since: Date | undefined; readonly known: KnownPolicies | undefined },
): Promise<PolicySnapshot | undefined> {
  const policies = await chain.rounds.policies(tip, signal, known && { known })
  if (policies === undefined || since === undefined) return policies
  const sinceRound = roundAt(policies.clock, since.getTime() / 1000)
  if ((policies.policies[0]?.startRound ?? 0) <= sinceRound) return policies
  return chain.rounds.policies(tip, signal, { known: policies, sinceRound })
}

/** Recent average time between blocks, in seconds, over as many blocks as the endpoints have. */
async function readBlockSeconds(
  { chain }: RoundSource,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<number> {
  for (let sample = BLOCK_TIME_SAMPLE; sample >= 1; sample = Math.floor(sample / 10)) {
    const back = await chain.blockAt(Math.max(0, tip.number - sample), signal)
    const seconds = back === undefined ? 0 : (tip.at.getTime() - back.at.getTime()) / 1000
    if (back !== undefined && seconds > 0) return seconds / (tip.number - back.number)
  }
  return BLOCK_SECONDS
}

/** Reads the watched providers and the owners of accounts. */
async function refresh(source: RoundSource, current: IndexingSession, at: BlockRef): Promise<void> {
  current.watched = await source.watchedProviders()
  const nowSeconds = at.at.getTime() / 1000
  current.owners = accountOwnersOf(current.policies, new Set(current.watched), (voter) =>
    sendersOf(current.state, voter, nowSeconds),
  )
}
