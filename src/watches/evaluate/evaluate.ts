import { z } from 'zod'
import { isAtLeast, mostSevere, type Severity } from '#src/kernel/display-values.ts'
import { memoized } from '#src/kernel/memo.ts'
import type { SignalGroup } from '#src/kernel/signal-group.ts'
import { Instant } from '#src/kernel/units.ts'
import type { WatchType } from '../define.ts'
import {
  completeSignals,
  type EvaluatedWatch,
  type SignalSetting,
  type StoredState,
} from '../model.ts'
import type { Firing, Observed, Signal } from '../signal.ts'

/**
 * A firing that starts an episode, increases its severity, ends it, or stands alone, with the watch's data
 * that the alert needs.
 */
export interface AlertCandidate extends Firing {
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
  readonly type: string
  /** The signal; null if the alert is about the watch as a whole, such as a chain outage. */
  readonly signal: string | null
  readonly group: SignalGroup | null
  readonly isRecovery: boolean
  /**
   * False for a recovery of a watch that has recoveries switched off: it ends the episode without a
   * message.
   */
  readonly isNotified: boolean
  /**
   * Of a recovery: the highest severity of the episode, taken from the signal's state, because the alerts
   * of the episode may have been deleted.
   */
  readonly episodeSeverity?: Severity | null
  /** Position of the observation. */
  readonly position: number
  /** Time of the observation. */
  readonly firedAt: Date
}

