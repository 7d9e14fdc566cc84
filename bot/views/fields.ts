/** Settings in forms: labels, values, presets, and validation. */

import { formatUnits } from 'viem/utils'
import { formatDecimal, formatDuration, formatNumber, formatPercent } from '#src/i18n/format.ts'
import type { Quantity } from '#src/i18n/parse.ts'
import {
  checkedKey,
  hasText,
  id,
  type TextValue,
  type Translate,
  typed,
} from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { type DisplayValues, SEVERITIES } from '#src/kernel/display-values.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { countGraphemes } from '#src/kernel/outside-text.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import { type NumberField, type SettingField, settingsOfRule } from '#src/watches/form.ts'
import {
  type InputProblem,
  type NumberUnit,
  readDuration,
  readNumber,
} from '../core/typed-input.ts'
import { act, type Reader } from './view.ts'
import { formOf } from './watch-facts.ts'

/** Text of a setting that a watch does not have, and value of the button that removes it. */
export const NO_VALUE = 'off'

/** A setting with its owner: a watch type, or every watch (`watch`). */
export interface SettingWithOwner {
  readonly owner: string
  readonly field: SettingField
}

/** Settings that every watch has, in addition to the settings of its type. */
const WATCH_FIELDS: readonly SettingField[] = [
  { key: 'minSeverity', code: 'sev', kind: 'choice', options: SEVERITIES, suggested: 'info' },
]

/** The setting of a type, or of every watch, with this short name. */
export function findField(type: string, code: string): SettingWithOwner | undefined {
  const own = formOf(type)?.settings.find((field) => field.code === code)
  if (own !== undefined) return { owner: type, field: own }
  const general = WATCH_FIELDS.find((field) => field.code === code)
  return general && { owner: 'watch', field: general }
}

/** The settings of a type, in order. */
export function fieldsOf(type: string): readonly SettingWithOwner[] {
  return (formOf(type)?.settings ?? []).map((field) => ({ owner: type, field }))
}

/** The settings of a rule of a type; of the suggested rule if none is named. */
export function fieldsOfRule(type: string, rule: string | null): readonly SettingWithOwner[] {
  const form = formOf(type)
  if (form === undefined) return []
  return settingsOfRule(form, rule ?? undefined).map((field) => ({ owner: type, field }))
}

/** A text about a setting; undefined if there is none. */
export function fieldText(
  t: Translate,
  { owner, field }: SettingWithOwner,
  what: 'label' | 'ask' | 'help',
): string | undefined {
  const key = `bot:field.${owner}.${field.key}.${what}`
  return hasText(key) ? t(key) : undefined
}

/** Label of a setting, on buttons and above its editor. */
export function fieldLabel(t: Translate, { owner, field }: SettingWithOwner): string {
  return t(checkedKey(`bot:field.${owner}.${field.key}.label`))
}

/** Label of an option of a choice. */
function optionText(t: Translate, owner: string, key: string, option: string): string {
  return t(checkedKey(`bot:option.${owner}.${key}.${option}`))
}

/** A setting's value for a reader: `100 FLR`, `5%`, `1 h`, `Incoming`. */
export function valueText(
  { t }: Reader,
  { owner, field }: SettingWithOwner,
  value: string,
  facts: DisplayValues,
): string {
  if (value === NO_VALUE) return t('bot:value.off')
  switch (field.kind) {
    case 'choice':
      return optionText(t, owner, field.key, value)
    case 'duration':
      return value === '0' ? t('bot:value.off') : formatDuration(Number(value), t.locale, 'short')
    case 'decimal':
    case 'integer':
      return numberText(t, field, value, facts)
    default:
      return field satisfies never
  }
}

function numberText(
  t: Translate,
  { unit }: NumberField,
  value: string,
  facts: DisplayValues,
): string {
  const { locale } = t
  if (unit === 'percent') return formatPercent(Number(value) / 100, locale)
  if (unit === 'credits') return formatNumber(Number(value), locale)
  if (unit === 'days') return formatDuration(Number(value) * DAY_SECONDS, locale, 'long')
  if (unit === 'usd') return formatDecimal({ value, symbol: 'USD', rounded: 'none' }, locale)
  const symbol = symbolIn(facts)
  return symbol === undefined
    ? formatDecimal({ value, symbol: '', rounded: 'none' }, locale).trim()
    : formatDecimal({ value, symbol, rounded: 'none' }, locale)
}

/** Symbol of the amounts of a watch. */
function symbolIn(facts: DisplayValues): string | undefined {
  const amount = Object.values(facts).find(({ kind }) => kind === 'amount' || kind === 'decimal')
  if (amount?.kind === 'amount' || amount?.kind === 'decimal') return amount.symbol
  // All assets of a wallet are counted in dollars.
  if (facts.asset?.kind === 'term') return 'USD'
  return facts.asset?.kind === 'name' ? facts.asset.text : undefined
}

/** An offered value with the label of its button. */
export interface SettingPreset {
  readonly value: string
  readonly label: string
}

/** Offered values of a setting: presets, and fractions of the observed amount. */
export function presetsOf(
  reader: Reader,
  owned: SettingWithOwner,
  facts: DisplayValues,
): readonly SettingPreset[] {
  const { field } = owned
  const values = field.kind === 'choice' ? field.options : field.presets.map(String)
  const usual = values.map((value) => ({ value, label: valueText(reader, owned, value, facts) }))
  const shares = sharesOf(reader, owned, facts).filter(({ value }) => !values.includes(value))
  return [...usual, ...shares]
}

