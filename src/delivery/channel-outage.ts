/** Detects outages of a whole channel, and retries its deliveries when it works again. */
import { randomInt } from 'node:crypto'
import type { ServiceChannel } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import * as store from './channel-outage-store.ts'
import { isUnanswered } from './rules.ts'
import type { AttemptResult, SendTaskResult } from './send-task.ts'
import type { ChannelOutage } from './sending-state.ts'

/** Interval between early tries of an unanswered delivery while a channel is down. */
const PROBE_MS = 30_000
/**
 * For channels where every destination has its own server: the channel counts as down when this many hosts
 * that responded before do not, and no other host does.
 */
const FAILED_HOSTS = 2
const RANDOM_STEPS = 2 ** 32

/** Detects outages of a channel from the results of its attempts. */
export interface OutageDetector {
  /**
   * Reads the unanswered deliveries of earlier runs, before the first attempt of this process. Their
   * destinations count as failed, so that the deliveries are resumed after the first success.
   */
  loadUnanswered(): Promise<void>
  /**
   * Records the result of an attempt. @param of `hasAnswered`: whether the destination responded to the
   * previous attempt
   */
  recordAttempt(
    attemptResult: AttemptResult,
    of: { readonly partitionKey: string; readonly hasAnswered: boolean },
  ): void
  /**
   * After a success: makes deliveries that had no response during the outage due, spaced out.
   * @returns whether there may be some
   */
  resume(batch: readonly SendTaskResult[]): Promise<boolean>
  /** While nothing succeeds: tries one unanswered delivery early from time to time. */
  probe(): Promise<void>
}

/** Creates the detector of a channel. Its state is in `outage`. */
export function createOutageDetector(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
  { key, isOneService = false }: ServiceChannel,
  outage: ChannelOutage,
): OutageDetector {
  const isUnavailable = () => isOneService || outage.failed.size >= FAILED_HOSTS
  return {
    async loadUnanswered() {
      if (outage.areUnansweredLoaded) return
      const partitions = await store.listUnansweredPartitions(db, key)
      for (const partitionKey of partitions) outage.failed.add(partitionKey)
      outage.isResuming = partitions.length > 0
      outage.areUnansweredLoaded = true
    },
    recordAttempt(attemptResult, { partitionKey, hasAnswered }) {
      if (attemptResult.kind === 'delivered') {
        if (isUnavailable()) outage.isResuming = true
        // Clearing an empty set allocates another one.
        if (outage.failed.size > 0) outage.failed.clear()
      } else if (attemptResult.kind === 'failed' && isUnanswered(attemptResult.error)) {
        if (hasAnswered) outage.failed.add(partitionKey)
        if (isUnavailable()) outage.isResuming = false
      }
    },
    async resume(batch) {
      const isWorking = batch.some(({ attemptResult }) => attemptResult.kind === 'delivered')
      if (!isWorking || !outage.isResuming) return false
      try {
        const isMore = await store.resumeUnanswered(db, key, clock.now())
        if (!isMore) outage.isResuming = false
      } catch (error) {
        log.warn({ channel: key, error: loggableError(error) }, 'deliveries could not be resumed')
      }
      return true
    },
    async probe() {
      const now = clock.now()
      outage.probedAt ??= now
      if (!isUnavailable() || Math.abs(now.getTime() - outage.probedAt.getTime()) < PROBE_MS) return
      outage.probedAt = now
      await store.probeUnanswered(db, key, { now, random: randomInt(RANDOM_STEPS) / RANDOM_STEPS })
    },
  }
}
