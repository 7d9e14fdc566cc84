import type { Severity } from '#src/kernel/display-values.ts'
import type { WatchType } from '../define.ts'
import type { AlertCandidate } from '../evaluate/evaluate.ts'
import { startRepeatedFold } from '../evaluate/repeated-fold.ts'
import type { EvaluatedWatch } from '../model.ts'
import type { Observed } from '../signal.ts'

/** Number of alerts by severity; recoveries are counted separately. */
export type AlertCounts = Readonly<Record<Severity | 'recovery', number>>

/** A replay of past observations through a watch, which finds the alerts that the watch would have sent. */
export interface Replay {
  /** Evaluates further observations, which follow the earlier ones. */
  add(observations: readonly Observed[]): void
  /**
   * Ends the replay. If the history has only changes, an alert that the cooldown has deferred fires if the cooldown ends
   * by this time.
   */
  end(to: Date): void
  /** All alerts so far. */
  readonly counts: () => AlertCounts
  /** The newest alerts, newest first, at most `newestMax`. */
  readonly newest: () => readonly AlertCandidate[]
}

/**
 * Starts a replay of a new watch. It runs the same evaluator as the live service over past observations,
 * with the same states, episodes and cooldown. Recoveries that the watch has switched off are left out.
 *
 * @param newestMax maximum number of alerts that `newest` returns; all are counted
 * @param onCandidate called for every alert and recovery, in order, also for those that nobody is told of
 */
export function startReplay(
  type: WatchType,
  target: unknown,
  watch: EvaluatedWatch,
  newestMax: number,
  onCandidate?: (candidate: AlertCandidate) => void,
): Replay {
  const hasOnlyChanges = type.history.keeps === 'changes'
  const counts = { info: 0, warning: 0, critical: 0, recovery: 0 }
  let kept: AlertCandidate[] = []
  const folded = startRepeatedFold(type, target, watch)
  const take = (candidates: readonly AlertCandidate[]) => {
    for (const candidate of candidates) {
      onCandidate?.(candidate)
      if (!candidate.isNotified) continue
      counts[candidate.isRecovery ? 'recovery' : candidate.severity] += 1
      kept.push(candidate)
    }
    if (kept.length > 2 * newestMax) kept = kept.slice(-newestMax)
  }
  return {
    add(observations) {
      if (!hasOnlyChanges) return take(folded.fold(observations))
      for (const observation of observations) {
        take(folded.repeatUntil(observation.at))
        take(folded.add(observation))
      }
    },
    end(to) {
      if (hasOnlyChanges) take(folded.repeatUntil(new Date(to.getTime() + 1)))
    },
    counts: () => ({ ...counts }),
    newest: () => kept.slice(-newestMax).toReversed(),
  }
}