/** Maximum length of a value on a button. */
const VALUE_LENGTH_MAX = 14

function sharesOf(
  reader: Reader,
  owned: SettingWithOwner,
  facts: DisplayValues,
): readonly SettingPreset[] {
  const { field } = owned
  if (field.kind !== 'decimal' && field.kind !== 'integer') return []
  const { shares, min } = field
  const whole = shares && facts[shares.of]
  if (shares === undefined || (whole?.kind !== 'amount' && whole?.kind !== 'price')) return []
  const amount = Number(
    whole.kind === 'price' ? whole.value : formatUnits(whole.units, whole.decimals),
  )
  return shares.parts.flatMap((part) => {
    const value = roundedAmount(amount * part)
    if (Number(value) < Number(min) || value.length > VALUE_LENGTH_MAX) return []
    const share = formatPercent(part, reader.t.locale)
    const text = valueText(reader, owned, value, facts)
    return [{ value, label: reader.t('bot:value.share', { share, amount: text }) }]
  })
}

/** Rounds to three significant digits, as decimal text. */
export function roundedAmount(amount: number): string {
  if (amount <= 0) return '0'
  const step = Math.floor(Math.log10(amount)) - 2
  const decimals = Math.max(0, -step)
  const value = (Math.round(amount / 10 ** step) * 10 ** step).toFixed(decimals)
  return decimals === 0 ? value : value.replace(/\.?0+$/, '')
}

/** A typed value as the setting's text, or the refusal: HTML. */
export type ParsedSetting =
  | { readonly ok: true; readonly value: string }
  | {
      readonly ok: false
      readonly html: string
      /** The typed number, if only its unit is refused. */
      readonly other?: Quantity
    }

/** Parses a typed number or duration. Choices are pressed, not typed. */
export function readValue(
  reader: Reader,
  owned: SettingWithOwner,
  text: string,
  facts: DisplayValues,
): ParsedSetting {
  const { field } = owned
  const { t } = reader
  if (field.kind === 'choice') return { ok: false, html: t.html('bot:typed.press') }
  const read =
    field.kind === 'duration'
      ? readDuration(text, field, t.locale)
      : readNumber(text, { ...field, unit: unitOf(field, facts) }, t.locale)
  if (read.ok) return { ok: true, value: String(read.value) }
  const html = problemText(reader, owned, read.reason, text, facts)
  return { ok: false, html, ...(read.reason === 'other_unit' && { other: read.other }) }
}

/** The unit in which people type a number. */
function unitOf({ unit }: NumberField, facts: DisplayValues): NumberUnit {
  if (unit === 'usd') return { symbol: 'USD' }
  return unit === 'asset' ? { symbol: symbolIn(facts) } : unit
}

function problemText(
  reader: Reader,
  owned: SettingWithOwner,
  problem: InputProblem,
  input: string,
  facts: DisplayValues,
): string {
  const { t } = reader
  const { field } = owned
  if (field.kind === 'choice') throw new Error('a choice is not typed')
  const show = (value: string | number) => valueText(reader, owned, String(value), facts)
  const values = { input: typed(cut(input)), min: show(field.min), max: show(field.max) }
  const example = show(field.suggested)
  switch (problem) {
    case 'not_understood':
      return field.kind === 'duration'
        ? t.html('bot:typed.notDuration', values)
        : t.html('bot:typed.notNumber', { ...values, example })
    case 'other_unit':
      if (field.kind === 'duration') throw new Error('a duration has no other unit')
      return unitText(t, unitOf(field, facts), { ...values, example })
    case 'too_small':
      return t.html('bot:typed.tooSmall', values)
    case 'too_big':
      return t.html('bot:typed.tooBig', values)
    case 'too_many_decimals': {
      const count = field.kind === 'duration' ? 0 : field.decimals
      return t.html('bot:typed.decimals', { count, example })
    }
    default:
      return problem satisfies never
  }
}

/**
 * Says in which unit a number is typed.
 * @param values `input`: the refused text. `example`: a value that is taken
 */
export function unitText(
  t: Translate,
  unit: NumberUnit,
  values: Readonly<Record<'input' | 'min' | 'max' | 'example', TextValue>>,
): string {
  if (typeof unit === 'string') return t.html(`bot:typed.unit.${unit}`, values)
  if (unit.symbol === undefined) return t.html('bot:typed.notNumber', values)
  return t.html('bot:typed.unit.amount', { ...values, asset: id(unit.symbol) })
}

/**
 * Offers what a number in another unit is worth: a line, and a button.
 * @param press data of the button
 */
export function insteadOf(
  t: Translate,
  { before, after }: { readonly before: string; readonly after: string },
  press: string,
): { readonly html: string; readonly rows: Rows } {
  return {
    html: t.html('bot:value.share', { share: before, amount: after }),
    rows: [[act(t('bot:button.useValue', { value: after }), press, 'primary')]],
  }
}

const ECHO_MAX = 40

/** Shortens input that a refusal repeats. */
export function cut(text: string): string {
  return cutText(text.replace(/\s+/g, ' '), ECHO_MAX, countGraphemes)
}

/** Key of the prompt for a number, percentage or duration, below buttons with choices. */
export function promptKey(field: SettingField) {
  if (field.kind === 'duration') return 'bot:edit.sendDuration'
  if (field.kind === 'integer') return 'bot:edit.sendWhole'
  return field.kind === 'decimal' && field.unit === 'percent'
    ? 'bot:edit.sendPercent'
    : 'bot:edit.sendNumber'
}
