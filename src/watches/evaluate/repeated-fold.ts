/** Folds observations one after another, and repeats the last one when the cooldown of a deferred alert ends. Pure. */
import { earliest } from '#src/kernel/clock.ts'
import type { WatchType } from '../define.ts'
import type { EvaluatedWatch } from '../model.ts'
import type { Observed } from '../signal.ts'
import { cooldownEnd } from './cooldown.ts'
import { type AlertCandidate, foldWatch, type WatchOutcome } from './evaluate.ts'

/** A fold that goes on. */
export interface RepeatedFold {
  /** Folds observations, which follow the earlier ones. @returns their alerts */
  fold(observations: readonly Observed[]): readonly AlertCandidate[]
  /** Folds an observation as the next one by its number. */
  add(observation: Omit<Observed, 'position'>): readonly AlertCandidate[]
  /**
   * Repeats the last observation at each time before `until` at which the cooldown of a deferred alert ends. An alert
   * therefore has the same time however late this is called.
   */
  repeatUntil(until: Date): readonly AlertCandidate[]
  /** The last observation that was added; `before` until then. */
  last(): Observed | undefined
  /** The states and the end of a deferral, after everything that was folded. */
  outcome(): Pick<WatchOutcome, 'states' | 'recheckAt'>
}

/** Starts a fold of a watch from its states. @param before the last observation that was folded earlier */
export function startRepeatedFold(
  type: WatchType,
  target: unknown,
  watch: EvaluatedWatch,
  before?: Observed,
): RepeatedFold {
  let last = before
  let { states } = watch
  let recheckAt = endOfDeferral(watch)
  const fold = (observations: readonly Observed[]) => {
    const outcome = foldWatch(type, target, { ...watch, states }, observations)
    states = outcome.states
    recheckAt = outcome.recheckAt
    return outcome.candidates
  }
  const add = (observation: Omit<Observed, 'position'>) => {
    last = { ...observation, position: (last?.position ?? 0) + 1 }
    return fold([last])
  }
  return {
    fold,
    add,
    repeatUntil: (until) => {
      const candidates: AlertCandidate[] = []
      while (last !== undefined && recheckAt !== null && recheckAt < until) {
        const endsAt = recheckAt.getTime()
        // A cooldown that was shortened meanwhile may have ended before the last observation.
        const at = new Date(Math.max(endsAt, last.at.getTime()))
        candidates.push(...add({ ...last, at }))
        if (recheckAt?.getTime() === endsAt) break
      }
      return candidates
    },
    last: () => last,
    outcome: () => ({ states, recheckAt }),
  }
}

/** The end of the cooldown that defers an alert of a watch; null if no alert is deferred. */
function endOfDeferral({ states, cooldownSeconds }: EvaluatedWatch): Date | null {
  const ends = states.flatMap((state) =>
    state.phase === 'pending' && state.lastFiredAt !== null
      ? [new Date(cooldownEnd(state, cooldownSeconds))]
      : [],
  )
  return earliest(...ends)
}
