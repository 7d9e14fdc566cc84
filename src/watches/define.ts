import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import type { Fence } from '#src/db/lock.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Presentation, Severity } from '#src/kernel/display-values.ts'
import type { FieldError } from '#src/kernel/errors.ts'
import type { SignalGroup } from '#src/kernel/signal-group.ts'
import { Instant, type JsonObject } from '#src/kernel/units.ts'
import type { Facts } from './facts.ts'
import type { SignalForm } from './form.ts'

/** A fact about a target at a moment of its source. */
export interface Observed {
  /** Its place among the observations of the target, rising: on the chain the block's number. */
  readonly position: number
  /** The moment, by the source's own time: the block's, the ledger entry's. */
  readonly at: Date
}

/** Where observations come from. */
export interface Sources {
  readonly chain: FspChain
  /** What several types share, and what is remembered of the past. */
  readonly facts: Facts
  /** The right to write what is remembered of the past as the one process that observes. */
  readonly fence?: Fence | undefined
}

/** What an evaluator returns for one event. The recorded form is an alert. */
export interface Firing {
  readonly event: string
  readonly severity: Severity
  /** Event-specific values, as webhooks carry them. */
  readonly data: JsonObject
}

/** unknown: nothing judged yet. pending: bad, below the streak. firing: an episode is open. */
export type Phase = 'unknown' | 'ok' | 'pending' | 'firing'

/** One fold step: the next state, how the signal stands, and what fired. */
export interface Evaluation<State> {
  readonly state: State
  /**
   * Of a signal that fires once: the state when the cooldown holds back its alerts, so that they come again
   * and the recoveries beside them do not. Without it both wait and the state stays as it was.
   */
  readonly stateIfDeferred?: State
  readonly phase: Phase
  readonly streak?: number
  readonly firings: readonly Firing[]
}

/** A tuning value of a signal: bounds check, catalogue and editor come from this line. */
export type Parameter =
  | {
      readonly key: string
      readonly type: 'integer' | 'number'
      readonly default: number
      readonly min: number
      readonly max: number
      readonly step?: number
    }
  | { readonly key: string; readonly type: 'boolean'; readonly default: boolean }

export type ParameterValues = Readonly<Record<string, number | boolean>>

/** How one watch requests at its target. */
export interface WatchView<Target, Settings> {
  readonly target: Target
  readonly settings: Settings
  readonly parameters: ParameterValues
}

/** What everybody may know of a signal: what the catalogue says and a watch is checked against. */
export interface SignalDefinition {
  readonly id: string
  readonly group: SignalGroup
  readonly events: { readonly alerts: readonly string[]; readonly recovery?: string }
  readonly defaultEnabled: boolean
  readonly parameters: readonly Parameter[]
  /** An alert of it can be critical. */
  readonly canBeCritical: boolean
  /**
   * Its state says what it has told, so that each of its firings is told, also while an episode is open;
   * one that the cooldown holds back leaves the state as it was and comes again at the next look.
   */
  readonly firesOnce: boolean
}

/**
 * One thing a watch type can notice.
 *
 * `evaluate` is a pure fold: previous state, one observation and the watch's view in, next state and
 * firings out. It knows the source's time only, so a replay gives the same answer. It returns what holds at
 * this observation; whether that is news (an episode already open, recovery switched off, cooldown) is
 * decided once for all signals in `evaluate/evaluate.ts`.
 */
export interface Signal<
  Target = unknown,
  Settings = unknown,
  Observation extends Observed = Observed,
  State = unknown,
