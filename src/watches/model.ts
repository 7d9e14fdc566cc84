/**
 * A watch is a wallet's request to be alerted about a target: its type decides what is observed, its settings and
 * signals decide which observations cause alerts. It takes one slot of the wallet until it is deleted, even while it is
 * paused. Equal targets of one type share one row and one observation, across all wallets.
 */

import { z } from 'zod'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { Label, textOf } from '#src/kernel/label.ts'
import { type Address, Id, Instant } from '#src/kernel/units.ts'
import { isAskedFor, type Phase, type Signal } from './signal.ts'
import { REGISTRY } from './types/index.ts'

/** Maximum number of recipients that a watch names. */
const RECIPIENTS_MAX = 20
/** Maximum cooldown between two alerts, in seconds: 30 days. */
const COOLDOWN_SECONDS_MAX = 30 * DAY_SECONDS

/** Number of signals of the type with the most. */
const SIGNALS_MAX = Math.max(...REGISTRY.map(({ signals }) => signals.length))

const MinSeverity = z.enum(SEVERITIES)
const CooldownSeconds = z.int().min(0).max(COOLDOWN_SECONDS_MAX)
const RecipientIds = z.array(Id).max(RECIPIENTS_MAX)
/** Minutes without an acknowledgement before an alert is sent to further recipients: 5 minutes to a day. */
const EscalateAfterMinutes = z.int().min(5).max(1440)
/** Exclusive, because that is published as `oneOf`: generators of clients know no list of types. */
export const ParameterValue = z.xor([z.number(), z.boolean()])

/** Choices for one signal of a watch; omitted choices have their defaults. */
export const SignalChoice = z
  .strictObject({
    id: textOf(0, 64),
    enabled: z.boolean().optional(),
    recovery: z.strictObject({ enabled: z.boolean() }).optional(),
    parameters: z.record(z.string(), ParameterValue).optional(),
  })
  .meta({ id: 'SignalChoice' })
export type SignalChoice = z.output<typeof SignalChoice>

/** The choices for the signals of a watch, as stored. Built once, because building a schema is slower than using it. */
export const SignalChoices = z.array(SignalChoice)

/** Complete setting of one signal of a watch. */
export const SignalSetting = z
  .object({
    id: z.string(),
    enabled: z.boolean(),
    recovery: z.object({ enabled: z.boolean() }).optional(),
    parameters: z.record(z.string(), ParameterValue),
  })
  .meta({ id: 'SignalSetting' })
export type SignalSetting = z.output<typeof SignalSetting>

const common = {
  label: Label.optional(),
  recipientIds: RecipientIds.nullish().meta({ description: 'operations:field.watchRecipients' }),
  minSeverity: MinSeverity.default('info'),
  cooldownSeconds: CooldownSeconds.default(0).meta({ description: 'operations:field.cooldown' }),
  escalateAfterMinutes: EscalateAfterMinutes.nullish().meta({
    description: 'operations:field.escalateAfterMinutes',
  }),
  escalateTo: RecipientIds.optional().meta({ description: 'operations:field.escalateTo' }),
}

const [firstType, ...otherTypes] = REGISTRY.map(({ name, target, settings, signals }) =>
  z
    .strictObject({
      type: z.literal(name),
      target,
      // Optional for types without required settings.
      settings: settings.safeParse({}).success ? settings.prefault({}) : settings,
      ...common,
      signals: z.array(SignalChoice).max(signals.length).meta({ uniqueItems: true }).optional(),
    })
    .meta({ id: `${schemaName(name)}WatchRequest` }),
)
if (firstType === undefined) throw new Error('there is no watch type')

/** The name of a watch type as part of a schema’s name: `WalletBalance` for `wallet-balance`. */
function schemaName(type: string): string {
  return type.replaceAll(/(?:^|-)(\w)/g, (_whole, letter: string) => letter.toUpperCase())
}

/** Body of `POST /watches`, with one variant per watch type. */
export const NewWatch = z
  .discriminatedUnion('type', [firstType, ...otherTypes])
  .meta({ id: 'WatchRequest' })
export type NewWatch = z.output<typeof NewWatch>

/** Body of `PATCH /watches/{id}`: signals merge by id, settings by field; type and target never change. */
export const WatchChanges = z
  .strictObject({
    label: Label.optional(),
    settings: z.record(z.string(), z.unknown()).optional(),
    signals: z.array(SignalChoice).max(SIGNALS_MAX).meta({ uniqueItems: true }).optional(),
    recipientIds: RecipientIds.nullish().meta({ description: 'operations:field.watchRecipients' }),
    minSeverity: MinSeverity.optional(),
    cooldownSeconds: CooldownSeconds.optional().meta({ description: 'operations:field.cooldown' }),
    escalateAfterMinutes: EscalateAfterMinutes.nullish().meta({
      description: 'operations:field.escalateAfterMinutes',
    }),
    escalateTo: RecipientIds.optional().meta({ description: 'operations:field.escalateTo' }),
    status: z.enum(['active', 'paused']).optional(),
    mutedUntil: Instant.nullish().meta({ description: 'operations:field.mutedUntil' }),
  })
  .meta({ id: 'WatchChanges' })
