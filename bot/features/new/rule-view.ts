import { packed } from '#src/actions/codec.ts'
import { checkedKey, type TextKey, type Translate, typed } from '#src/i18n/translate.ts'
import { SIGNAL_GROUPS } from '#src/kernel/signal-group.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import { RULE_PRESETS, type SettingField } from '#src/watches/form.ts'
import type { Watch } from '#src/watches/model.ts'
import { findWatchType } from '#src/watches/types/index.ts'
import { ALL_ASSETS } from '#src/watches/types/own-coin.ts'
import {
  fieldLabel,
  fieldsOfRule,
  fieldText,
  presetsOf,
  promptKey,
  type SettingWithOwner,
  valueText,
} from '../../views/fields.ts'
import { textHtml } from '../../views/markup.ts'
import {
  act,
  choiceButton,
  inRows,
  pageRow,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { factsOf, formOf, propertyOf, typeLine } from '../../views/watch-facts.ts'
import { chosenSignals, signalShort } from '../signals/view.ts'
import type { Draft } from './draft.ts'
import {
  describedDraft,
  isOn,
  lastRow,
  onlyTypedSetting,
  RULES,
  stepsOf,
  titleLine,
} from './view.ts'

/** Lines about the target and its observation. */
function previewLines(reader: Reader, draft: Draft, now: Date): readonly (string | undefined)[] {
  const described = describedDraft(draft)
  const observationLine = typeLine(reader, described, 'now', now)
  return [
    typeLine(reader, described, 'target', now),
    observationLine ?? typeLine(reader, described, 'unread', now),
  ]
}

/**
 * The step of the rule.
 * @param watched another watch of the wallet with the same target
 */
export function ruleStep(
  reader: Reader,
  draft: Draft,
  options: { readonly now: Date; readonly watched: Pick<Watch, 'id' | 'label'> | undefined },
): View {
  const { t } = reader
  const { rev, values } = draft
  const fields = fieldsOfRule(values.type, values.rule)
  const sole = onlyTypedSetting(values)
  const askedSetting = fields.find(({ field }) => field.code === values.asking)
  const { watched } = options
  const head = [
    titleLine(reader, draft),
    ...previewLines(reader, draft, options.now),
    values.preview?.isKnown === false ? `⚠️ ${t.html('bot:new.notRegistered')}` : undefined,
    watched === undefined
      ? undefined
      : `⚠️ ${t.html('bot:new.watched', { label: typed(watched.label) })}`,
    '',
  ]
  const openButtons =
    watched === undefined
      ? []
      : [act(t('bot:button.openIt'), packed('watch.card', { id: watched.id }))]
  const last = lastRow(reader, draft, labelOfStepBefore(reader, draft))
  if (values.asking === RULES) return ruleChoice(reader, draft, head)
  if (askedSetting !== undefined) {
    const lines = [...head, fieldQuestion(t, askedSetting), ...askedHint(t, askedSetting)]
    const rows = fieldRows(reader, draft, askedSetting, askedSetting)
    return screen(lines, [...rows, lastRow(reader, draft, t('bot:button.rule'))])
  }
  const next = act(t('bot:button.next'), packed('new.next', { rev }), 'primary')
  const presets = presetChoice(reader, draft)
  if (presets !== undefined) {
    const rule = typeLine(reader, describedDraft(draft), 'rule', options.now)
    return screen(
      [...head, ...presets.lines, '', rule],
      [...presets.rows, otherRules(reader, draft), [next, ...openButtons], last],
    )
  }
  const questions = fields.flatMap((setting, index) => [
    ...(index > 0 ? [''] : []),
    fieldQuestion(t, setting),
    ...(setting.field === sole?.field ? [t.html(promptKey(setting.field))] : []),
  ])
  const signals = fields.length === 0 ? signalLines(reader, draft) : []
  return screen(
    [...head, ...questions, ...signals],
    [
      ...fields.flatMap((setting) => fieldRows(reader, draft, setting, sole)),
      ...(fields.length === 0 ? signalRows(reader, draft) : []),
      otherRules(reader, draft),
      [
        ...(sole === undefined || values.settings[sole.field.key] !== undefined ? [next] : []),
        ...openButtons,
      ],
      last,
    ],
  )
}

function labelOfStepBefore({ t }: Reader, { values }: Draft): string {
  if (values.rule !== null) return t('bot:button.rule')
  return stepsOf(values.type).includes('target') ? t('bot:button.target') : t('bot:button.types')
}

/** The rules of a type, to choose one. */
function ruleChoice(reader: Reader, draft: Draft, head: readonly (string | undefined)[]): View {
  const { t } = reader
  const { rev, values } = draft
  const rules = formOf(values.type)?.rules ?? []
  const buttons = rules
    .filter(({ key }) => key !== 'daysLeft' || !isOfAllAssets(draft))
    .map(({ key }) =>
      act(
        t(checkedKey(`bot:rule.${values.type}.${key}`)),
        packed('new.set', { rev, field: RULES, value: key }),
      ),
    )
  return screen(
    [...head, t.html('bot:new.askRule')],
    [...inRows(buttons, 2), lastRow(reader, draft, t('bot:button.rule'))],
  )
}

/** Whether the draft is of all assets of a wallet, which have no days left. */
function isOfAllAssets({ values }: Draft): boolean {
  return propertyOf(values.preview?.target, 'asset') === ALL_ASSETS
}

/** Button to the other rules of a type; empty for a type without, and where a rule was chosen. */
function otherRules({ t }: Reader, { rev, values }: Draft): readonly Button[] {
  if (values.rule !== null || formOf(values.type)?.rules === undefined) return []
  return [act(t('bot:button.otherRule'), packed('new.ask', { rev, field: RULES }))]
}

/** Hint about the values that can be typed; a choice has buttons only. */
function askedHint(t: Translate, { field }: SettingWithOwner): readonly string[] {
  return field.kind === 'choice' ? [] : [t.html(promptKey(field))]
}

/** Lines and buttons of a type's presets, and a button for each setting; undefined for a type without presets. */
function presetChoice(
  reader: Reader,
  { rev, values }: Draft,
): { readonly lines: readonly string[]; readonly rows: Rows } | undefined {
  const { t } = reader
  const presets = formOf(values.type)?.presets
  if (presets === undefined || values.rule !== null) return undefined
  const fields = fieldsOfRule(values.type, values.rule)
  const facts = factsOf({ ...describedDraft({ id: '', rev, wallet: '', values }) })
  const textOfValue = (setting: SettingWithOwner, value: string) =>
    valueText(reader, setting, value, facts)
  const named = RULE_PRESETS.map((name) => ({ name, settings: presets[name] }))
  const lines = named.map(({ name, settings }) => {
    const parts = fields.flatMap((setting) => {
      const value = settings[setting.field.key]
      return value === undefined ? [] : [textOfValue(setting, value)]
    })
    return `<b>${t.html(`bot:button.preset.${name}`)}</b> · ${textHtml(parts.join(' · '))}`
  })
  const choices = named.map(({ name, settings }) => {
    const isChosen = Object.entries(settings).every(
      ([key, value]) => values.settings[key] === value,
    )
    const label = t(`bot:button.preset.${name}`)
    const data = packed('new.set', { rev, field: 'pre', value: name })
    return choiceButton(label, isChosen, data)
  })
  const settingButtons = fields.map((setting) => {
    const value = textOfValue(
      setting,
      values.settings[setting.field.key] ?? String(setting.field.suggested),
    )
    const label = t('bot:more.value', { field: fieldLabel(t, setting), value })
    return act(label, packed('new.ask', { rev, field: setting.field.code }))
  })
  return {
    lines: [t.html('bot:new.askPreset'), ...lines],
    rows: [choices, ...inRows(settingButtons, 2)],
  }
}

function fieldQuestion(t: Translate, setting: SettingWithOwner): string {
  return fieldText(t, setting, 'ask') ?? fieldLabel(t, setting)
}

function fieldRows(
  reader: Reader,
  { rev, values }: Draft,
  setting: SettingWithOwner,
  sole: SettingWithOwner | undefined,
): Rows {
  const { t } = reader
  const { field } = setting
  const chosen = values.settings[field.key]
  const facts = factsOf({ ...describedDraft({ id: '', rev, wallet: '', values }) })
  const isSole = sole?.field === field
  const presets = presetsOf(reader, setting, facts)
  const isTyped = chosen !== undefined && presets.every(({ value }) => value !== chosen)
  const buttons = presets.map(({ value, label }) => {
    const data = packed('new.set', { rev, field: field.code, value })
    const isSuggested = isSole && chosen === undefined && value === String(field.suggested)
    return choiceButton(label, chosen === value, data, isSuggested ? 'primary' : undefined)
  })
  const ask = packed('new.ask', { rev, field: field.code })
  // The button for typing another value shows the value that was typed.
  const label = isTyped ? valueText(reader, setting, chosen, facts) : t(otherKey(field))
  const other =
    isTyped || !(field.kind === 'choice' || isSole) ? [choiceButton(label, isTyped, ask)] : []
  return inRows([...buttons, ...other], 3)
}

/** Label of the button for typing another value. */
function otherKey(field: SettingField): TextKey {
  if (field.kind === 'duration') return 'bot:button.otherPeriod'
  const isPercent = field.kind !== 'choice' && field.unit === 'percent'
  return isPercent ? 'bot:button.otherPercent' : 'bot:button.otherAmount'
}

/** Lines about the signals, for a type without settings. */
function signalLines({ t }: Reader, { values }: Draft): readonly string[] {
  const signals = findWatchType(values.type)?.signals ?? []
  if (signals.length === 1) {
    return signals.map(({ id }) => t.html(checkedKey(`signals:${values.type}.${id}.description`)))
  }
  const on = signals.filter(({ id, defaultEnabled }) => isOn(values.signals, id, defaultEnabled))
  return [
    t.html('bot:new.askSignals'),
    t.html('bot:new.signalsOn', { on: on.length, total: signals.length }),
  ]
}

function signalRows({ t }: Reader, { rev, values }: Draft): Rows {
  const signals = findWatchType(values.type)?.signals ?? []
  if (signals.length === 1) return []
  const choice = (value: 'def' | 'crt' | 'all', label: string) => {
    const wanted = chosenSignals(signals, value)
    const isChosen = signals.every(
      ({ id, defaultEnabled }, index) =>
        isOn(values.signals, id, defaultEnabled) === wanted[index]?.enabled,
    )
    return choiceButton(label, isChosen, packed('new.set', { rev, field: 'sig', value }))
  }
  const usual = signals.filter(({ defaultEnabled }) => defaultEnabled).length
  const critical = signals.filter(({ canBeCritical }) => canBeCritical).length
  // Each label fits its row with a tick and without, so that no button moves when the tick does.
  return [
    [
      choice('def', t('bot:button.usualSignals', { count: usual })),
      choice('all', t('bot:button.allSignals', { count: signals.length })),
    ],
    [choice('crt', t('bot:button.criticalSignals', { count: critical }))],
    [act(t('bot:button.chooseSignals'), packed('new.set', { rev, field: 'sig', value: 'choose' }))],
  ]
}

/** The signals of one group, to be switched on and off in the draft; one group per page. */
export function signalsStep(reader: Reader, draft: Draft): View {
  const { t } = reader
  const { rev, values } = draft
  const signals = findWatchType(values.type)?.signals ?? []
  const groups = SIGNAL_GROUPS.filter((group) => signals.some((signal) => signal.group === group))
  const page = Math.min(values.page, groups.length)
  const group = groups[page - 1]
  if (group === undefined) throw new Error('the watch type has no signals to choose from')
  const members = signals.filter((signal) => signal.group === group)
  const lines = [
    titleLine(reader, draft),
    t.html('bot:new.group', { group: t(`signals:group.${group}.label`) }),
    t.html(`signals:group.${group}.help`),
    '',
    ...members.map(({ id, defaultEnabled }) => {
      const text = t.html('bot:signals.member', {
        signal: signalShort(t, values.type, id),
        description: t(checkedKey(`signals:${values.type}.${id}.description`)),
      })
      return `${isOn(values.signals, id, defaultEnabled) ? '✓' : '○'} ${text}`
    }),
    '',
    t.html('bot:help.marks'),
  ]
  const toggles = members.map(({ id, defaultEnabled }) => {
    const mark = isOn(values.signals, id, defaultEnabled) ? '✓' : '○'
    return act(
      `${mark} ${signalShort(t, values.type, id)}`,
      packed('new.flip', { rev, signal: id }),
    )
  })
  return screen(lines, [
    ...inRows(toggles, 2),
    pageRow(page, groups.length, (to) => packed('new.page', { rev, page: to })),
    [act(t('bot:button.next'), packed('new.next', { rev }), 'primary')],
    lastRow(reader, draft, t('bot:button.rule')),
  ])
}