> extends SignalDefinition {
  /** Schema of the state between observations, as it is stored. */
  readonly state: z.ZodType<State>
  readonly initial: State
  evaluate(
    previous: State,
    observation: Observation,
    watch: WatchView<Target, Settings>,
  ): Evaluation<State>
  /** Whether an observation concerns it; without it every one does. Others leave the signal as it was. */
  judges?(observation: Observation): boolean
  /** Schema of the data of all its events. Programs put up with more than it names. */
  readonly data: z.ZodType
  /** What an alert of this signal shows, from the stored event and data alone. */
  present(event: string, data: JsonObject): Presentation
  /** Where its alerts are of several things, each with an episode of its own; without it all are of one. */
  readonly episodes?: {
    /** The values of an alert's data that say which thing it is of. */
    readonly by: readonly string[]
    /** Whether a recovery is that of an episode, by the data of one and the last alert of the other. */
    isOver(recovery: JsonObject, last: Pick<Firing, 'event' | 'data'>): boolean
  }
  /** Data of a believable example per event, for tests, previews and documents. */
  readonly examples: Readonly<Record<string, JsonObject>>
}

/** What everybody may know of a watch type. */
export interface WatchTypeDefinition {
  readonly name: string
  readonly signals: readonly SignalDefinition[]
}

/** One kind of watch: what it observes and the signals that judge it. */
export interface WatchType<
  Target = unknown,
  Settings = unknown,
  Observation extends Observed = Observed,
> extends WatchTypeDefinition {
  /** Where its observations come from, and so who requests: see the two kinds below. */
  readonly reads: 'chain' | 'ledger'
  /** What is observed. Equal targets share one observation. */
  readonly target: z.ZodType<Target>
  /** How a watch judges it. */
  readonly settings: z.ZodType<Settings>
  /** Schema of an observation, as the last one is kept. */
  readonly observation: z.ZodType<Observation>
  /** What only the chain can tell about a new watch: wrong places, [] if nothing is wrong. */
  check(
    sources: Pick<Sources, 'chain'>,
    target: Target,
    settings: Settings,
  ): Promise<readonly FieldError[]>
  /** The target as the chain knows it, whatever it was called: by name, by another of its addresses. */
  resolve?(sources: Pick<Sources, 'chain'>, target: Target): Promise<Target>
  /** Name of a watch that was given none. The same in every language. */
  defaultLabel(target: Target): string
  /** How people make and read watches of this type. */
  readonly form: SignalForm<Target, Settings, Observation>
  readonly signals: readonly Signal<Target, Settings, Observation>[]
}

/** One target to be looked at. */
export interface ObservationRequest<Target = unknown, KeySettings = unknown> {
  readonly target: Target
  /** What of its watches' settings decides what is observed; undefined for types without them. */
  readonly keySettings: KeySettings
  /** It has never been observed. */
  readonly isNew: boolean
}

/** Which blocks a look covers. */
export interface Span {
  /** The newest block of the last look; null before the first. */
  readonly after: number | null
  readonly upTo: BlockRef
}

/**
 * Keeps many watches from being visited where few can fire: sums up all watches on a target so that an
 * observation can be told to concern none of them. For types whose targets many share and whose observations
 * seldom fire: without it every price of a feed would be judged for each of its watches.
 */
export interface Prefilter<Settings = unknown, Observation = unknown, Summary = unknown> {
  /** Schema of the summary, as it is stored beside the observation. */
  readonly schema: z.ZodType<Summary>
  readonly empty: Summary
  /** Adds one watch as the observation left it: the states of its signals by id, encoded. */
  add(
    summary: Summary,
    watch: { readonly settings: Settings; readonly states: ReadonlyMap<string, unknown> },
    observation: Observation,
  ): Summary
  /** Whether the observation can change nothing for any of them. */
  isQuiet(summary: Summary, observation: Observation): boolean
}

/** How far facts are known. */
export interface Reach {
  readonly block: number
  /** Since when they cannot be read on; null while they can. */
  readonly failingSince: Date | null
}

/** A kind of watch that requests at the chain, at every tick. */
export interface ChainWatchType<
  Target = unknown,
  Settings = unknown,
  Observation extends Observed = Observed,
  KeySettings = unknown,
  Summary = unknown,
