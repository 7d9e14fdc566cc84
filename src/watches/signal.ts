import type { z } from 'zod'
import type { Presentation, Severity } from '#src/kernel/display-values.ts'
import type { SignalGroup } from '#src/kernel/signal-group.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import type { ClaimBuilder } from './evidence-model.ts'

/** Base of an observation of a target. */
export interface Observed {
  /** Number that rises from one observation of the target to the next: on the chain the block number. */
  readonly position: number
  /** Time by the clock of the source: of the block, or of the ledger entry. */
  readonly at: Date
}

/** Result of an evaluator for one event. Its recorded form is an alert. */
export interface Firing {
  readonly event: string
  readonly severity: Severity
  /** Event-specific values, in the form of webhooks. */
  readonly data: JsonObject
}

/**
 * Phase of a signal. `unknown`: not judged yet. `pending`: bad but without an open episode, because the streak is too
 * short, a waiting time is not over, or the cooldown defers the alert. `firing`: an episode is open.
 */
export type Phase = 'unknown' | 'ok' | 'pending' | 'firing'

/** Result of one fold step: the next state, the phase, and the firings. */
export interface Evaluation<State> {
  readonly state: State
  /**
   * For a signal that fires once: the state to store when the cooldown defers its alerts, so that the
   * alerts repeat and simultaneous recoveries do not. If omitted, alerts and recoveries are both deferred
   * and the state is unchanged.
   */
  readonly stateIfDeferred?: State
  readonly phase: Phase
  readonly streak?: number
  readonly firings: readonly Firing[]
}

interface NumberParameter {
  readonly key: string
  readonly default: number
  readonly min: number
  readonly max: number
  readonly step?: number
}

/** A parameter of a signal. Validation, catalogue and editor are derived from it. */
export type Parameter =
  | (NumberParameter & {
      readonly type: 'integer'
      readonly unit: 'rounds' | 'minutes' | 'days' | 'coin' | 'percent'
    })
  /** A probability. */
  | (NumberParameter & { readonly type: 'number' })
  | { readonly key: string; readonly type: 'boolean'; readonly default: boolean }

export type ParameterValues = Readonly<Record<string, number | boolean>>

/** A watch as its evaluators see it. */
export interface WatchView<Target, Settings> {
  readonly target: Target
  readonly settings: Settings
  readonly parameters: ParameterValues
}

/** The public description of a signal, for the catalogue and the validation of watches. */
export interface SignalDefinition {
  readonly id: string
  readonly group: SignalGroup
  readonly events: { readonly alerts: readonly string[]; readonly recovery?: string }
  readonly defaultEnabled: boolean
  readonly parameters: readonly Parameter[]
  /** Whether the signal can fire critical alerts. */
  readonly canBeCritical: boolean
  /**
   * Whether the signal's state records which events were notified. Then each firing is notified, even while
   * an episode is open. A firing that the cooldown defers leaves the state unchanged and repeats at the
   * next observation.
   */
  readonly firesOnce: boolean
  /** Key of the setting without which the signal has nothing to judge; a watch without that setting lacks the signal. */
  readonly setting?: string
}

/** Whether a watch with these settings, encoded or decoded, has the signal. */
export function isAskedFor(
  { setting }: Pick<SignalDefinition, 'setting'>,
  settings: unknown,
): boolean {
  if (setting === undefined) return true
  if (typeof settings !== 'object' || settings === null) return false
  return (Object.entries(settings).find(([key]) => key === setting)?.[1] ?? null) !== null
}

/**
 * A condition or event that a watch type detects.
 *
 * `evaluate` is a pure fold: it takes the previous state, one observation and the watch's view, and returns the next
 * state and the firings at this observation. It reads no clock but the time of the observation, so a replay has the
 * same result. Code for all signals (`evaluate/evaluate.ts`) decides which firings become alerts: an episode may be
 * open already, recoveries switched off, or a cooldown running.
 */
export interface Signal<
  Target = unknown,
  Settings = unknown,
  Observation extends Observed = Observed,
  State = unknown,
> extends SignalDefinition {
  /** Schema of the stored state between observations. */
  readonly state: z.ZodType<State>
  readonly initial: State
  evaluate(
    previous: State,
    observation: Observation,
    watch: WatchView<Target, Settings>,
  ): Evaluation<State>
  /**
   * Whether an observation concerns the signal; by default every observation does. Other observations leave
   * the signal's state unchanged.
   */
  judges?(observation: Observation): boolean
  /** Schema of the data of all events of the signal. Consumers ignore unknown properties. */
  readonly data: z.ZodType
  /**
   * The data of an open alert with its figures as they are now, by the signal's state; the data itself where the
   * state is that of another episode. Omitted if the figures of an alert do not grow.
   */
  current?(data: JsonObject, state: State): JsonObject
  /** The data of an alert that is over with its last figures, by the data of its recovery; omitted as `current`. */
  atEnd?(data: JsonObject, recovery: JsonObject): JsonObject
  /** Display values of an alert of this signal, from the stored event and data only. */
  present(event: string, data: JsonObject): Presentation
  /** For signals with one episode for each of several subjects; if omitted, the signal has one episode. */
  readonly episodes?: {
    /** Properties of an alert's data that identify its subject. */
    readonly by: readonly string[]
    /** Whether a recovery ends an episode, by the recovery's data and the episode's last alert. */
    isOver(recovery: JsonObject, last: Pick<Firing, 'event' | 'data'>): boolean
  }
  /**
   * Builds the claim of an alert about the chain, or says why there is none; omitted if alerts are not about a data
   * provider.
   */
  readonly claim?: ClaimBuilder
  /** Example data by event, for previews and documents. */
  readonly examples: Readonly<Record<string, JsonObject>>
  /**
   * Data of an example alert of one watch. If omitted, `examples` is used with the watch's target and
   * parameters.
   */
  ownExample?(watch: ExampleWatch<Target, Settings, Observation>): JsonObject
}

/** A watch for which an example alert is built. */
export interface ExampleWatch<Target, Settings, Observation> extends WatchView<Target, Settings> {
  readonly event: string
  /** The entry of `examples`, with current times. */
  readonly example: JsonObject
  /** The last observation; undefined before the first. */
  readonly observation: Observation | undefined
  /** Time of the example. */
  readonly at: Date
}

/** A signal as watch types declare it: properties with defaults are optional. */
type SignalInput<One extends SignalDefinition> = Omit<One, keyof typeof DEFAULTS> &
  Partial<Pick<One, keyof typeof DEFAULTS>>

const DEFAULTS = {
  defaultEnabled: true,
  parameters: [],
  canBeCritical: false,
  firesOnce: false,
} as const

/** Completes a signal with the defaults: enabled, no parameters, never critical, not `firesOnce`. */
export function defineSignal<Target, Settings, Observation extends Observed, State>(
  signal: SignalInput<Signal<Target, Settings, Observation, State>>,
): Signal<Target, Settings, Observation, State> {
  return { ...DEFAULTS, ...signal }
}
