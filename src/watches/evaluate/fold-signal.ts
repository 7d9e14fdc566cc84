/** Folds observations through one signal, whatever the watch. */
import { z } from 'zod'
import { isAtLeast, mostSevere, type Severity } from '#src/kernel/display-values.ts'
import type { SignalGroup } from '#src/kernel/signal-group.ts'
import { Instant } from '#src/kernel/units.ts'
import type { StoredState } from '../model.ts'
import type { Firing, Observed, Signal } from '../signal.ts'
import { cooldownEnd, type FoldedTimes, timesAfter } from './cooldown.ts'

/** A firing that is not dropped, without the watch. */
export interface FoldedCandidate extends Firing {
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
  /** End of the cooldown that this alert imposes, because its signal changes often. */
  readonly cooldownUntil?: Date
}

/** A signal as the watches with one choice see it. */
export interface SignalOf {
  readonly type: string
  readonly signal: Signal
  readonly view: Parameters<Signal['evaluate']>[2]
  readonly isRecoveryNotified: boolean
}

/** What the fold of a watch's signal starts from. */
export interface FoldStart {
  /** The stored state; undefined before the first observation. */
  readonly stored: StoredState | undefined
  readonly cooldownSeconds: number
}

/** Result of a fold, the same for all watches that start from the same. */
export interface FoldResult {
  /** State of the signal, encoded. */
  readonly state: unknown
  /** The new values; undefined if no observation concerned the signal. `since` is null in the phase of before. */
  readonly after:
    | (Omit<StoredState, 'signal' | 'state' | 'since'> & { readonly since: Date | null })
    | undefined
  /** End of the cooldown that defers an alert. */
  readonly deferredUntil: Date | null
  /** Candidates, each with the index of its observation. */
  readonly candidates: readonly {
    readonly place: number
    readonly candidate: FoldedCandidate
  }[]
}

const texts = new WeakMap<object, string>()

/** JSON of a state. Equal states that were read together are the same object, see `state-store.ts`. */
function textOf(state: unknown): string {
  if (typeof state !== 'object' || state === null) return JSON.stringify(state)
  const text = texts.get(state) ?? JSON.stringify(state)
  texts.set(state, text)
  return text
}

/** Text that is equal for starts with the same result. The start of the phase is only passed on. */
export function foldKey({ stored, cooldownSeconds }: FoldStart): string {
  if (stored === undefined) return `${cooldownSeconds}`
  const { phase, severity, lastFiredAt, changes, cooldownUntil, state } = stored
  const times = [lastFiredAt, cooldownUntil, ...changes].map((at) => at?.getTime())
  return `${cooldownSeconds} ${phase} ${severity} ${times} ${textOf(state)}`
}

/** The stored state of a watch's signal after a fold; undefined if there is none. */
export function stateAfter(
  { id }: Signal,
  stored: StoredState | undefined,
  { state, after }: FoldResult,
): StoredState | undefined {
  if (after === undefined) return stored && { ...stored, state }
  const since = after.since ?? stored?.since
  return since && { ...after, signal: id, state, since }
}

/** What a fold knows of its last step. */
type Last = Pick<StoredState, 'phase' | 'severity'> & FoldedTimes

/** Folds observations through one signal; the state is decoded and encoded only once. */
export function foldSignal(
  { type, signal, view, isRecoveryNotified }: SignalOf,
  { stored, cooldownSeconds }: FoldStart,
  observations: readonly Observed[],
): FoldResult {
  let last: Last | undefined = stored
  let after: FoldResult['after']
  let deferredUntil: Date | null = null
  let state = stored === undefined ? signal.initial : z.decode(signal.state, stored.state)
  const candidates: FoldResult['candidates'][number][] = []
  for (const [place, observation] of observations.entries()) {
    if (signal.judges?.(observation) === false) continue
    const { phase, streak, firings, ...next } = signal.evaluate(state, observation, view)
    const before: Last | undefined = last
    const fresh = firings.filter((firing) =>
      isNotifiable(signal, firing, before, observation, cooldownSeconds),
    )
    const alert = mostSevere(fresh.filter((firing) => !isRecoveryOf(signal, firing)))
    // An alert that the cooldown defers has not started an episode, so it can fire at the next observation.
    const isDeferred = phase === 'firing' && alert === undefined && before?.phase !== 'firing'
    const nextPhase = isDeferred ? 'pending' : phase
    const episodeSeverity = before?.phase === 'firing' ? before.severity : null
    const isUnnotified =
      signal.firesOnce &&
      alert === undefined &&
      firings.some((firing) => !isRecoveryOf(signal, firing))
    // The state stays unchanged, so a recovery beside a deferred alert would fire now and again later. It is deferred,
    // too.
    const taken = isUnnotified && next.stateIfDeferred === undefined ? [] : fresh
    state = isUnnotified ? (next.stateIfDeferred ?? state) : next.state
    const hasRecovery = signal.events.recovery !== undefined
    const step = {
      isFiring: hasRecovery && phase === 'firing',
      isAlert: alert !== undefined,
      at: observation.at,
    }
    const { imposed, ...times } = timesAfter(before, step, cooldownSeconds)
    after = {
      phase: nextPhase,
      since: before?.phase === nextPhase ? (after?.since ?? null) : startOf(alert, observation),
      streak: streak ?? null,
      severity: nextPhase === 'firing' ? openSeverity(before, alert) : null,
      lastEvidenceAt: observation.at,
      ...times,
    }
    last = after
    deferredUntil =
      isDeferred || isUnnotified ? endOfCooldown(after, cooldownSeconds, observation) : null
    for (const firing of taken) {
      const candidate = toCandidate({ type, signal, isRecoveryNotified }, firing, observation)
      candidates.push({
        place,
        candidate: candidate.isRecovery
          ? { ...candidate, episodeSeverity }
          : { ...candidate, ...(imposed && { cooldownUntil: imposed }) },
      })
    }
  }
  return { state: z.encode(signal.state, state), after, deferredUntil, candidates }
}

function toCandidate(
  { type, signal, isRecoveryNotified }: Omit<SignalOf, 'view'>,
  firing: Firing,
  { position, at }: Observed,
): FoldedCandidate {
  const isRecovery = isRecoveryOf(signal, firing)
  return {
    ...firing,
    type,
    signal: signal.id,
    group: signal.group,
    isRecovery,
    isNotified: !isRecovery || isRecoveryNotified,
    position,
    firedAt: at,
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
function endOfCooldown(times: FoldedTimes, cooldownSeconds: number, { at }: Observed): Date | null {
  const end = cooldownEnd(times, cooldownSeconds)
  return end > at.getTime() ? new Date(end) : null
}

/** Severity of the open episode: the highest severity of its alerts. */
function openSeverity(stored: Last | undefined, alert: Firing | undefined): Severity | null {
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
  stored: Last | undefined,
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
  return stored === undefined || observation.at.getTime() >= cooldownEnd(stored, cooldownSeconds)
}
