import { packed } from '#src/actions/codec.ts'
import { formatChance } from '#src/i18n/chance.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { helpText, SIGNAL_HELP_SECTIONS } from '#src/i18n/signal-help.ts'
import { checkedKey, hasText, id, type Translate, typed } from '#src/i18n/translate.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import type { Parameter, SignalDefinition } from '#src/watches/signal.ts'
import { findWatchType } from '#src/watches/types/index.ts'
import type { TypedParameter } from '../../core/typed-input.ts'
import { textHtml } from '../../views/markup.ts'
import { nearTime } from '../../views/time.ts'
import {
  act,
  back,
  choiceButton,
  inRows,
  labelWithName,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { backToCard } from '../watches/edit-view.ts'
import { DISABLED_MARK, ENABLED_MARK, markOf, type SignalView, signalShort } from './view.ts'

function signalLabel(t: Translate, type: string, signal: string): string {
  return t(checkedKey(`signals:${type}.${signal}.label`))
}

interface SignalOptions {
  readonly now: Date
  /** Whether the help is open. */
  readonly isHelped?: boolean
  /** Line about the last action: HTML. */
  readonly notice?: string
}

/** Card of one signal: description, settings, state, and help. */
export function signalCard(
  reader: Reader,
  watch: Watch,
  signal: SignalView,
  options: SignalOptions,
): View {
  const { t } = reader
  const { definition, setting } = signal
  const { now, isHelped = false, notice } = options
  const key = `signals:${watch.type}.${definition.id}`
  const { parameters } = definition
  const lines = [
    t.html('bot:signal.title', {
      signal: signalLabel(t, watch.type, definition.id),
      group: t(`signals:group.${definition.group}.label`),
      label: typed(watch.label),
    }),
    ...stateLine(reader, signal, now),
    '',
    t.html(checkedKey(`${key}.description`)),
    '',
    setting.enabled ? onLine(t, signal) : t.html('bot:signal.off'),
    ...(setting.enabled
      ? parameters.flatMap((parameter) => parameterLines(reader, watch, signal, parameter))
      : []),
    isHelped ? helpQuote(t, watch.type, definition.id) : undefined,
    notice,
  ]
  return screen(lines, [
    [switchButton(reader, watch, signal)],
    ...(setting.enabled
      ? parameters.flatMap((parameter) => parameterRows(reader, watch, signal, parameter))
      : []),
    [backFrom(reader, watch, definition), helpButton(reader, watch, definition.id, isHelped)],
  ])
}

function onLine(t: Translate, { setting }: SignalView): string {
  if (setting.recovery === undefined) return t.html('bot:signal.on')
  return t.html(setting.recovery.enabled ? 'bot:signal.onRecovery' : 'bot:signal.onNoRecovery')
}

function stateLine(reader: Reader, signal: SignalView, now: Date): readonly string[] {
  const { t } = reader
  const { state, setting } = signal
  if (!setting.enabled || state === undefined || state.since === null) return []
  const seconds = (now.getTime() - state.since.getTime()) / 1000
  const values = {
    duration: formatDuration(seconds, t.locale, 'short'),
    streak: state.streak ?? 0,
    since: nearTime(reader, state.lastEvidenceAt ?? state.since, now),
  }
  const key = `bot:signal.state.${state.state}${state.streak === undefined ? '' : 'Streak'}`
  return hasText(key) ? [`${markOf(signal)} ${t.html(key, values)}`] : []
}

function parameterLines(
  { t }: Reader,
  watch: Watch,
  { definition, setting }: SignalView,
  parameter: Parameter,
): readonly string[] {
  const key = `signals:${watch.type}.${definition.id}.${parameter.key}`
  const value = setting.parameters[parameter.key] ?? parameter.default
  const label = t(checkedKey(`${key}.label`))
  const line =
    parameter.type === 'boolean'
      ? t.html('bot:signal.switch', { label, value: switchText(t, value === true) })
      : t.html('bot:signal.parameter', {
          label,
          value: parameterText(t, parameter, Number(value)),
          min: parameterText(t, parameter, parameter.min),
          max: parameterText(t, parameter, parameter.max),
          default: parameterText(t, parameter, parameter.default),
        })
  return [line, `<i>${t.html(checkedKey(`${key}.help`))}</i>`]
}

function switchText(t: Translate, isOn: boolean): string {
  return t(isOn ? 'bot:value.on' : 'bot:value.off')
}

/** The value of a parameter as a person reads it; numbers that are not whole are probabilities. */
function parameterText({ locale }: Translate, { type }: TypedParameter, value: number) {
  return id(type === 'number' ? formatChance(value, locale) : String(value))
}

/** The bounds and the default of a parameter, as a person reads and types them. */
export function parameterBounds(t: Translate, parameter: TypedParameter) {
  const { min, max, default: usual } = parameter
  return {
    min: parameterText(t, parameter, min),
    max: parameterText(t, parameter, max),
    example: parameterText(t, parameter, usual),
  }
}

/** A value in the data of a button, which is short. */
function packedNumber(value: number): string {
  return value < SMALL ? value.toExponential() : String(value)
}

const SMALL = 0.01

function switchButton({ t }: Reader, watch: Watch, { definition, setting }: SignalView): Button {
  const data = packed('signal.flip', { id: watch.id, signal: definition.id })
  return setting.enabled ? act(t('bot:button.off'), data) : act(t('bot:value.on'), data, 'primary')
}

function parameterRows(
  { t }: Reader,
  watch: Watch,
  { definition, setting }: SignalView,
  parameter: Parameter,
): Rows {
  const params = { id: watch.id, signal: definition.id, parameter: parameter.key }
  const value = setting.parameters[parameter.key] ?? parameter.default
  if (parameter.type === 'boolean') {
    const label = t(checkedKey(`signals:${watch.type}.${definition.id}.${parameter.key}.label`))
    const mark = value === true ? ENABLED_MARK : DISABLED_MARK
    const text = labelWithName(label, (name) => `${mark} ${isolate(name)}`)
    return [[act(text, packed('signal.set', { ...params, value: value === true ? '0' : '1' }))]]
  }
  const presets = parameterPresets(parameter).map((preset) => {
    const { text } = parameterText(t, parameter, preset)
    return choiceButton(
      text,
      preset === value,
      packed('signal.set', { ...params, value: packedNumber(preset) }),
    )
  })
  const other = act(t('bot:button.otherNumber'), packed('signal.ask', params))
  return inRows([...presets, other], parameter.type === 'number' ? 2 : 3)
}

const WHOLE_NUMBERS = [1, 2, 3, 5, 10, 15, 20, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000]
/** A stricter limit than the default, which has a button of its own; three odds would not fit the rows of a screen. */
const STRICTER = 1e-2
const PRESETS_MAX = 5

/**
 * Offered values of a number: of a whole number the default and values near it within the bounds, in rising order; of a
 * probability a stricter one.
 */
function parameterPresets(parameter: TypedParameter): readonly number[] {
  const { min, max, default: usual } = parameter
  const fits = (value: number) => value >= min && value <= max
  if (parameter.type === 'number') {
    return [Number((usual * STRICTER).toPrecision(2))].filter(fits)
  }
  const far = (value: number) => Math.abs(Math.log(value / usual))
  return [...new Set([usual, ...WHOLE_NUMBERS])]
    .filter(fits)
    .toSorted((a, b) => far(a) - far(b))
    .slice(0, PRESETS_MAX)
    .toSorted((a, b) => a - b)
}

function helpQuote(t: Translate, type: string, signal: string): string {
  const texts = SIGNAL_HELP_SECTIONS.flatMap((section) => {
    const text = helpText(t, { type, signal }, section)
    return text === undefined
      ? []
      : [`<b>${t.html(`messages:button.${section}`)}</b>\n${textHtml(text)}`]
  })
  return `<blockquote expandable>${texts.join('\n\n')}</blockquote>`
}

function helpButton({ t }: Reader, watch: Watch, signal: string, isOpen: boolean): Button {
  const params = { id: watch.id, signal }
  const data = isOpen ? packed('signal.card', params) : packed('signal.help', params)
  return choiceButton(t('bot:button.help'), isOpen, data)
}

function backFrom({ t }: Reader, watch: Watch, { group }: SignalDefinition): Button {
  if ((findWatchType(watch.type)?.signals ?? []).length === 1) return backToCard(watch)
  const label = t(`signals:group.${group}.label`)
  return back(isolate(label), packed('signal.group', { id: watch.id, group }))
}

/** Question for a signal's parameter. */
export function parameterEditor(
  { t }: Reader,
  watch: Watch,
  { definition, setting }: SignalView,
  parameter: TypedParameter,
): View {
  const key = `signals:${watch.type}.${definition.id}.${parameter.key}`
  const lines = [
    `✏️ ${t.html('bot:edit.title', {
      field: t(checkedKey(`${key}.label`)),
      label: typed(watch.label),
    })}`,
    '',
    t.html(checkedKey(`${key}.help`)),
    t.html('bot:edit.current', {
      value: parameterText(
        t,
        parameter,
        Number(setting.parameters[parameter.key] ?? parameter.default),
      ),
    }),
    '',
    t.html(
      parameter.type === 'number' ? 'bot:edit.sendChance' : 'bot:edit.sendBetween',
      parameterBounds(t, parameter),
    ),
  ]
  const card = packed('signal.card', { id: watch.id, signal: definition.id })
  return screen(lines, [[back(isolate(signalShort(t, watch.type, definition.id)), card)]])
}
