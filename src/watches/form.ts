/**
 * What a person needs to make a watch and to change it, as data beside its type: which questions are
 * asked, what can be answered, and what the type's texts are filled with. Front doors for people are made
 * from it, so that a new type needs no screen of its own.
 *
 * Texts follow the keys: `bot:field.<type>.<key>.label` (`.ask`, `.help`), `bot:option.<type>.<key>.<option>`,
 * and the lines `bot:type.<type>.target`, `.now` and `.rule`, the last with the chosen options instead of
 * `rule` where there are any.
 */
import type { DisplayValues } from '#src/kernel/display-values.ts'

/** A part of the target: what is observed. */
export interface TargetField {
  /** The property of the target. */
  readonly key: string
  readonly kind: 'address' | 'asset' | 'feed' | 'provider'
}

interface SettingBase {
  /** The property of the settings. */
  readonly key: string
  /** Its short name on buttons: two to four letters, once in the type. */
  readonly code: string
}

/** A number with decimals, or a whole one. */
export interface NumberField extends SettingBase {
  readonly kind: 'decimal' | 'integer'
  /** What it counts: the observed asset, percent, or credits. */
  readonly unit: 'asset' | 'percent' | 'credits'
  /** Bounds, both included, as decimal text. */
  readonly min: string
  readonly max: string
  /** Most decimals. */
  readonly decimals: number
  /** What most people choose, rising, as decimal text. */
  readonly presets: readonly string[]
  /** The one of them that is suggested. */
  readonly suggested: string
  /** Shares of a fact, offered beside the presets: 0.01 of the balance. */
  readonly shares?: { readonly of: string; readonly parts: readonly number[] }
  /** Whether the settings hold it as text or as a number. */
  readonly as: 'text' | 'number'
}

/** A length of time in whole seconds. */
export interface DurationField extends SettingBase {
  readonly kind: 'duration'
  readonly min: number
  readonly max: number
  readonly presets: readonly number[]
  readonly suggested: number
}

/** One of several words. */
export interface ChoiceField extends SettingBase {
  readonly kind: 'choice'
  readonly options: readonly string[]
  readonly suggested: string
}

/** A setting: how what is observed is judged. */
export type SettingField = NumberField | DurationField | ChoiceField

/** What a type's facts are made from. */
export interface Seen<Target, Settings, Observation> {
  readonly target: Target
  /** undefined while they are still being chosen. */
  readonly settings: Settings | undefined
  /** The last observation; undefined while there is none. */
  readonly observation: Observation | undefined
}

/** How people make and read watches of one type. */
export interface SignalForm<Target = unknown, Settings = unknown, Observation = unknown> {
  /** One emoji. */
  readonly icon: string
  /** Asked first, in this order. Empty: it looks at its owner's own. */
  readonly target: readonly TargetField[]
  readonly settings: readonly SettingField[]
  /** Values for the type's texts. */
  facts(seen: Seen<Target, Settings, Observation>): DisplayValues
}

/** The settings as they are suggested, encoded. */
export function suggestedSettings(guide: Pick<SignalForm, 'settings'>): Record<string, unknown> {
  return Object.fromEntries(
    guide.settings.map((field) => [field.key, settingValue(field, String(field.suggested))]),
  )
}

/** A setting's value out of its text, as the settings hold it. */
export function settingValue(field: SettingField, text: string): string | number {
  const isText = field.kind === 'choice' || (field.kind !== 'duration' && field.as === 'text')
  return isText ? text : Number(text)
}
