/**
 * Form with which a person creates or changes a watch, described as data of the watch type: the questions,
 * the possible answers, and the values for the type's texts. Front doors for people are generated from the
 * form, so a new type needs no separate screen.
 *
 * Texts follow the keys: `bot:field.<type>.<key>.label` (`.ask`, `.help`),
 * `bot:option.<type>.<key>.<option>`, and the lines `bot:type.<type>.<line>`: `target`, `unread`, `now`,
 * `value`, and the rule. The rule's key is `rule`, or, for a type with options, the chosen options joined by
 * dots.
 */
import type { DisplayValues } from '#src/kernel/display-values.ts'

/** A part of the target. */
export interface TargetField {
  /** Property of the target. */
  readonly key: string
  readonly kind: 'address' | 'asset' | 'feed' | 'provider'
}

interface SettingBase {
  /** Property of the settings. */
  readonly key: string
  /** Short name on buttons: two to four letters, unique in the type. */
  readonly code: string
}

/** A number with decimals, or a whole one. */
export interface NumberField extends SettingBase {
  readonly kind: 'decimal' | 'integer'
  /** Unit: the observed asset, US dollars, percent, credits, or days. */
  readonly unit: 'asset' | 'usd' | 'percent' | 'credits' | 'days'
  /** Bounds, both included, as decimal text. */
  readonly min: string
  readonly max: string
  /** Maximum number of decimals. */
  readonly decimals: number
  /** Common values, rising, as decimal text. */
  readonly presets: readonly string[]
  /** The suggested preset. */
  readonly suggested: string
  /**
   * Fractions of a display value that are offered in addition to the presets, such as 0.01 of the balance.
   */
  readonly shares?: { readonly of: string; readonly parts: readonly number[] }
  /** Type of the value in the settings. */
  readonly as: 'text' | 'number'
}

/** A duration in whole seconds. */
export interface DurationField extends SettingBase {
  readonly kind: 'duration'
  readonly min: number
  readonly max: number
  readonly presets: readonly number[]
  readonly suggested: number
}

/** A choice of several words. */
export interface ChoiceField extends SettingBase {
  readonly kind: 'choice'
  readonly options: readonly string[]
  readonly suggested: string
}

/** A setting of a watch that a person chooses. */
export type SettingField = NumberField | DurationField | ChoiceField

/** Input of a type's display values. */
export interface DisplayInput<Target, Settings, Observation> {
  readonly target: Target
  /** undefined while the person chooses the settings. */
  readonly settings: Settings | undefined
  /** The last observation; undefined before the first observation. */
  readonly observation: Observation | undefined
}

/**
 * A rule by which a watch can alert. A watch has one or several of those of its type; a setting of another rule than the
 * first is missing unless a person chose it.
 */
export interface FormRule {
  /** Text: `bot:rule.<type>.<key>`. */
  readonly key: string
  /** Keys of its settings; without the first one a watch does not have the rule. */
  readonly fields: readonly [string, ...string[]]
}

/** Names of the presets of a rule, the least sensitive first. */
export const RULE_PRESETS = ['calm', 'usual', 'nervous'] as const
export type RulePreset = (typeof RULE_PRESETS)[number]

/** Form by which people create and read watches of one type. */
export interface SignalForm<Target = unknown, Settings = unknown, Observation = unknown> {
  /** Icon of the type, one emoji. */
  readonly icon: string
  /** Questions about the target, in order. Empty for watches of the owner's ledger. */
  readonly target: readonly TargetField[]
  readonly settings: readonly SettingField[]
  /** For types with several rules: all of them, the suggested one first. */
  readonly rules?: readonly FormRule[]
  /**
   * For types with several numbers: named sets of settings, by key and as text. A person chooses a whole
   * set.
   */
  readonly presets?: Readonly<Record<RulePreset, Readonly<Record<string, string>>>>
  /** Returns the values for the type's texts. */
  facts(seen: DisplayInput<Target, Settings, Observation>): DisplayValues
}

/** The settings of a rule of a type, of the suggested one if none is named; of a type without rules all. */
export function settingsOfRule(
  { settings, rules }: Pick<SignalForm, 'settings' | 'rules'>,
  key?: string,
): readonly SettingField[] {
  const rule = rules?.find((candidate) => candidate.key === key) ?? rules?.[0]
  return rule === undefined ? settings : settings.filter((field) => rule.fields.includes(field.key))
}

/** The suggested settings, encoded. */
export function suggestedSettings(
  form: Pick<SignalForm, 'settings' | 'rules'>,
): Record<string, unknown> {
  return Object.fromEntries(
    settingsOfRule(form).map((field) => [field.key, settingValue(field, String(field.suggested))]),
  )
}

/** Parses a setting's value from its text. */
export function settingValue(field: SettingField, text: string): string | number {
  const isText = field.kind === 'choice' || (field.kind !== 'duration' && field.as === 'text')
  return isText ? text : Number(text)
}
