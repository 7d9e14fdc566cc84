/** Whether a channel works at all, and what is tried again as soon as it does. */
import { randomInt } from 'node:crypto'
import type { ServiceChannel } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { traceOf } from '#src/kernel/trace.ts'
import { isUnanswered } from './rules.ts'
import type { Outage } from './sending.ts'
import * as store from './store.ts'
import type { Ended, Ending } from './task.ts'

/** While a channel does not work, how often one of the deliveries without an answer is tried early. */
const PROBE_MS = 30_000
/**
 * Where every destination has a server of its own, the channel does not work when so many of those that
 * answered before do not, and no other does.
 */
const FAILED_HOSTS = 2
const RANDOM_STEPS = 2 ** 32

/** Sees how attempts of a channel end. */
export interface OutageWatch {
  /**
   * Before the first attempt of this process: finds what was left without an answer. Its destinations count as
   * failed, so that it is resumed with the first success, as if the process had seen the outage begin.
   */
  recall(): Promise<void>
  /** @param of `hasAnswered`: the destination answered the attempt before */
  note(ending: Ending, of: { readonly partitionKey: string; readonly hasAnswered: boolean }): void
  /** After a success: what got no answer while the channel did not work is due, spaced out. */
  resume(batch: readonly Ended[]): Promise<void>
  /** While nothing succeeds: one delivery that got no answer is tried early, now and then. */
  probe(): Promise<void>
}

/** Watches a channel. What is known is kept in `outage`. */
export function watchOutage(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
  { key, isOneService = false }: ServiceChannel,
  outage: Outage,
): OutageWatch {
  const isUnavailable = () => isOneService || outage.failed.size >= FAILED_HOSTS
  return {
    async recall() {
      if (outage.isRecalled) return
      const partitions = await store.listUnansweredPartitions(db, key)
      for (const partitionKey of partitions) outage.failed.add(partitionKey)
      outage.isWaking = partitions.length > 0
      outage.isRecalled = true
    },
    note(ending, { partitionKey, hasAnswered }) {
      if (ending.kind === 'delivered') {
        if (isUnavailable()) outage.isWaking = true
        outage.failed.clear()
      } else if (ending.kind === 'failed' && isUnanswered(ending.error)) {
        if (hasAnswered) outage.failed.add(partitionKey)
        if (isUnavailable()) outage.isWaking = false
      }
    },
    async resume(batch) {
      const isWorking = batch.some(({ ending }) => ending.kind === 'delivered')
      if (!isWorking || !outage.isWaking) return
      try {
        const isMore = await store.resumeUnanswered(db, key, clock.now())
        if (!isMore) outage.isWaking = false
      } catch (error) {
        log.warn({ channel: key, error: traceOf(error) }, 'deliveries not resumed')
      }
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
