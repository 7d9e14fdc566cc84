/** What a process remembers of sending between two runs of `deliverDue`. */
import { CHANNEL_KEYS, type ChannelKey, type Channels } from '#src/channels/index.ts'
import { createWaker, type Waker } from '#src/kernel/waker.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from '../claims/concurrency-limiter.ts'
import type { SendTaskResult } from './send-task.ts'

export interface SendingState {
  of(channel: ChannelKey): ChannelSendingState
  /** Wakes the worker of a channel, even while it sends. Wakes all workers if the channel is unknown. */
  wake(channel: string): void
}

/** State of one channel. */
export interface ChannelSendingState {
  readonly limiter: ConcurrencyLimiter
  /** Ends the pause of the channel's worker. */
  readonly waker: Waker
  /** Deliveries that this process has claimed and not yet recorded. */
  readonly claimedIds: Set<string>
  /** Number of places given to deliveries until now, of which each urgency gets a share. */
  placesGiven: number
  /** Results that could not be recorded; recording is repeated for a minute after the first failed try. */
  readonly unrecorded: UnrecordedResult[]
  /** Progress of the scan over outdated messages. */
  readonly stale: RecipientScan
  readonly outage: ChannelOutage
}

export interface UnrecordedResult {
  readonly result: SendTaskResult
  /**
   * Times of the next try to record the result, and of giving up: `LEASE_SECONDS` after the first failed try. By a
   * monotonic clock.
   */
  readonly nextAt: number
  readonly until: number
}

/** A repeated scan over recipients in the order of their ids, in bounded steps. */
export interface RecipientScan {
  /** Last recipient that was read; 0 at the beginning. */
  after: number
  /** Recipients per step. */
  recipientsMax: number
  /** While `quiet`, the earliest time of the next step, on a monotonic clock: `QUIET_MS` after the last one. */
  quietUntil: number
  /** Earliest time of the next step, on a monotonic clock. */
  nextAt: number
  /** Whether the current pass has found something. */
  foundSome: boolean
  /** Whether the last whole pass over all recipients found nothing, and nothing was found since. */
  quiet: boolean
  /** Whether a NOTIFY came since the last look for messages whose change a person awaits; true at the start. */
  isNotified: boolean
}

/** What the detector of outages of a channel remembers. */
export interface ChannelOutage {
  /** Partitions that responded before and have not responded since the last success. */
  readonly failed: Set<string>
  /** Whether the partitions of silent recipients of earlier processes were looked up, or need not be looked up. */
  areSilentLoaded: boolean
  /** Whether there may be silent recipients that have retries. */
  mayBeSilent: boolean
  /** Whether an attempt succeeded after an outage, so that silent recipients get what waits for them. */
  isOver: boolean
  /** Time at which retries of silent recipients were last made due, or of the first check. */
  wokenAt: Date | undefined
}

/**
 * Number of recipients of the first step of a scan, and the maximum to which it grows while nothing is
 * found.
 */
export const SCAN_STEP_RECIPIENTS = { first: 32, max: 256 } as const

/** Creates an empty state. */
export function createSendingState(channels: Channels): SendingState {
  const all = new Map(
    CHANNEL_KEYS.map((key): [ChannelKey, ChannelSendingState] => {
      const { limits, groupsOf, isOneService = false } = channels[key]
      return [
        key,
        {
          limiter: createConcurrencyLimiter(limits, groupsOf),
          waker: createWaker(),
          claimedIds: new Set(),
          placesGiven: 0,
          unrecorded: [],
          stale: newRecipientScan(),
          outage: {
            failed: new Set(),
            areSilentLoaded: isOneService,
            mayBeSilent: true,
            isOver: false,
            wokenAt: undefined,
          },
        },
      ]
    }),
  )
  return {
    of: (channel) => {
      const sending = all.get(channel)
      if (sending === undefined) throw new Error(`there is no channel ${channel}`)
      return sending
    },
    wake(name) {
      const named = CHANNEL_KEYS.filter((key) => key === name)
      for (const key of named.length === 0 ? CHANNEL_KEYS : named) {
        const sending = all.get(key)
        if (sending === undefined) continue
        sending.stale.isNotified = true
        sending.waker.wake()
      }
    },
  }
}

function newRecipientScan(): RecipientScan {
  return {
    after: 0,
    recipientsMax: SCAN_STEP_RECIPIENTS.first,
    quietUntil: 0,
    nextAt: Number.NEGATIVE_INFINITY,
    foundSome: false,
    quiet: false,
    isNotified: true,
  }
}
