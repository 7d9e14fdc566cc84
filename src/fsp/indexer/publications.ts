import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import { EndpointError } from '#src/chain/endpoints/failures.ts'
import type { PChain } from '#src/chain/pchain.ts'
import type { PublicationReader } from '#src/chain/publication-reader.ts'
import type { Db } from '#src/db/connection.ts'
import { type Fence, transactUnder } from '#src/db/leases.ts'
import { backoffMs } from '#src/kernel/backoff.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Meters } from '#src/kernel/meters.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import type { FspChain } from '../chain.ts'
import { expectedFirstRound } from '../protocol/epochs.ts'
import type { PolicySnapshot } from '../reader/policies.ts'
import { OWN_CLAIM_TYPES } from '../reader/round-events.ts'
import {
  CLAIMS_KIND,
  PASSES_KIND,
  PublishedClaim,
  PublishedPasses,
  parsePasses,
  REWARDS_KIND,
  RewardData,
  StoredPasses,
  toPolledValidator,
  withEarlierContent,
} from './publication-data.ts'
import {
  createSourceRecorder,
  listSourceProblems,
  type PublishedSource,
  publishedSources,
  type SourceReading,
} from './published-sources.ts'
import { type RewardOwner, rewardOwner } from './reward-owners.ts'
import * as progress from './round-store.ts'
import * as store from './store.ts'

/**
 * Fetches data that is published off-chain into tables. Watches and chats read only the tables, so that a
 * slow data host does not delay them.
 */
export interface PublicationFetcher {
  /**
   * Fetches due publications of eligibility and rewards. A failing host is retried with exponential
   * back-off.
   *
   * @throws AppError upstream when the chain does not return the current reward epoch
   */
  fetch(block: BlockRef, signal: AbortSignal, fence?: Fence): Promise<void>
  /** Polls the P-chain for the validators of watched providers, if a poll is due. */
  pollValidators(signal: AbortSignal, fence?: Fence): Promise<void>
  /** Whether eligibility is unknown because its configured host gives no usable answer. */
  isEligibilityUnreadable(): Promise<boolean>
}

/** Dependencies and addresses of publications. */
export interface PublicationSource {
  readonly db: Db
  readonly chain: FspChain
  readonly clock: Clock
  readonly log: Logger
  readonly meters?: Pick<Meters, 'countSourceReading'> | undefined
  readonly published: PublicationReader
  /** URL of `passes.json` of a reward epoch, with `{epoch}`; if undefined, eligibility is unknown. */
  readonly datasetUrl: string | undefined
  /**
   * URLs of the rewards of a reward epoch. If empty, rewards count as published with the first vote on
   * them.
   */
  readonly rewardDataUrls: readonly string[]
  /** Client of the P-chain; if undefined, validators are unknown. */
  readonly pChain: PChain | undefined
}

const ROOT_LENGTH_MAX = 66
/** Number of past reward epochs that are searched for eligibility data at the first start. */
const EPOCHS_BACK = 4
/** Number of reward epochs whose rewards are fetched: a vote can go on while the next epoch ends. */
const REWARD_EPOCHS = 2
const PASSES_EVERY_MS = 10 * MINUTE_MS
const REWARDS_EVERY_MS = 5 * MINUTE_MS
const POLL_EVERY_MS = 60_000
/** Time between two questions to a P-chain that no watch needs, which show that it answers. */
const PROBE_EVERY_MS = 10 * MINUTE_MS
/** The node whose id is zero, which is no validator. */
const NO_NODE = 'NodeID-111111111111111111116DBWJs'
const RETRY_MS = { min: 60_000, max: HOUR_MS }
const POLLS_KEPT_MS = DAY_MS
/** Number of claims that are read before control returns to the event loop. */
const CLAIMS_PER_TURN = 1000

/**
 * Creates the fetcher of publications. At most one fetch of each kind is in progress. Long because the
 * kinds of publications share their schedules and the fetches in progress.
 */
