import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import { transactUnder } from '#src/db/leases.ts'
import type { Address } from '#src/kernel/units.ts'
import { type EpochSettings, expectedFirstRound, roundAt, roundStart } from '../protocol/epochs.ts'
import { judgeRound } from '../protocol/judge-round.ts'
import { firstSignatures, type RecoveredSigners } from '../protocol/judged-signatures.ts'
import { nodeIdOf } from '../protocol/node-id.ts'
import { policyOfRound } from '../protocol/policy.ts'
import type { RoundEvidence } from '../protocol/round-evidence.ts'
import { addressOfPublicKey } from '../protocol/signatures.ts'
import type { SystemState, UpdateSettings } from '../reader/provider-states.ts'
import { CarriedState, forgetOtherProviders, recordContracts } from './carried-state.ts'
import { insertRound } from './daily-store.ts'
import { countRound } from './epoch-state.ts'
import { judgeRefusedUpdates, longestUpdateOf } from './long-updates.ts'
import { type StateBetweenRounds, silenceOfMember, watchedPartsOf } from './observation-parts.ts'
import type { createRewardFacts, Earnings, UnclaimedRewards } from './rewards.ts'
import { type RoundRecord, toRoundRecord } from './round-record.ts'
import type { CompleteRound, IndexingSession, RoundSource } from './round-session.ts'
import * as store from './round-store.ts'
import { sendersOf } from './silence-state.ts'

/** What rounds are judged with. */
interface Judging {
  readonly source: RoundSource
  readonly rewards: ReturnType<typeof createRewardFacts>
  readonly current: IndexingSession
}

/** What the rounds that a block completes are judged with, besides their evidence. */
interface RoundContext {
  readonly block: BlockRef
  /** State after the block; undefined where the endpoints no longer have it. */
  readonly system: SystemState | undefined
  readonly settings: UpdateSettings
  readonly waiting: ReadonlyMap<Address, UnclaimedRewards> | undefined
  readonly earnings: Earnings
}

/**
 * Judges the rounds that a block completes, stores them and moves the progress past the block. Rounds and
 * progress are stored in one transaction, so that a watch that sees the block as read finds every round of it.
 *
 * Everything is read before the carried state changes, and that changes only when the rounds are stored. After any
 * failure the call can be repeated.
 */
export async function judgeAndStoreRounds(
  judging: Judging,
  complete: readonly CompleteRound[],
  block: BlockRef,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const { source, current } = judging
  const context = await readContext(judging, block, tip, signal)
  const signers = await Promise.all(complete.map((round) => round.signers))
  const draft = { ...current, state: structuredClone(current.state) }
  const rows = complete.map(({ evidence }, index) =>
    judgedRow(source, draft, evidence, signers[index], context),
  )
  await storeRounds(source, draft, rows, block)
  current.state = draft.state
  current.savedTo = Math.max(block.number, current.savedTo ?? 0)
}

