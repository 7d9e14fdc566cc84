/** Detects outages of a whole channel, and retries its deliveries when it works again. */
import { randomInt } from 'node:crypto'
import type { ServiceChannel } from '#src/channels/index.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import * as retries from '../results/retry-store.ts'
import { isUnanswered } from '../rules.ts'
import type { SendTaskResult } from './send-task.ts'
import type { ChannelOutage } from './sending-state.ts'

/** Interval at which one retry is made due while a channel is down, in order to find out whether it works again. */
const PROBE_MS = 30_000
/**
 * For channels where every destination has its own server: the channel counts as down when this many hosts
 * that responded before do not, and no other host does.
 */
const FAILED_HOSTS = 2

/** Detects outages of a channel from the results of its attempts. */
export interface OutageDetector {
  /**
   * Reads the silent recipients of earlier processes, before the first attempt of this one. Their partitions count as
   * failed, so that their retries are made due after the first success.
   */
  loadSilent(): Promise<void>
  /** Takes the results of attempts into account, once they are recorded. */
  recordResults(batch: readonly SendTaskResult[]): void
  /**
   * Makes one retry of each silent recipient due after a success; while nothing succeeds, that of one of them from time to
   * time. A recipient that then answers gets its other retries.
   *
   * @returns whether there were any
   */
  wakeSilent(): Promise<boolean>
}

/** Creates the detector of a channel. Its state is in `outage`. */
export function createOutageDetector(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { key, isOneService = false }: ServiceChannel,
  outage: ChannelOutage,
): OutageDetector {
  const isUnavailable = () => isOneService || outage.failed.size >= FAILED_HOSTS
  return {
    async loadSilent() {
      if (outage.areSilentLoaded) return
      const partitions = await retries.listSilentPartitions(db, key)
      for (const partitionKey of partitions) outage.failed.add(partitionKey)
      outage.areSilentLoaded = true
    },
    recordResults(batch) {
      for (const { attemptResult, task, stateBefore } of batch) {
        if (attemptResult.kind === 'delivered') {
          if (outage.mayBeSilent && isUnavailable()) outage.isOver = true
          // Clearing an empty set allocates another one.
          if (outage.failed.size > 0) outage.failed.clear()
        } else if (attemptResult.kind === 'failed' && isUnanswered(attemptResult.error)) {
          outage.mayBeSilent = true
          if (stateBefore === 'answers') outage.failed.add(task.partitionKey)
          if (isUnavailable()) outage.isOver = false
        }
      }
    },
    async wakeSilent() {
      const now = clock.now()
      outage.wokenAt ??= now
      const { isOver } = outage
      const isTime = Math.abs(now.getTime() - outage.wokenAt.getTime()) >= PROBE_MS
      if (!isOver && !(isUnavailable() && isTime)) return false
      outage.wokenAt = now
      // Before the look, so that a failure that is recorded meanwhile is not overlooked.
      outage.isOver = false
      if (isOver) outage.mayBeSilent = false
      const silent = await retries.listSilentRecipients(db, key, now)
      const probe = silent[randomInt(Math.max(1, silent.length))]
      const chosen = isOver || probe === undefined ? silent : [probe]
      const areWoken = await transact(db, (tx) => retries.wakeRetries(tx, chosen, now, 1))
      if (silent.length === retries.WOKEN_MAX) outage.mayBeSilent = true
      return areWoken
    },
  }
}
