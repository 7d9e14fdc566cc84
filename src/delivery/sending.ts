/** What a process remembers of its deliveries from one run to the next. */
import { CHANNEL_KEYS, type ChannelKey, type Channels } from '#src/channels/index.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from './concurrency-limiter.ts'
import type { Ended } from './task.ts'

export interface Sending {
  /** When the clock was last looked at: what it said, and the time on a clock that never goes back. */
  time: { readonly now: Date; readonly ms: number } | undefined
  of(channel: ChannelKey): ChannelSending
}

/** The part of one channel. */
export interface ChannelSending {
  readonly limiter: ConcurrencyLimiter
  /** Deliveries that this process has taken and not yet recorded. */
  readonly inHand: Set<string>
  /** Results that could not be written for a reason of their own: written again while their leases last. */
  readonly unwritten: Unwritten[]
  /** Where the looks through the backlogs of recipients stand. */
  readonly backlog: Round
  /** Where the looks through messages that are out of date stand. */
  readonly stale: Round
  /** When what the most recent claims left over was last looked at; on a clock that never goes back. */
  tidiedAt: number
  readonly outage: Outage
}

export interface Unwritten {
  readonly ended: Ended
  /** When it is written again, and given up; on a clock that never goes back. */
  readonly nextAt: number
  readonly until: number
}

/** A walk over recipients in the order of their ids, again and again, a bounded part of it a look. */
export interface Round {
  /** The last recipient looked at; 0 at the beginning. */
  after: number
  /** Recipients in one look. */
  hops: number
  /** When a whole round had found nothing: the next look comes a little later. */
  restsSince: { readonly now: Date; readonly ms: number } | undefined
  /** When the next look may come at all; on a clock that never goes back. */
  nextAt: number
  /** Something was found in this round so far. */
  foundSome: boolean
  /** The last whole round has found nothing, and nothing was found since. */
  quiet: boolean
}

/** What is known of whether the channel works at all. */
export interface Outage {
  /** Lanes that answered before and got no answer across since the last success. */
  readonly failed: Set<string>
  /** What another run or process left without an answer was looked up, or need not be. */
  isRecalled: boolean
  /** What got no answer is to be tried again: a success came after every destination had failed. */
  isWaking: boolean
  /** When one of those without an answer was last tried early; or when this was first asked. */
  probedAt: Date | undefined
}

/** Recipients of the first look of a round, and at most, where nothing is found. */
export const HOPS = { first: 32, max: 256 } as const

/** Remembers nothing yet. */
export function createSending(channels: Channels): Sending {
  const all = new Map(
    CHANNEL_KEYS.map((key): [ChannelKey, ChannelSending] => {
      const { limits, groupsOf, isOneService = false } = channels[key]
      return [
        key,
        {
          limiter: createConcurrencyLimiter(limits, groupsOf),
          inHand: new Set(),
          unwritten: [],
          backlog: newRound(),
          stale: newRound(),
          tidiedAt: Number.NEGATIVE_INFINITY,
          outage: {
            failed: new Set(),
            isRecalled: isOneService,
            isWaking: isOneService,
            probedAt: undefined,
          },
        },
      ]
    }),
  )
  return {
    time: undefined,
    of: (channel) => {
      const sending = all.get(channel)
      if (sending === undefined) throw new Error(`there is no channel ${channel}`)
      return sending
    },
  }
}

function newRound(): Round {
  return {
    after: 0,
    hops: HOPS.first,
    restsSince: undefined,
    nextAt: Number.NEGATIVE_INFINITY,
    foundSome: false,
    quiet: false,
  }
}
