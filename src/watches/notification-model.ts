import type { EvaluatedWatch } from './model.ts'

/** A watch and how its signals stand. */
export interface WatchForNotification
  extends Pick<
    EvaluatedWatch,
    'id' | 'wallet' | 'label' | 'recipientIds' | 'minSeverity' | 'mutedUntil'
  > {
  /** Neither paused nor suspended. */
  readonly isJudged: boolean
  /** Signals that are switched on and whose episode is open. */
  readonly firing: readonly string[]
  /** Signals that are switched off: their states are frozen. */
  readonly off: readonly string[]
}

/** A mute that is over, and since when it held. */
export interface EndedMute {
  readonly watchId: number
  /** Null for a mute that was set before this was kept. */
  readonly since: Date | null
}
