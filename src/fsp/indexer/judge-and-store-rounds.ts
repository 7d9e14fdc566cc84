import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import { transactUnder } from '#src/db/lock.ts'
import type { Address } from '#src/kernel/units.ts'
import { type EpochSettings, roundAt, roundStart } from '../protocol/epochs.ts'
import { judgeRound } from '../protocol/judge-round.ts'
import { firstSignatures, type RecoveredSigners } from '../protocol/judged-signatures.ts'
import { nodeIdOf } from '../protocol/node-id.ts'
import { policyOfRound } from '../protocol/policy.ts'
import type { RoundEvidence } from '../protocol/round-evidence.ts'
import { addressOfPublicKey } from '../protocol/signatures.ts'
import type { SystemState } from '../reader/provider-states.ts'
import { CarriedState } from './carried-state.ts'
import { judgeRefusedUpdates, longestUpdateOf } from './long-updates.ts'
import { type StateBetweenRounds, silenceOfMember, watchedPartsOf } from './observation-parts.ts'
import type { createRewardFacts } from './rewards.ts'
import { type RoundRecord, toRoundRecord } from './round-record.ts'
import type { IndexingSession, RoundSource } from './round-session.ts'
import { forgetOtherProviders, sendersOf } from './round-state.ts'
import * as store from './round-store.ts'

/** Maximum age of a block whose state is read; endpoints keep states of recent blocks only. */
const STATE_AGE_MS = 600_000

/** A complete round, and the signers of its signatures, which are being recovered. */
export interface CompleteRound {
  readonly evidence: RoundEvidence
  readonly signers: Promise<RecoveredSigners | undefined>
}

/** What rounds are judged with. */
interface Judging {
  readonly source: RoundSource
  readonly rewards: ReturnType<typeof createRewardFacts>
  readonly current: IndexingSession
}

/**
 * Judges the rounds that a block completes, stores them and moves the progress past the block. Rounds and
 * progress are stored in one transaction, so that a watch that sees the block as read finds every round of it.
 */
export async function judgeAndStoreRounds(
  judging: Judging,
  complete: readonly CompleteRound[],
  block: BlockRef,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const { source, current } = judging
  const rows: store.RoundRow[] = []
  for (const round of complete) {
    rows.push(await judgedRow(judging, round, block, tip, signal))
  }
  await storeRounds(source, current, rows, block)
  current.savedTo = Math.max(block.number, current.savedTo ?? 0)
  current.isFailing = false
}

/**
 * Judges a complete round and moves the carried state past it. Long because its parts must be read in this
 * order: each changes the state that the next one reads.
 */