> extends WatchType<Target, Settings, Observation> {
  readonly reads: 'chain'
  /** Seconds of the chain's time between requests; 0 looks at every tick. New targets never wait. */
  readonly everySeconds: number
  /**
   * `state`: an observation says all there is, so the newest one is enough and may be judged again.
   * `history`: each says what happened once; every one is judged, exactly once.
   */
  readonly evidence: 'state' | 'history'
  /** For `history`: the longest span of one look, in blocks; further requests follow until the tip. */
  readonly blocksPerLook?: number
  /**
   * How far its facts are known, where others read them beforehand: nothing is looked at beyond it.
   * undefined: nothing is known yet.
   */
  watermark?(sources: Sources): Promise<Reach | undefined>
  /**
   * Watches that differ in this part of their settings look at different things: targets of their own.
   * So the moves of a feed over different windows are observed apart.
   */
  readonly keySettings?: {
    readonly schema: z.ZodType<KeySettings>
    of(settings: Settings): KeySettings
  }
  /**
   * What there is to see of every target in the span, in the order given and in as few requests as
   * possible: observations with rising positions, none where nothing happened. undefined means no data:
   * nothing is judged then.
   */
  observe(
    sources: Sources,
    requests: readonly ObservationRequest<Target, KeySettings>[],
    span: Span,
    signal?: AbortSignal,
  ): Promise<readonly (readonly Observation[] | undefined)[]>
  /** Whether two observations say the same, so that no watch need be evaluated. */
  isSame?(a: Observation, b: Observation): boolean
  readonly prefilter?: Prefilter<Settings, Observation, Summary>
}

/** The credits of a wallet after a ledger entry, or as a new or changed watch finds them. */
export const Balance = z.object({
  /** Counts the requests at this wallet: a watch that changes looks again at the same entry. */
  position: z.int(),
  at: Instant,
  /** The ledger entry's position; 0 before the first. */
  entry: z.int(),
  balanceCredits: z.int(),
  /** When credits are needed next to keep slots, and how many. */
  nextRenewal: z.object({ at: Instant, credits: z.int() }).nullable(),
})
export type Balance = z.output<typeof Balance>

/**
 * A kind of watch that requests at the owner's own ledger, after every entry. Its target is empty: the
 * wallet is the owner's. A kind of its own, though of one type, because it has no block
 * and no target to observe: it is judged by the balance after each entry of its owner's ledger.
 */
export interface LedgerWatchType<Settings = unknown>
  extends WatchType<EmptyTarget, Settings, Balance> {
  readonly reads: 'ledger'
}

/** The target of a watch that requests at its owner's own. */
export type EmptyTarget = Readonly<Record<string, never>>

/** A signal as it is written down: what is usual may be left out. */
type SignalInput<One extends SignalDefinition> = Omit<One, keyof typeof DEFAULTS> &
  Partial<Pick<One, keyof typeof DEFAULTS>>

const DEFAULTS = {
  defaultEnabled: true,
  parameters: [],
  canBeCritical: false,
  firesOnce: false,
} as const

/** Completes an entry with the usual values: enabled, no parameters, never critical, one open episode. */
export function defineSignal<Target, Settings, Observation extends Observed, State>(
  signal: SignalInput<Signal<Target, Settings, Observation, State>>,
): Signal<Target, Settings, Observation, State> {
  return { ...DEFAULTS, ...signal }
}

/** Completes an entry with what is usual: a state, looked at every tick. */
export function defineWatchType<
  Target,
  Settings,
  Observation extends Observed,
  KeySettings = unknown,
  Summary = unknown,
>(
  type: Omit<
    ChainWatchType<Target, Settings, Observation, KeySettings, Summary>,
    'reads' | 'evidence' | 'everySeconds'
  > &
    Partial<Pick<ChainWatchType, 'evidence' | 'everySeconds'>>,
): ChainWatchType<Target, Settings, Observation, KeySettings, Summary> {
  return { everySeconds: 0, evidence: 'state', ...type, reads: 'chain' }
}

/** The same for a type that requests at the ledger. */
export function defineLedgerWatchType<Settings>(
  type: Omit<LedgerWatchType<Settings>, 'reads' | 'target' | 'observation' | 'check'>,
): LedgerWatchType<Settings> {
  const own = { target: z.strictObject({}), observation: Balance, check: async () => [] }
  return { ...type, ...own, reads: 'ledger' }
}
