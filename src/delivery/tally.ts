import { CHANNEL_KEYS, type ChannelKey } from '#src/channels/index.ts'
import type { Meters } from '#src/kernel/meters.ts'
import type { AttemptResult, TaskResult } from './task.ts'

/** Counts attempts of this process by result, for the operator. */
export interface Tally {
  count(channel: ChannelKey, ended: TaskResult): void
  /** Attempts since the process started. */
  read(): readonly {
    readonly channel: ChannelKey
    readonly outcome: AttemptOutcome
    readonly attempts: number
  }[]
}

/** delivered. temporary, permanent: a failure. off: the destination is off. */
const OUTCOMES = ['delivered', 'temporary', 'permanent', 'off'] as const
type AttemptOutcome = (typeof OUTCOMES)[number]

/**
 * Creates a tally of zeros.
 * @param meters record the time that alerts waited for their channel
 */
export function createTally(meters?: Pick<Meters, 'sent'>): Tally {
  const counts = new Map<string, number>()
  return {
    count(channel, { ending, task, isTest, at }) {
      const outcome = outcomeOf(ending)
      if (outcome === undefined) return
      if (outcome === 'delivered' && !isTest) {
        for (const { alertId, createdAt } of task.rows)
          if (alertId !== null) meters?.sent(channel, (at.getTime() - createdAt.getTime()) / 1000)
      }
      const key = `${channel} ${outcome}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    read: () =>
      CHANNEL_KEYS.flatMap((channel) =>
        OUTCOMES.map((outcome) => ({
          channel,
          outcome,
          attempts: counts.get(`${channel} ${outcome}`) ?? 0,
        })),
      ),
  }
}

function outcomeOf(ending: AttemptResult): AttemptOutcome | undefined {
  switch (ending.kind) {
    case 'delivered':
    case 'off':
      return ending.kind
    case 'failed':
      return ending.error.permanent ? 'permanent' : 'temporary'
    case 'gone':
    case 'obsolete':
    case 'aborted':
      return undefined
    default:
      return ending satisfies never
  }
}