async function judgedRow(
  { source, rewards, current }: Judging,
  { evidence, signers }: CompleteRound,
  block: BlockRef,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<store.RoundRow> {
  const { chain } = source
  const { state, policies } = current
  const isYoung = tip.at.getTime() - block.at.getTime() < STATE_AGE_MS
  const system = isYoung ? await readSystem(source, current, block, signal) : undefined
  const { feedCount, submissionWindow } = await readSettings(source, current, system, tip, signal)
  judgeRefusedUpdates(state, submissionWindow, block.number)
  const records = judgedRecords(policies.clock, source.chainId, evidence, await signers)
  const policy = policyOfRound(policies.policies, evidence.round)
  const peaks = new Map<Address, StateBetweenRounds>()
  for (const [voter, record] of records) {
    const silence = silenceOfMember(current, policy, voter, system)
    const tooLong = longestUpdateOf(state, voter, feedCount)
    if (silence !== undefined) {
      const part = { ...silence.part, ...(tooLong && { tooLong }) }
      records.set(voter, { ...record, fastUpdates: part })
    }
    if (silence?.peak !== undefined) peaks.set(voter, silence.peak)
  }
  await storeClaims(source, current)
  const waiting = isYoung
    ? await rewards.waiting(
        current.watched,
        { policies, readSince: state.readSince, block },
        signal,
        current.fence,
      )
    : undefined
  for (const voter of current.watched) {
    const parts = watchedPartsOf(current, voter, {
      block,
      system,
      policy,
      rewards: waiting?.get(voter),
      peak: peaks.get(voter),
    })
    records.set(voter, { ...records.get(voter), ...parts })
  }
  state.peaks = {}
  state.longest = {}
  state.registrationMoments = {}
  state.contracts = Object.fromEntries(
    Object.entries(chain.rounds.contracts()).map(([name, all]) => [name, [...all]]),
  )
  forgetOtherProviders(state, {
    members: new Set(
      policies.policies.flatMap((policy) => policy.providers.map(({ voter }) => voter)),
    ),
    active: new Set(evidence.policy.providers.map(({ voter }) => voter)),
    watched: new Set(current.watched),
    nodeIds: system && nodesOf(system),
    nowSeconds: block.at.getTime() / 1000,
  })
  return {
    round: evidence.round,
    rewardEpoch: evidence.policy.rewardEpoch,
    startsAt: new Date(roundStart(policies.clock, evidence.round) * 1000),
    blockNumber: block.number,
    blockAt: block.at,
    providers: Object.fromEntries(records),
  }
}

/**
 * Stores the reward claims read since the last stored round. A claim that is read again after a stop changes
 * nothing.
 */
async function storeClaims({ db }: RoundSource, current: IndexingSession): Promise<void> {
  if (current.claims.length === 0) return
  await transactUnder(current.fence, db, (tx) => store.saveRewardClaims(tx, current.claims))
  current.claims = []
}

/** Recovers the signers of the signatures that decide the verdicts, outside the event loop. */
export async function recoverSigners(
  { recovery, chainId }: RoundSource,
  evidence: RoundEvidence,
): Promise<RecoveredSigners | undefined> {
  if (recovery === undefined) return undefined
  const signatures = firstSignatures(chainId, evidence)
  const keys = await recovery.recover(signatures)
  return new Map(
    signatures.map(({ sent }, index) => {
      const key = keys[index]
      return [sent, key && addressOfPublicKey(key)]
    }),
  )
}

/** Judges a round, and returns the record to store for each provider of the round's policy. */
function judgedRecords(
  clock: EpochSettings,
  chainId: number,
  evidence: RoundEvidence,
  signers: RecoveredSigners | undefined,
): Map<Address, RoundRecord> {
  const judged = judgeRound(clock, chainId, evidence, signers)
  return new Map(
    evidence.policy.providers.flatMap(({ voter }, place) => {
      const provider = judged[place]
      return provider === undefined ? [] : [[voter, toRoundRecord(provider)] as const]
    }),
  )
}

/**
 * Writes the rounds of a block. Also writes the progress past the block, unless later progress is stored, as
 * when blocks are read again after a restart.
 */
async function storeRounds(
  { db }: RoundSource,
  current: IndexingSession,
  rows: readonly store.RoundRow[],
  block: BlockRef,
): Promise<void> {
  const next = (rows.at(-1)?.round ?? 0) + 1
  await transactUnder(current.fence, db, async (tx) => {
    const stored = rows.map((row) => store.insertRound(tx, row))
    if (block.number >= (current.savedTo ?? 0)) {
      const saved = store.saveIndexingProgress(tx, {
        blockNumber: block.number,
        blockAt: block.at,
        resumeFrom: Math.max(0, (current.firstBlocks.get(next) ?? block.number) - 1),
        state: z.encode(CarriedState, current.state),
        failingSince: null,
      })
      stored.push(saved)
    }
    // Sent without waiting for each other: the connection runs them in this order.
    await Promise.all(stored)
  })
}

/** The settings of fast updates by which the updates of a round are judged; null: unknown. */
interface UpdateSettings {
  /** Never less than at the time of the updates, because feeds are only added. */
  readonly feedCount: number | null
  /** The shorter one of those before the round and at its end, as either may have been in force. */
  readonly submissionWindow: number | null
}

/**
 * Reads and keeps the settings of fast updates. In rounds whose state is no longer read they are read at the tip,
 * because not every node has the historical state.
 */
async function readSettings(
  { chain }: RoundSource,
  { state }: IndexingSession,
  system: SystemState | undefined,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<UpdateSettings> {
  const count = state.feedCount ?? Number.POSITIVE_INFINITY
  const isLong = Object.values(state.longest).some(({ feedsSent }) => feedsSent > count)
  const isRefused = Object.values(state.refusals).some((some) => some.length > 0)
  const isUnknown = (system?.sampleSize ?? state.sampleSize) === null
  const isNeeded = isUnknown || (system === undefined && (isLong || isRefused))
  const query = { currentEpoch: 0, voters: [], members: new Map(), extra: new Map(), block: tip }
  const read = isNeeded ? await chain.rounds.states(query, signal) : system
  const before = state.submissionWindow
  state.sampleSize = read?.sampleSize ?? state.sampleSize
  state.feedCount = read?.feedCount ?? state.feedCount
  state.submissionWindow = read?.submissionWindow ?? before
  const feedCount = read === undefined ? state.feedCount : read.feedCount
  const now = state.submissionWindow
  return { feedCount, submissionWindow: now === null ? null : Math.min(now, before ?? now) }
}

function readSystem(
  { chain }: RoundSource,
  { policies, watched, state }: IndexingSession,
  block: BlockRef,
  signal: AbortSignal,
): Promise<SystemState> {
  const nowSeconds = block.at.getTime() / 1000
  const extra = new Map(watched.map((voter) => [voter, sendersOf(state, voter, nowSeconds)]))
  const round = roundAt(policies.clock, nowSeconds)
  const inForce = policyOfRound(policies.policies, round)
  const currentEpoch = inForce?.rewardEpoch ?? policies.currentEpoch
  const members = new Map(inForce?.providers.map((provider) => [provider.voter, provider]))
  const query = { currentEpoch, voters: watched, members, extra, block }
  return chain.rounds.states(query, signal)
}

/** Validators of the watched providers; undefined when they are not known for all watched providers. */
function nodesOf({ providers }: SystemState): ReadonlySet<string> | undefined {
  const all = [...providers.values()].map(({ nodeIds }) => nodeIds)
  if (all.includes(null)) return undefined
  return new Set(all.flatMap((nodeIds) => nodeIds ?? []).map(nodeIdOf))
}
