import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import type { Fence } from '#src/db/leases.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { FieldError } from '#src/kernel/errors.ts'
import { Instant } from '#src/kernel/units.ts'
import type { WatchTypeFacts } from './facts.ts'
import type { SignalForm } from './form.ts'
import type { History } from './history.ts'
import type { Observed, Signal, SignalDefinition } from './signal.ts'

/** Sources of observations. */
export interface ObservationSources {
  readonly chain: FspChain
  /** Data that several watch types share, including stored history. */
  readonly facts: WatchTypeFacts
  /** Fence of the only process that may write stored history. */
  readonly fence?: Fence | undefined
}

/** The public description of a watch type. */
export interface WatchTypeDefinition {
  readonly name: string
  readonly signals: readonly SignalDefinition[]
}

/** One kind of watch: its observations and the signals that judge them. */
export interface WatchType<
  Target = unknown,
  Settings = unknown,
  Observation extends Observed = Observed,
> extends WatchTypeDefinition {
  /** Source of the observations: the type is a `ChainWatchType` or a `LedgerWatchType`. */
  readonly reads: 'chain' | 'ledger'
  /** Schema of the target. Equal targets share one observation. */
  readonly target: z.ZodType<Target>
  /** Schema of the settings by which a watch judges. */
  readonly settings: z.ZodType<Settings>
  /** Schema of the stored observation. */
  readonly observation: z.ZodType<Observation>
  /** Validates a new watch against the chain. @returns errors; empty if the watch is valid */
  check(
    sources: Pick<ObservationSources, 'chain'>,
    target: Target,
    settings: Settings,
  ): Promise<readonly FieldError[]>
  /** Resolves a target to its canonical form, for example any address of a provider to its identity address. */
  resolve?(sources: Pick<ObservationSources, 'chain'>, target: Target): Promise<Target>
  /** Label of a watch to which the person gave none. The same in every language. */
  defaultLabel(target: Target): string
  /** Form by which people create and read watches of this type. */
  readonly form: SignalForm<Target, Settings, Observation>
  /** Past observations of a target, for backtests. */
  readonly history: History<Target, Settings, Observation>
  readonly signals: readonly Signal<Target, Settings, Observation>[]
}

/** One target to observe. */
export interface ObservationRequest<Target = unknown, KeySettings = unknown> {
  readonly target: Target
  /** The settings that decide what is observed; undefined for types without them. */
  readonly keySettings: KeySettings
  /** Whether the target has never been observed. */
  readonly isNew: boolean
  /**
   * Last observation of the target, decoded; null before the first observation, and if it cannot be parsed.
   */
  readonly last: Observed | null
}

/** Blocks that one observation covers. */
export interface BlockSpan {
  /** The newest block of the previous observation; null before the first observation. */
  readonly after: number | null
  readonly upTo: BlockRef
}

/**
 * Summary of all watches on a target, by which observations that change none of the watches are skipped. Meant for
 * types whose targets are shared by many watches and whose observations seldom cause alerts: without a prefilter every
 * price of a feed would be judged for each watch on the feed.
 */
export interface Prefilter<Settings = unknown, Observation = unknown, Summary = unknown> {
  /** Schema of the summary, which is stored with the observation. */
  readonly schema: z.ZodType<Summary>
  readonly empty: Summary
  /**
   * Adds a watch, as it is after the observation, to the summary. Its signals' states are encoded, by id.
   * Adding an equal watch again changes nothing.
   */
  add(
    summary: Summary,
    watch: { readonly settings: Settings; readonly states: ReadonlyMap<string, unknown> },
    observation: Observation,
  ): Summary
  /** Whether the observation changes none of the watches. */
  isQuiet(summary: Summary, observation: Observation): boolean
}

/** Data that another reader stores, and that a type needs. */
export interface Watermark {
  /** Interval in seconds at which `block` moves while the reader works. */
  readonly everySeconds: number
  /** Block up to which the data is stored; no later block is observed. undefined if there is no data yet. */
  block(sources: ObservationSources): Promise<BlockRef | undefined>
}

/** A kind of watch that observes the chain, at every tick. */
export interface ChainWatchType<
  Target = unknown,
  Settings = unknown,
  Observation extends Observed = Observed,
  KeySettings = unknown,
  Summary = unknown,
> extends WatchType<Target, Settings, Observation> {
  readonly reads: 'chain'
  /**
   * Interval between observations in seconds of the chain's time; 0 for every tick. New targets are
   * observed at once.
   */
  readonly everySeconds: number
  /**
   * `state`: the newest observation is enough, and may be judged again. `history`: each observation is an
   * event, and is judged exactly once.
   */
  readonly evidence: 'state' | 'history'
  /** For `history`: maximum number of blocks of one batch; further batches follow until the tip. */
  readonly blocksPerBatch?: number
  /** The stored data from which the type is observed; omitted if the type reads the chain itself. */
  readonly watermark?: Watermark
  /**
   * Settings that decide what is observed, such as the window of a feed's moves. Watches that differ in
   * them have separate targets.
   */
  readonly keySettings?: {
    readonly schema: z.ZodType<KeySettings>
    of(settings: Settings): KeySettings
  }
  /**
   * Observes the targets in a span, in the given order and with few requests: returns observations with
   * rising positions, empty if nothing happened. undefined means that there is no data; then no watch is
   * judged.
   */
  observe(
    sources: ObservationSources,
    requests: readonly ObservationRequest<Target, KeySettings>[],
    span: BlockSpan,
    signal?: AbortSignal,
  ): Promise<readonly (readonly Observation[] | undefined)[]>
  /** Whether two observations are equivalent; then no watch is evaluated. */
  isSame?(a: Observation, b: Observation): boolean
  readonly prefilter?: Prefilter<Settings, Observation, Summary>
}

/** The credits of a wallet after a ledger entry, or when a watch is created or changed. */
export const CreditsObservation = z.object({
  /**
   * Number of the observation of the wallet. Not the number of the entry, because a changed watch observes
   * the same entry again.
   */
  position: z.int(),
  at: Instant,
  /** Position of the ledger entry; 0 before the first entry. */
  entry: z.int(),
  balanceCredits: z.int(),
  /** Time and price of the next renewal of slots. */
  nextRenewal: z.object({ at: Instant, credits: z.int() }).nullable(),
})

export type CreditsObservation = z.output<typeof CreditsObservation>

/**
 * A kind of watch that observes its owner's ledger, after every entry. Its target is empty, because the
 * observed wallet is the owner's. There is only one such type. It is not a `ChainWatchType`, because it observes neither
 * blocks nor a target: its watches are judged by the balance after each entry.
 */
export interface LedgerWatchType<Settings = unknown>
  extends WatchType<EmptyTarget, Settings, CreditsObservation> {
  readonly reads: 'ledger'
}

/** The target of a watch of its owner's ledger. */
export type EmptyTarget = Readonly<Record<string, never>>

/** Completes a watch type with the defaults: `state`, observed at every tick. */
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

/** Completes a watch type that observes the ledger. */
export function defineLedgerWatchType<Settings>(
  type: Omit<LedgerWatchType<Settings>, 'reads' | 'target' | 'observation' | 'check'>,
): LedgerWatchType<Settings> {
  const fixedParts = {
    target: z.strictObject({}),
    observation: CreditsObservation,
    check: async () => [],
  }
  return { ...type, ...fixedParts, reads: 'ledger' }
}