/** Result of evaluating one watch. */
export interface WatchOutcome {
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
export function choicesOf(
  type: WatchType,
  { settings, signals }: Pick<EvaluatedWatch, 'settings' | 'signals'>,
): Choices {
  const read =
    choicesByType.get(type) ??
    memoized(REMEMBERED_CHOICES, (text) => {
      const own: Pick<EvaluatedWatch, 'settings' | 'signals'> = JSON.parse(text)
      return {
        settings: z.decode(type.settings, own.settings),
        signals: completeSignals(type.signals, own.signals),
      }
    })
  choicesByType.set(type, read)
  return read(JSON.stringify({ settings, signals }))
}

/**
 * Evaluates one observation.
 * @see foldWatch
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
 * Folds observations through a watch's enabled signals, one after another.
 *
 * Repeated firings are dropped: while an episode is open, its signal fires again only with a higher
 * severity; a recovery counts only if an episode is open; two alerts of one signal are at least
 * `cooldownSeconds` apart.
 */
export function foldWatch(
  type: WatchType,
  target: unknown,
  watch: EvaluatedWatch,
  observations: readonly Observed[],
): WatchOutcome {
  const { settings, signals: choices } = choicesOf(type, watch)
  const folds = type.signals.flatMap((signal, index) => {
    const choice = choices[index]
    if (choice === undefined || !choice.enabled) return []
    const view = { target, settings, parameters: choice.parameters }
    const isRecoveryNotified = choice.recovery?.enabled === true
    return [startFold({ type: type.name, signal, view, isRecoveryNotified }, watch)]
  })
  const candidates = observations.flatMap((observation) =>
    folds.flatMap(({ add }) => add(observation)),
  )
  const deferrals = folds.flatMap(({ deferredUntil }) => deferredUntil()?.getTime() ?? [])
  return {
    states: folds.flatMap(({ stored }) => stored() ?? []),
    candidates,
    recheckAt: deferrals.length === 0 ? null : new Date(Math.min(...deferrals)),
  }
}

interface SignalOf {
  readonly type: string
  readonly signal: Signal
  readonly view: Parameters<Signal['evaluate']>[2]
  readonly isRecoveryNotified: boolean
}

/** Folds several observations through one signal of a watch; the state is decoded and encoded only once. */
function startFold({ type, signal, view, isRecoveryNotified }: SignalOf, watch: EvaluatedWatch) {
  let stored = watch.states.find((state) => state.signal === signal.id)
  let deferredUntil: Date | null = null
  let state = stored === undefined ? signal.initial : z.decode(signal.state, stored.state)
  const add = (observation: Observed): readonly AlertCandidate[] => {
    if (signal.judges?.(observation) === false) return []
    const { phase, streak, firings, ...after } = signal.evaluate(state, observation, view)
    const fresh = firings.filter((firing) =>
      isNotifiable(signal, firing, stored, observation, watch.cooldownSeconds),
    )
    const alert = mostSevere(fresh.filter((firing) => !isRecoveryOf(signal, firing)))
    // An alert that the cooldown defers has not started an episode, so it can fire at the next observation.
    const isDeferred = phase === 'firing' && alert === undefined && stored?.phase !== 'firing'
    const nextPhase = isDeferred ? 'pending' : phase
    const episodeSeverity = stored?.phase === 'firing' ? stored.severity : null
    const isUnnotified =
      signal.firesOnce &&
      alert === undefined &&
      firings.some((firing) => !isRecoveryOf(signal, firing))
    // The state stays unchanged, so a recovery beside a deferred alert would fire now and again later. It is deferred,
    // too.
    const taken = isUnnotified && after.stateIfDeferred === undefined ? [] : fresh
    state = isUnnotified ? (after.stateIfDeferred ?? state) : after.state
    stored = {
      signal: signal.id,
      state: undefined,
      phase: nextPhase,
      since: stored?.phase === nextPhase ? stored.since : startOf(alert, observation),
      streak: streak ?? null,
      severity: nextPhase === 'firing' ? openSeverity(stored, alert) : null,
      lastEvidenceAt: observation.at,
      lastFiredAt: alert === undefined ? (stored?.lastFiredAt ?? null) : observation.at,
    }
    deferredUntil =
      isDeferred || isUnnotified ? endOfCooldown(stored.lastFiredAt, watch, observation) : null
    return taken.map((firing) => {
      const isRecovery = isRecoveryOf(signal, firing)
      return {
        ...firing,
        watch,
        type,
        signal: signal.id,
        group: signal.group,
        isRecovery,
        isNotified: !isRecovery || isRecoveryNotified,
        ...(isRecovery && { episodeSeverity }),
        position: observation.position,
        firedAt: observation.at,
      }
    })
  }
  return {
    add,
    stored: () => stored && { ...stored, state: z.encode(signal.state, state) },
    deferredUntil: () => deferredUntil,
  }
}

/**
 * Start of a phase: `since` in the data of its alert, because what the alert reports began before it was detected. The
 * time of the observation if there is no such time.
 */
function startOf(alert: Firing | undefined, { at }: Observed): Date {
  const { data: since } = Instant.safeParse(alert?.data['since'])
  return since !== undefined && since <= at ? since : at
}

/** End of the cooldown; null if no cooldown is running. */
function endOfCooldown(
  lastFiredAt: Date | null,
  { cooldownSeconds }: EvaluatedWatch,
  { at }: Observed,
): Date | null {
  if (lastFiredAt === null) return null
  const end = new Date(lastFiredAt.getTime() + cooldownSeconds * 1000)
  return end > at ? end : null
}

/** Severity of the open episode: the highest severity of its alerts. */
function openSeverity(stored: StoredState | undefined, alert: Firing | undefined): Severity | null {
  const before = stored?.phase === 'firing' ? stored.severity : null
  if (alert === undefined || before === null) return alert?.severity ?? before
  return isAtLeast(before, alert.severity) ? before : alert.severity
}

function isRecoveryOf(signal: Signal, { event }: Firing): boolean {
  return event === signal.events.recovery
}

function isNotifiable(
  signal: Signal,
  firing: Firing,
  stored: StoredState | undefined,
  observation: Observed,
  cooldownSeconds: number,
): boolean {
  const isOpen = stored?.phase === 'firing'
  if (isRecoveryOf(signal, firing)) return isOpen
  if (isOpen && !signal.firesOnce) {
    const before = stored.severity ?? 'info'
    const isIncrease = firing.severity !== before && isAtLeast(firing.severity, before)
    if (signal.events.recovery !== undefined) return isIncrease
  }
  const lastFiredAt = stored?.lastFiredAt
  if (lastFiredAt === undefined || lastFiredAt === null) return true
  return observation.at.getTime() - lastFiredAt.getTime() >= cooldownSeconds * 1000
}