async function readContext(
  { source, rewards, current }: Judging,
  block: BlockRef,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<RoundContext> {
  const system = await readSystem(source, current, block, signal)
  const settings = system ?? (await readNewestSettings(source, current, tip, signal))
  await storeClaims(source, current)
  const { policies, state } = current
  const known = { policies, readSince: state.readSince, block }
  const waiting = await rewards.waiting(current.watched, known, signal, current.fence)
  const earnings = await rewards.earnings(current.watched, known)
  return { block, system, settings, waiting, earnings }
}

/**
 * Judges a complete round and moves the carried state past it. Long because its parts must be made in this
 * order: each changes the state that the next one uses.
 */
function judgedRow(
  { chain, chainId }: RoundSource,
  current: IndexingSession,
  evidence: RoundEvidence,
  signers: RecoveredSigners | undefined,
  { block, system, settings, waiting, earnings }: RoundContext,
): store.RoundRow {
  const { state, policies } = current
  const { sampleSize, feedCount, submissionWindow } = applySettings(state, settings, system)
  judgeRefusedUpdates(state, submissionWindow, block.number)
  const records = judgedRecords(policies.clock, chainId, evidence, signers)
  const policy = policyOfRound(policies.policies, evidence.round)
  const peaks = new Map<Address, StateBetweenRounds>()
  for (const [voter, record] of records) {
    const silence = silenceOfMember(current, policy, voter, sampleSize)
    const tooLong = longestUpdateOf(state, voter, feedCount)
    if (silence !== undefined) {
      const part = { ...silence.part, ...(tooLong && { tooLong }) }
      records.set(voter, { ...record, fastUpdates: part })
    }
    if (silence?.peak !== undefined) peaks.set(voter, silence.peak)
  }
  const { rewardEpoch, startRound: firstRound } = evidence.policy
  const endRound = expectedFirstRound(policies.clock, rewardEpoch + 1)
  const { providers } = evidence.policy
  const weightSum = providers.reduce((sum, { weight }) => sum + weight, 0)
  const weights = new Map(providers.map(({ voter, weight }) => [voter, weight / weightSum]))
  const counted = { round: evidence.round, rewardEpoch, firstRound, endRound, weights }
  for (const [voter, e] of countRound(state, records, counted)) {
    records.set(voter, { ...records.get(voter), e })
  }
  recordContracts(state, chain.rounds.contracts(), block.at.getTime() / 1000)
  for (const voter of current.watched) {
    const parts = watchedPartsOf(current, voter, {
      block,
      system,
      policy,
      rewards: waiting?.get(voter),
      earned: earnings.get(voter),
      peak: peaks.get(voter),
    })
    records.set(voter, { ...records.get(voter), ...parts })
  }
  state.peaks = {}
  state.longest = {}
  state.registrationMoments = {}
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
    rewardEpoch,
    startsAt: new Date(roundStart(policies.clock, evidence.round) * 1000),
    blockNumber: block.number,
    blockHash: block.hash,
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
    const stored = rows.map((row) => insertRound(tx, row))
    if (block.number >= (current.savedTo ?? 0)) {
      const saved = store.saveIndexingProgress(tx, {
        blockNumber: block.number,
        blockHash: block.hash,
        blockAt: block.at,
        resumeFrom: Math.max(0, (current.firstBlocks.get(next) ?? block.number) - 1),
        state: z.encode(CarriedState, current.state),
      })
      stored.push(saved)
    }
    // Sent without waiting for each other: the connection runs them in this order.
    await Promise.all(stored)
  })
}

/** Reads the settings of fast updates of the newest state, once for each tip. */
async function readNewestSettings(
  { chain }: RoundSource,
  current: IndexingSession,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<UpdateSettings> {
  if (current.newest?.tip !== tip.number) {
    const settings = await chain.rounds.newestSettings(tip.number, signal)
    current.newest = { tip: tip.number, settings }
  }
  return current.newest.settings
}

/**
 * Returns the settings by which the updates of a round are judged, and keeps them for later rounds.
 *
 * If the state at the end of the round was read, its settings count. If not, the settings last stored and the newest ones
 * are known, and of both the smaller sample size counts: by it fewer updates are expected, so a silence is judged less
 * severely. Of two submission windows the shorter one always counts: in it fewer refused updates are held against a
 * provider. The number of feeds never falls, so the newest one counts.
 */
function applySettings(
  state: IndexingSession['state'],
  settings: UpdateSettings,
  system: SystemState | undefined,
): UpdateSettings {
  const { sampleSize, feedCount, submissionWindow } = settings
  const window = lesser(submissionWindow, state.submissionWindow)
  const size = system === undefined ? lesser(sampleSize, state.sampleSize) : sampleSize
  state.feedCount = feedCount ?? state.feedCount
  if (system === undefined) {
    state.sampleSize ??= sampleSize
    state.submissionWindow ??= submissionWindow
  } else {
    state.sampleSize = sampleSize ?? state.sampleSize
    state.submissionWindow = submissionWindow ?? state.submissionWindow
  }
  return { sampleSize: size, feedCount, submissionWindow: window }
}

/** The lesser one of a value and an earlier one; null if the value is unknown. */
function lesser(value: number | null, earlier: number | null): number | null {
  return value === null ? null : Math.min(value, earlier ?? value)
}

function readSystem(
  { chain }: RoundSource,
  { policies, watched, state }: IndexingSession,
  block: BlockRef,
  signal: AbortSignal,
): Promise<SystemState | undefined> {
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
