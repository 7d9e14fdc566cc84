/** Chain outages: start, severity and display. Pure. */
import { z } from 'zod'
import type { Presentation, Severity } from '#src/kernel/display-values.ts'
import { Instant, type JsonObject } from '#src/kernel/units.ts'

/** The events of a chain outage, which no signal emits. */
export const MONITORING_EVENTS = ['fsp.monitoring', 'fsp.monitoring.recovered'] as const

/** Time without data, in milliseconds, after which an outage is notified. */
export const STALE_CHAIN_MS = 90_000
/** Time after which an outage is critical. */
const CRITICAL_MS = 600_000
/**
 * Maximum time that is counted between two observations. The time in which the service did not run is not
 * an outage.
 */
export const POLL_MS_MAX = 40_000

/** A failure that lasts, with its start and its last check. */
export interface PersistentFailure {
  readonly failingSince: Date | null
  readonly checkedAt: Date | null
}

/**
 * Start of a failure, at a failed observation. The time in which the service did not run does not count.
 */
export function failingSince(before: PersistentFailure | undefined, now: Date): Date {
  const checkedAt = before?.checkedAt ?? now
  const since = before?.failingSince ?? checkedAt
  const unseenMs = Math.max(0, now.getTime() - checkedAt.getTime() - POLL_MS_MAX)
  return new Date(Math.min(since.getTime() + unseenMs, now.getTime()))
}

/** Severity of an outage that began at an instant; null if it is too short to notify. */
export function outageSeverityOf(since: Date | null, now: Date): Severity | null {
  const ms = since === null ? 0 : now.getTime() - since.getTime()
  if (ms < STALE_CHAIN_MS) return null
  return ms < CRITICAL_MS ? 'warning' : 'critical'
}

/** `data` of both events. */
export const OutageData = z.object({
  since: Instant,
  /** The last block that was read; null if none was read ever. */
  lastBlock: z.object({ number: z.int(), at: Instant }).nullable(),
  /**
   * Reason of the outage: no new block, or no answer of the endpoints; `behind`: the chain is read, but not all that
   * watches of this type need; `target_unreadable`: only what this watch watches cannot be read; `watch_unreadable`: only
   * this watch cannot be evaluated, because what is stored of it cannot be read.
   */
  reason: z.enum(['no_block', 'no_answer', 'behind', 'target_unreadable', 'watch_unreadable']),
  /** Of the recovery: end of the outage. */
  until: Instant.nullable(),
})
export type OutageData = z.output<typeof OutageData>

/** Forms of the texts about a single watch. */
const FORMS: Partial<Record<OutageData['reason'], string>> = {
  target_unreadable: 'target',
  watch_unreadable: 'watch',
}

/** Display values of alerts about an outage. */
export function presentMonitoring(_event: string, data: JsonObject): Presentation {
  const { since, until, lastBlock, reason } = OutageData.parse(data)
  return {
    facts: {
      since: { kind: 'instant', at: since },
      ...(lastBlock !== null && { block: { kind: 'block', number: lastBlock.number } }),
      ...(until !== null && {
        duration: { kind: 'duration', seconds: (until.getTime() - since.getTime()) / 1000 },
      }),
    },
    fields: ['since', ...(lastBlock === null ? [] : ['block'])],
    ...(FORMS[reason] !== undefined && { form: FORMS[reason] }),
  }
}

const example = {
  since: '2026-11-20T12:00:00.000Z',
  lastBlock: { number: 41_880_123, at: '2026-11-20T11:59:58.000Z' },
  reason: 'no_answer',
} as const

/** Example data by event. */
export const MONITORING_EXAMPLES: Readonly<Record<string, JsonObject>> = {
  'fsp.monitoring': { ...example, until: null },
  'fsp.monitoring.recovered': { ...example, until: '2026-11-20T12:06:30.000Z' },
}