export function createPublicationFetcher(source: PublicationSource): PublicationFetcher {
  const { db, chain, clock, log, published, datasetUrl, rewardDataUrls, pChain } = source
  const passesSchedule = createSchedule(clock, PASSES_EVERY_MS)
  const sources = publishedSources(source)
  const sourceOf = (variable: PublishedSource['variable'], position = 0) => {
    const found = sources.find((one) => one.variable === variable && one.position === position)
    if (found === undefined) throw new Error(`${variable} has no address ${position}`)
    return found
  }
  const recordReading = createSourceRecorder(source)
  const rewardSources = rewardDataUrls.map((url, position) => ({
    ...{ url, source: sourceOf('REWARD_DATA_URLS', position) },
    schedule: createSchedule(clock, REWARDS_EVERY_MS),
  }))
  const pollSchedule = createSchedule(clock, POLL_EVERY_MS)
  let probedAtMs = Number.NEGATIVE_INFINITY
  let isFetching = false
  /** Policies of the last fetch, which do not change. */
  let known: PolicySnapshot | undefined

  async function fetchPasses(
    current: number,
    block: BlockRef,
    signal: AbortSignal,
    fence: Fence | undefined,
  ): Promise<void> {
    if (datasetUrl === undefined || !passesSchedule.isDue()) return
    const known = await store.findPublication(db, PASSES_KIND, current - 1)
    const first = Math.max(0, known?.rewardEpochId ?? current - EPOCHS_BACK)
    let reading: SourceReading = { is: 'absent' }
    for (let epoch = current - 1; epoch >= first; epoch--) {
      const url = datasetUrl.replaceAll('{epoch}', `${epoch}`)
      const isKept = epoch === known?.rewardEpochId
      const answer = await published.read(url, PublishedPasses, { isConditional: isKept, signal })
      if (answer.is === 'failed') {
        reading = answer
        break
      }
      if (answer.is === 'same') {
        reading = { is: 'read' }
        break
      }
      if (answer.is === 'absent') continue
      const voters = await chain.protocol.weights(epoch, block, signal)
      const before = isKept ? StoredPasses.safeParse(known.data).data : undefined
      const rows = parsePasses(epoch, answer.value, [...(voters?.keys() ?? [])], before)
      if (voters === undefined || rows === undefined) {
        log.warn(
          { epoch, rows: answer.value.length },
          'published eligibility is not plausible; it is ignored',
        )
        reading = { is: 'failed', reason: `the data of reward epoch ${epoch} is not plausible` }
        continue
      }
      const data = z.encode(StoredPasses, withEarlierContent(rows, before, block.at))
      const publication = { kind: PASSES_KIND, rewardEpochId: epoch, data, seenAt: block.at }
      await transactUnder(fence, db, (tx) => store.savePublication(tx, publication))
      if (reading.is === 'absent') reading = { is: 'read' }
      break
    }
    passesSchedule.record(reading.is !== 'failed')
    await recordReading(sourceOf('PROVIDER_DATASET_URL'), reading, fence)
  }

  async function fetchRewards(
    current: number,
    block: BlockRef,
    signal: AbortSignal,
    fence: Fence | undefined,
  ): Promise<void> {
    const due = rewardSources.filter(({ schedule }) => schedule.isDue())
    if (due.length === 0) return
    const epochs = Array.from({ length: REWARD_EPOCHS }, (_, index) => current - 1 - index)
    const [rewards, claims] = await Promise.all([
      store.listPublications(db, REWARDS_KIND, epochs),
      store.listPublications(db, CLAIMS_KIND, epochs),
    ])
    const isIn = (rows: readonly store.Publication[], epoch: number) =>
      rows.some(({ rewardEpochId }) => rewardEpochId === epoch)
    const owners = await ownersOf(
      epochs.filter((epoch) => !isIn(claims, epoch)),
      block,
      signal,
    )
    const missing = new Set(
      epochs.filter((epoch) => epoch >= 0 && (!isIn(rewards, epoch) || owners.has(epoch))),
    )
    await Promise.all(
      due.map(async ({ url, source, schedule }) => {
        let reading: SourceReading | undefined
        for (const epoch of [...missing]) {
          const answer = await published.read(rewardsUrlOf(url, epoch), RewardData, { signal })
          if (answer.is === 'failed') {
            reading = answer
            break
          }
          // Rewards of the other epoch are stored, so those of this one are still to come.
          const isWaiting = answer.is === 'absent' && rewards.length === 0
          if (reading?.is !== 'read') reading = isWaiting ? answer : { is: 'read' }
          // Rewards that another URL returned meanwhile are not written again.
          if (answer.is !== 'found' || answer.value.rewardEpochId !== epoch) continue
          if (!missing.delete(epoch)) continue
          await saveRewards(epoch, answer.value, owners.get(epoch), block, fence)
        }
        schedule.record(reading?.is !== 'failed')
        if (reading !== undefined) await recordReading(source, reading, fence)
      }),
    )
  }

  /** Owners of claims, for the reward epochs whose signing policy is known. */
  async function ownersOf(
    epochs: readonly number[],
    block: BlockRef,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, RewardOwner>> {
    if (epochs.length === 0) return new Map()
    const latest = await chain.rounds.policies(block, signal, known && { known })
    if (latest === undefined) return new Map()
    // The policies of the neighbours are needed, too, see `rewardOwner`.
    const oldest = Math.max(0, Math.min(...epochs) - 1)
    const sinceRound = expectedFirstRound(latest.clock, oldest)
    known = await chain.rounds.policies(block, signal, { known: latest, sinceRound })
    const policies = known?.policies ?? []
    return new Map(
      epochs.flatMap((epoch) => {
        const owner = rewardOwner(epoch, policies)
        return owner === undefined ? [] : [[epoch, owner] as const]
      }),
    )
  }

  async function saveRewards(
    epoch: number,
    { merkleRoot, rewardClaims }: z.output<typeof RewardData>,
    ownerOf: RewardOwner | undefined,
    block: BlockRef,
    fence: Fence | undefined,
  ): Promise<void> {
    const ownRewards: progress.PublishedReward[] = []
    let unreadable = 0
    for (const [index, rewardClaim] of (ownerOf === undefined ? [] : rewardClaims).entries()) {
      if (index % CLAIMS_PER_TURN === CLAIMS_PER_TURN - 1) await nextTurn()
      const claim = PublishedClaim.safeParse(rewardClaim)
      if (!claim.success) {
        unreadable += 1
        continue
      }
      const { beneficiary, amount, claimType } = claim.data.body
      if (!OWN_CLAIM_TYPES.includes(claimType)) continue
      const voter = ownerOf?.({ beneficiary, claimType })
      if (voter === undefined) continue
      ownRewards.push({
        rewardEpoch: epoch,
        beneficiary,
        claimType,
        voter,
        amountWei: BigInt(amount),
      })
    }
    if (unreadable > 0)
      log.warn({ epoch, unreadable }, 'published reward claims cannot be read; they are skipped')
    await transactUnder(fence, db, async (tx) => {
      const publication = { rewardEpochId: epoch, seenAt: block.at }
      const data = { merkleRoot: cleanOutsideText(merkleRoot, ROOT_LENGTH_MAX) }
      await store.savePublication(tx, { ...publication, kind: REWARDS_KIND, data })
      if (ownerOf === undefined) return
      await progress.saveRewards(tx, ownRewards)
      await store.savePublication(tx, { ...publication, kind: CLAIMS_KIND, data: {} })
    })
  }

  return {
    async fetch(block, signal, fence) {
      const isDue =
        (datasetUrl !== undefined && passesSchedule.isDue()) ||
        rewardSources.some(({ schedule }) => schedule.isDue())
      if (isFetching || !isDue) return
      isFetching = true
      try {
        const current = await chain.protocol.rewardEpoch(block, signal)
        if (current === undefined) return
        const results = await Promise.allSettled([
          fetchPasses(current, block, signal, fence),
          fetchRewards(current, block, signal, fence),
        ])
        for (const result of results) if (result.status === 'rejected') throw result.reason
      } finally {
        isFetching = false
      }
    },

    async pollValidators(signal, fence) {
      if (pChain === undefined || !pollSchedule.isDue()) return
      const watched = await progress.listPolledNodes(db)
      if (watched.length === 0 && Math.abs(clock.now().getTime() - probedAtMs) < PROBE_EVERY_MS)
        return
      const nodeIds = watched.length === 0 ? [NO_NODE] : watched
      const validators = await pChain.validators(nodeIds, signal).catch((error: unknown) => {
        if (error instanceof EndpointError) return error
        throw error
      })
      const isAnswer = !(validators instanceof EndpointError)
      pollSchedule.record(isAnswer)
      const reading = isAnswer
        ? ({ is: 'read' } as const)
        : ({ is: 'failed', reason: validators.message } as const)
      await recordReading(sourceOf('P_CHAIN_RPC_URL'), reading, fence)
      if (!isAnswer) return
      if (watched.length === 0) {
        probedAtMs = clock.now().getTime()
        return
      }
      const polledAt = clock.now()
      const answers = watched.map((nodeId) => [nodeId, toPolledValidator(validators.get(nodeId))])
      await transactUnder(fence, db, async (tx) => {
        await progress.insertPoll(tx, { polledAt, validators: Object.fromEntries(answers) })
        await progress.deletePolls(tx, new Date(polledAt.getTime() - POLLS_KEPT_MS))
      })
    },

    async isEligibilityUnreadable() {
      if (datasetUrl === undefined) return false
      const problems = await listSourceProblems(source, [sourceOf('PROVIDER_DATASET_URL')])
      return problems.some(({ isAnswering }) => !isAnswering)
    },
  }
}

/** URL of the rewards of a reward epoch, as the reference client builds it. */
function rewardsUrlOf(url: string, epoch: number): string {
  if (url.includes('{epoch}')) return url.replaceAll('{epoch}', `${epoch}`)
  return `${url.replace(/\/$/, '')}/${epoch}/reward-distribution-data.json`
}

/** Schedules requests: at regular intervals after a success, with exponential back-off after failures. */
function createSchedule(clock: Clock, everyMs: number) {
  let askedAtMs: number | undefined
  let failures = 0
  return {
    isDue(): boolean {
      const waitMs = failures === 0 ? everyMs : backoffMs(failures, RETRY_MS)
      return askedAtMs === undefined || clock.now().getTime() - askedAtMs >= waitMs
    },
    record(isWorking: boolean): void {
      askedAtMs = clock.now().getTime()
      failures = isWorking ? 0 : failures + 1
    },
  }
}
