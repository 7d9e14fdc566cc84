import type { EvaluatedWatch } from './model.ts'

/** The part of a watch that notifications need, with its firing and its disabled signals. */
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

/** A mute of a watch that has ended. */
export interface EndedMute {
  readonly watchId: number
  /** Start of the mute. */
  readonly since: Date
}
