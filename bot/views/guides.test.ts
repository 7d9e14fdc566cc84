import { describe, expect, test } from 'vitest'
import { hasText, translator } from '#src/i18n/translate.ts'
import { suggestedSettings } from '#src/watches/form.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { findField, presetsOf, readValue, valueText } from './fields.ts'

/** Short names used in every form. */
const RESERVED = ['tok', 'sev', 'who', 'sig', 'lab']

const reader = { t: translator('en'), timezone: 'UTC', isGroup: false, bot: 'watchdog_bot' }

describe.each(REGISTRY)('the guide of $name', (type) => {
  const { name, form: guide } = type
  const owned = guide.settings.map((field) => ({ owner: name, field }))

  test('suggests settings that the type takes', () => {
    expect(type.settings.safeParse(suggestedSettings(guide)).success).toBe(true)
  })

  test('has unique short names of settings', () => {
    const codes = guide.settings.map(({ code }) => code)
    expect(new Set([...codes, ...RESERVED]).size).toBe(codes.length + RESERVED.length)
    for (const code of codes) expect(findField(name, code)?.field.code).toBe(code)
  })

  test('offers presets inside its bounds, also the suggested one', () => {
    for (const setting of owned) {
      const offered = presetsOf(reader, setting, {}).map(({ value }) => value)
      const { field } = setting
      // Levels of a price are offered as fractions of the price of now.
      if (offered.length > 0) expect(offered).toContain(String(field.suggested))
      else expect('shares' in field && field.shares !== undefined, field.key).toBe(true)
      if (field.kind !== 'decimal' && field.kind !== 'integer') continue
      for (const value of offered) {
        expect(readValue(reader, setting, value, {}).ok, value).toBe(true)
      }
    }
  })

  test('has a text for each question, option and line', () => {
    const options = owned.flatMap(({ field }) =>
      field.kind === 'choice' ? field.options.map((option) => [field.key, option] as const) : [],
    )
    const rules = owned.some(({ field }) => field.kind === 'choice')
      ? options.map(([, option]) => option)
      : ['rule']
    const isTuned = type.signals.length > 1
    const keys = [
      `bot:button.type.${name}`,
      ...(guide.target.length > 0 ? [`bot:type.${name}.target`, `bot:type.${name}.unread`] : []),
      `bot:type.${name}.now`,
      `bot:type.${name}.value`,
      ...(isTuned && guide.rules === undefined
        ? []
        : rules.map((rule) => `bot:type.${name}.${rule}`)),
      ...(guide.rules ?? []).map(({ key }) => `bot:rule.${name}.${key}`),
      ...(guide.rules ?? []).slice(1).map(({ key }) => `bot:type.${name}.${key}`),
      ...owned.flatMap(({ field: { key } }) =>
        ['label', 'ask', 'help'].map((what) => `bot:field.${name}.${key}.${what}`),
      ),
      ...options.map(([key, option]) => `bot:option.${name}.${key}.${option}`),
    ]
    expect(keys.filter((key) => !hasText(key))).toEqual([])
  })

  test('shows every suggested value as text', () => {
    for (const setting of owned) {
      expect(valueText(reader, setting, String(setting.field.suggested), {})).not.toBe('')
    }
  })
})
