import { z } from 'zod'
import { memoized } from '#src/kernel/memoized.ts'
import type { WatchType } from '../define.ts'
import {
  completeSignals,
  type EvaluatedWatch,
  type SignalSetting,
  type StoredState,
} from '../model.ts'
import type { Observed } from '../signal.ts'
import {
  type FoldedCandidate,
  type FoldResult,
  type FoldStart,
  foldKey,
  foldSignal,
  type SignalOf,
  stateAfter,
} from './fold-signal.ts'

/**
 * A firing that starts an episode, increases its severity, ends it, or stands alone, with the watch's data
 * that the alert needs.
 */
export interface AlertCandidate extends FoldedCandidate {
  readonly watch: Pick<
    EvaluatedWatch,
    | 'id'
    | 'wallet'
    | 'label'
    | 'recipientIds'
    | 'minSeverity'
    | 'mutedUntil'
    | 'escalateAfterMinutes'
    | 'escalateTo'
  >
}

/** Result of evaluating one watch. */
export interface WatchOutcome {
  /** The settings of the watch, decoded; the same object for watches with the same choices. */
  readonly settings: unknown
  /** New states of all enabled signals. */
  readonly states: readonly StoredState[]
  readonly candidates: readonly AlertCandidate[]
  /**
   * End of the cooldown of a deferred alert, at which the watch is judged even without a new observation.
   */
  readonly recheckAt: Date | null
}

/** The settings and signals of a watch, decoded. */
interface Choices {
  readonly settings: unknown
  readonly signals: readonly SignalSetting[]
}

/**
 * Maximum number of different choices that are cached for each type. The watches of a feed have only a few.
 */
const REMEMBERED_CHOICES = 512
const choicesByType = new WeakMap<WatchType, (text: string) => Choices>()

/** The settings and signals of a watch. Watches with the same settings and signals share the result. */
function choicesOf(
  type: WatchType,
  { settings, signals }: Pick<EvaluatedWatch, 'settings' | 'signals'>,
): Choices {
  const read =
    choicesByType.get(type) ??
    memoized(REMEMBERED_CHOICES, (text) => {
      const choices: Pick<EvaluatedWatch, 'settings' | 'signals'> = JSON.parse(text)
      return {
        settings: z.decode(type.settings, choices.settings),
        signals: completeSignals(type.signals, choices.signals, choices.settings),
      }
    })
  choicesByType.set(type, read)
  return read(JSON.stringify({ settings, signals }))
}

/**
 * Evaluates one observation.
 * @see startFolding
 */
export function evaluateWatch(
  type: WatchType,
  target: unknown,
  watch: EvaluatedWatch,
  observation: Observed,
): WatchOutcome {
  return foldWatch(type, target, watch, [observation])
}

/**
 * Folds observations through one watch.
 * @see startFolding
 */
export function foldWatch(
  type: WatchType,
  target: unknown,
  watch: EvaluatedWatch,
  observations: readonly Observed[],
): WatchOutcome {
  return startFolding(type, target, observations)(watch)
}

/**
 * Returns a function that folds observations of a target through the enabled signals of a watch, one
 * observation after another.
 *
 * Repeated firings are dropped: while an episode is open, its signal fires again only with a higher
 * severity; a recovery counts only if an episode is open; two alerts of one signal are at least
 * `cooldownSeconds` apart.
 *
 * Watches on one target often have the same choices and states. A signal is folded once for all of these.
 */
export function startFolding(
  type: WatchType,
  target: unknown,
  observations: readonly Observed[],
): (watch: EvaluatedWatch) => WatchOutcome {
  const fold = rememberedFolds(observations)
  return (watch) => {
    const { settings, signals: choices } = choicesOf(type, watch)
    const folds = type.signals.flatMap((signal) => {
      const choice = choices.find(({ id }) => id === signal.id)
      if (choice === undefined || !choice.enabled) return []
      const view = { target, settings, parameters: choice.parameters }
      const isRecoveryNotified = choice.recovery?.enabled === true
      const stored = watch.states.find((state) => state.signal === signal.id)
      const start = { stored, cooldownSeconds: watch.cooldownSeconds }
      const folded = fold(choice, { type: type.name, signal, view, isRecoveryNotified }, start)
      return [{ folded, state: stateAfter(signal, stored, folded) }]
    })
    // Candidates of one observation are in the order of the signals.
    const fired = folds
      .flatMap(({ folded }) => folded.candidates)
      .toSorted((a, b) => a.place - b.place)
    const deferrals = folds.flatMap(({ folded }) => folded.deferredUntil?.getTime() ?? [])
    return {
      settings,
      states: folds.flatMap(({ state }) => state ?? []),
      candidates: fired.map(({ candidate }) => ({ ...candidate, watch })),
      recheckAt: deferrals.length === 0 ? null : new Date(Math.min(...deferrals)),
    }
  }
}

/** Maximum number of folds of one target that are remembered. */
const REMEMBERED_FOLDS = 5000

/** `foldSignal`, which runs once for equal starts. Choices are equal where they are the same object. */
function rememberedFolds(observations: readonly Observed[]) {
  let known = new Map<SignalSetting, Map<string, FoldResult>>()
  let size = 0
  return (choice: SignalSetting, of: SignalOf, start: FoldStart): FoldResult => {
    const key = foldKey(start)
    const before = known.get(choice)?.get(key)
    if (before !== undefined) return before
    const folded = foldSignal(of, start, observations)
    if (size >= REMEMBERED_FOLDS) {
      known = new Map()
      size = 0
    }
    known.set(choice, (known.get(choice) ?? new Map<string, FoldResult>()).set(key, folded))
    size += 1
    return folded
  }
}
