import { CHANNEL_KEYS, type ChannelKey } from '#src/channels/index.ts'
import type { Meters } from '#src/kernel/meters.ts'
import type { AttemptResult, SendTaskResult } from './send-task.ts'

/** Counts attempts of this process by result, for the operator. */
export interface AttemptCounter {
  count(channel: ChannelKey, ended: SendTaskResult): void
  /** Counts an attempt that is no delivery, such as that of a confirmation e-mail. */
  countOutcome(channel: ChannelKey, outcome: AttemptOutcome): void
  /** Attempts since the process started. */
  read(): readonly {
    readonly channel: ChannelKey
    readonly outcome: AttemptOutcome
    readonly attempts: number
  }[]
}

/**
 * Results of attempts. `temporary` and `permanent` are failures; `off` means that the destination is off.
 */
const OUTCOMES = ['delivered', 'temporary', 'permanent', 'off'] as const
type AttemptOutcome = (typeof OUTCOMES)[number]

/**
 * Creates a counter whose counts are 0. @param meters record the time for which alerts waited for their
 * channel
 */
export function createAttemptCounter(meters?: Pick<Meters, 'countSentAlert'>): AttemptCounter {
  const counts = new Map<string, number>()
  const countOutcome = (channel: ChannelKey, outcome: AttemptOutcome) => {
    const key = `${channel} ${outcome}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return {
    countOutcome,
    count(channel, { attemptResult, task, isTest, at }) {
      const outcome = outcomeOf(attemptResult)
      if (outcome === undefined) return
      if (outcome === 'delivered' && !isTest) {
        for (const { alertId, createdAt } of task.rows)
          if (alertId !== null)
            meters?.countSentAlert(channel, (at.getTime() - createdAt.getTime()) / 1000)
      }
      countOutcome(channel, outcome)
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

function outcomeOf(attemptResult: AttemptResult): AttemptOutcome | undefined {
  switch (attemptResult.kind) {
    case 'delivered':
    case 'off':
      return attemptResult.kind
    case 'failed':
      return attemptResult.error.permanent ? 'permanent' : 'temporary'
    case 'gone':
    case 'obsolete':
    case 'aborted':
      return undefined
    default:
      return attemptResult satisfies never
  }
}
