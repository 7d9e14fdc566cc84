/** Transitions between the steps of the wizard. Pure. */

import { isDeepStrictEqual } from 'node:util'
import type { Translate } from '#src/i18n/translate.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { RULE_PRESETS, settingValue } from '#src/watches/form.ts'
import { getWatchType } from '#src/watches/types/index.ts'
import { fieldsOfRule } from '../../views/fields.ts'
import { formOf } from '../../views/watch-facts.ts'
import { chosenSignals } from '../signals/view.ts'
import type { Draft, DraftValues } from './draft.ts'
import { TYPED_TOKEN } from './targets.ts'
import { isOn, nameOf, onlyTypedSetting, RULES } from './view.ts'

/** Changes by the short name of a choice, or of a setting of the type; undefined for an invalid value. */
export function changesOfChoice(
  draft: Draft,
  code: string,
  value: string,
): Partial<DraftValues> | undefined {
  const { values } = draft
  switch (code) {
    case 'tok':
      return value === TYPED_TOKEN
        ? { asking: null }
        : { parts: { ...values.parts, asset: value }, asking: null }
    case 'pre': {
      const name = RULE_PRESETS.find((preset) => preset === value)
      const chosen = name && formOf(values.type)?.presets?.[name]
      return chosen && { settings: { ...values.settings, ...chosen }, asking: null }
    }
    case RULES: {
      const rules = formOf(values.type)?.rules ?? []
      const place = rules.findIndex(({ key }) => key === value)
      return place < 0 ? undefined : ruleChanges(values.type, place === 0 ? null : value)
    }
    case 'sev': {
      const minSeverity = SEVERITIES.find((severity) => severity === value)
      return minSeverity && { minSeverity }
    }
    case 'who':
      return { step: 'people' }
    case 'sig': {
      if (value === 'choose') return { step: 'choose', page: 1 }
      const choice = (['all', 'crt', 'def'] as const).find((option) => option === value)
      return choice && { signals: [...chosenSignals(getWatchType(values.type).signals, choice)] }
    }
    default:
      return settingBy(draft, code, value)
  }
}

/** The settings with which a rule begins: the suggested ones, but for the one whose press completes the rule. */
export function firstSettings(type: string, rule: string | null): Record<string, string> {
  const sole = onlyTypedSetting({ type, rule })
  return Object.fromEntries(
    fieldsOfRule(type, rule).flatMap(({ field }) =>
      field === sole?.field ? [] : [[field.key, String(field.suggested)]],
    ),
  )
}

function ruleChanges(type: string, rule: string | null): Partial<DraftValues> {
  return { rule, settings: firstSettings(type, rule), asking: null }
}

/** A setting by the short name of its field; undefined for an invalid name or value. */
function settingBy(
  { values }: Draft,
  code: string,
  value: string,
): Partial<DraftValues> | undefined {
  const owned = fieldsOfRule(values.type, values.rule).find(({ field }) => field.code === code)
  if (owned === undefined) return undefined
  const { key } = owned.field
  const isSole = onlyTypedSetting(values)?.field === owned.field
  const settings = { ...values.settings, [key]: value }
  const checked = getWatchType(values.type).settings.safeParse(encodedSettings(values, settings), {
    reportInput: true,
  })
  if (checked.error?.issues.some(({ path }) => path[0] === key)) return undefined
  return { settings, asking: null, step: isSole ? 'check' : values.step }
}

/** Whether a draft already has these choices. */
export function isChosen({ values }: Draft, changes: Partial<DraftValues>): boolean {
  const on = ({ signals }: Pick<DraftValues, 'signals'>) =>
    getWatchType(values.type).signals.map(({ id, defaultEnabled }) =>
      isOn(signals, id, defaultEnabled),
    )
  const after = { ...values, ...changes }
  return isDeepStrictEqual({ ...after, signals: on(after) }, { ...values, signals: on(values) })
}

/** The chosen settings, encoded. */
function encodedSettings(
  { type, rule }: Pick<DraftValues, 'type' | 'rule'>,
  settings: Readonly<Record<string, string>>,
) {
  return Object.fromEntries(
    fieldsOfRule(type, rule).flatMap(({ field }) => {
      const text = settings[field.key]
      return text === undefined ? [] : [[field.key, settingValue(field, text)]]
    }),
  )
}

/** The step after the draft's. */
export function stepAfter({ values }: Draft): Partial<DraftValues> {
  const isComplete = fieldsOfRule(values.type, values.rule).every(
    ({ field }) => values.settings[field.key] !== undefined,
  )
  switch (values.step) {
    case 'rule':
    case 'choose':
      return isComplete ? { step: 'check', asking: null } : {}
    case 'people':
      return { step: 'check' }
    default:
      return {}
  }
}

/** The step before the draft's; undefined if that is the choice of a type. */
export function stepBefore({ values }: Draft): Partial<DraftValues> | undefined {
  const hasTarget = (formOf(values.type)?.target.length ?? 0) > 0
  if (values.asking !== null) return { asking: null, page: 1 }
  switch (values.step) {
    case 'target':
      return undefined
    case 'rule':
      if (values.rule !== null) return { ...ruleChanges(values.type, null), asking: RULES }
      return hasTarget ? { step: 'target' } : undefined
    case 'choose':
    case 'check':
      return { step: 'rule' }
    case 'people':
      return { step: 'check' }
    case 'done':
      return {}
    default:
      return values.step satisfies never
  }
}

/** The body of the operation that creates the watch. */
export function newWatchBody(t: Translate, draft: Draft) {
  const { type, preview, settings, recipientIds, minSeverity, signals } = draft.values
  const definitions = getWatchType(type).signals
  const name = nameOf(t, draft)
  return {
    type,
    target: preview?.target ?? {},
    settings: encodedSettings(draft.values, settings),
    signals: definitions.length === 1 ? [] : signals,
    recipientIds,
    minSeverity,
    ...(name !== undefined && { label: name }),
  }
}