export type WatchChanges = z.output<typeof WatchChanges>

/** State of a signal. */
export const SignalState = z
  .object({
    id: z.string(),
    state: z.enum(['unknown', 'ok', 'pending', 'firing'] satisfies Phase[]),
    since: Instant.nullable().meta({ description: 'operations:field.signalSince' }),
    severity: MinSeverity.nullable().meta({ description: 'operations:field.openSeverity' }),
    streak: z.int().optional(),
    lastEvidenceAt: Instant.nullable().meta({ description: 'operations:field.lastDataAt' }),
  })
  .meta({ id: 'SignalState' })
export type SignalState = z.output<typeof SignalState>

const WATCH_STATUSES = ['active', 'paused', 'suspended'] as const
/**
 * `nobody_is_notified`: `notifies` is empty, so that alerts of the watch are recorded and sent to nobody.
 * `escalation_is_heard_already`: all recipients of its escalation are in `notifies`, so that it tells nobody else.
 */
const WATCH_WARNINGS = ['nobody_is_notified', 'escalation_is_heard_already'] as const
export type WatchWarning = (typeof WATCH_WARNINGS)[number]

/** A watch as callers see it. */
export const Watch = z
  .object({
    id: Id,
    type: z.enum(REGISTRY.map((type) => type.name)),
    label: z.string(),
    target: z.unknown().meta({ description: 'operations:field.watchTarget' }),
    settings: z.unknown().meta({ description: 'operations:field.byType' }),
    signals: z.array(SignalSetting),
    recipientIds: z.array(Id).nullable().meta({ description: 'operations:field.watchRecipients' }),
    notifies: z.array(Id).meta({ description: 'operations:field.watchNotifies' }),
    warnings: z.array(z.enum(WATCH_WARNINGS)).meta({
      description: 'operations:field.watchWarnings',
    }),
    minSeverity: MinSeverity,
    cooldownSeconds: CooldownSeconds.meta({ description: 'operations:field.cooldown' }),
    escalateAfterMinutes: EscalateAfterMinutes.nullable().meta({
      description: 'operations:field.escalateAfterMinutes',
    }),
    escalateTo: z.array(Id).meta({ description: 'operations:field.escalateTo' }),
    status: z.enum(WATCH_STATUSES),
    mutedUntil: Instant.nullable().meta({ description: 'operations:field.mutedUntil' }),
    health: z.enum(['ok', 'no_data']).meta({ description: 'operations:field.watchHealth' }),
    signalStates: z.array(SignalState),
    createdAt: Instant,
    updatedAt: Instant,
    lastEvaluatedAt: Instant.nullable(),
    lastObservation: z.unknown().meta({ description: 'operations:field.lastObservation' }),
    version: z.int().meta({ description: 'operations:field.watchVersion' }),
  })
  .meta({ id: 'Watch' })
export type Watch = z.output<typeof Watch>

/** A watch without what depends on the wallet's recipients, which are another room's. */
export type UnaddressedWatch = Omit<Watch, 'notifies' | 'warnings'>

/** A watch as an evaluation needs it, with the settings as stored, which the watch type's schema decodes. */
export interface EvaluatedWatch {
  readonly id: number
  readonly wallet: Address
  readonly label: string
  readonly settings: unknown
  readonly signals: readonly SignalChoice[]
  readonly recipientIds: readonly number[] | null
  readonly minSeverity: (typeof SEVERITIES)[number]
  readonly cooldownSeconds: number
  /**
   * Minutes after which an unacknowledged alert is escalated; undefined or null if alerts are not
   * escalated.
   */
  readonly escalateAfterMinutes?: number | null
  /** Recipients of escalated alerts. */
  readonly escalateTo?: readonly number[]
  readonly mutedUntil: Date | null
  readonly states: readonly StoredState[]
}

/** Stored state of a signal between observations. */
export interface StoredState {
  readonly signal: string
  /** State, encoded by the signal's schema. */
  readonly state: unknown
  readonly phase: Phase
  readonly since: Date
  readonly streak: number | null
  readonly severity: (typeof SEVERITIES)[number] | null
  readonly lastEvidenceAt: Date
  readonly lastFiredAt: Date | null
  /** The newest times at which the signal began and ceased to fire, also untold: an odd number while it fires. */
  readonly changes: readonly Date[]
  /** End of the cooldown that frequent changes imposed; null if none is running. */
  readonly cooldownUntil: Date | null
}

/**
 * Completes the choice for each signal that a watch with these settings has: the watch's choices override the signal's
 * defaults.
 */
export function completeSignals(
  signals: readonly Signal[],
  choices: readonly SignalChoice[],
  settings: unknown,
): SignalSetting[] {
  const own = signals.filter((signal) => isAskedFor(signal, settings))
  return own.map((signal) => {
    const choice = choices.find(({ id }) => id === signal.id)
    const defaults = Object.fromEntries(signal.parameters.map((p) => [p.key, p.default]))
    return {
      id: signal.id,
      enabled: choice?.enabled ?? signal.defaultEnabled,
      ...(signal.events.recovery && {
        recovery: { enabled: choice?.recovery?.enabled ?? true },
      }),
      parameters: { ...defaults, ...choice?.parameters },
    }
  })
}
