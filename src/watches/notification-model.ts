import type { EvaluatedWatch } from './model.ts'

/** A watch as notifications need it, with the phases of its signals. */
export interface WatchForNotification
  extends Pick<
    EvaluatedWatch,
    'id' | 'wallet' | 'label' | 'recipientIds' | 'minSeverity' | 'mutedUntil'
  > {
  /** Whether the watch is neither paused nor suspended. */
  readonly isJudged: boolean
  /** Minutes after which an unacknowledged alert is escalated; null: never. */
  readonly escalateAfterMinutes: number | null
  /** Recipients of escalated alerts, in addition to the recipients of the watch. */
  readonly escalateTo: readonly number[]
  /** Enabled signals with an open episode. */
  readonly firing: readonly string[]
  /** Disabled signals, whose states do not change. */
  readonly off: readonly string[]
}

/** A mute that has ended, with its start. */
export interface EndedMute {
  readonly watchId: number
  /** Null for a mute that an earlier version stored. */
  readonly since: Date | null
}
