import { describe, expect, test } from 'vitest'
import { hasText } from '#src/i18n/translate.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { placeholdersOf } from '../support/text-rules.ts'
import { FRAGMENTS } from './fragments.ts'
import { faultsOfRendered, rendered } from './rendered.ts'
import { basesOf, readCatalogue } from './sources.ts'

describe('a text with its values', () => {
  test('is shown with every word that may fill it', () => {
    const texts = {
      'messages:reason.missing': 'missing',
      'messages:reason.late': 'late',
      'messages:reason.early': 'early',
      'messages:reason.bad-length': 'wrong length',
    }
    const place = 'messages:fsp.ftso-commit.title_other'
    const seen = rendered('en', place, 'FTSO commit {{reason}}, {{count}} rounds', texts)
    expect(seen).toContain('FTSO commit wrong length, 0 rounds')
    expect(seen).toContain('FTSO commit late, 0 rounds')
    expect(seen.length).toBeGreaterThanOrEqual(4)
  })

  test('is shown with numbers of its plural form', () => {
    const texts = readCatalogue('ar')
    expect(rendered('ar', 'units:slots_few', '{{count}}', texts)).toEqual(['3'])
    expect(rendered('ar', 'units:slots_many', '{{count}}', texts)).toEqual(['11'])
    expect(rendered('fr', 'bot:a_one', '{{count}}', {})).toEqual(['0', '1'])
    expect(rendered('fr', 'bot:a_one', '{{count}}', { 'bot:a_zero': '' })).toEqual(['1'])
  })

  test('is shown once with a time of day and once with a date, where it may have either', () => {
    const seen = rendered('en', 'bot:rec.off', 'Off since {{time}}.', {})
    expect(seen).toEqual(['Off since 02:34.', 'Off since Nov 21, 02:34.'])
  })

  test.each<readonly [Locale, string, string, string]>([
    ['en', 'bot:home.slots', '{{used}} of {{total}} slots', 'a plural after 1'],
    ['en', 'bot:a', 'Off.. Again', 'two punctuation marks'],
    ['en', 'bot:a', 'Off. (2 rounds)', 'the end of a sentence'],
    ['en', 'bot:settings.digest.daily', 'Daily at  {{time}}', 'two spaces'],
    ['de', 'messages:reminder.open', 'Seit {{duration}} offen', 'a nominative'],
    ['fr', 'bot:home.slots', '{{used}} emplacements', 'a plural after 0 or 1'],
    ['fr', 'bot:alerts.ofWatch', 'de {{label}}', 'an elision'],
    ['bn', 'errors:field.too_big', 'সর্বোচ্চ {{maximum}}।', 'a danda after'],
    ['zh', 'bot:a', '错过3个轮次', 'no space between'],
    ['zh', 'bot:a', '甲、乙和另有 3 个', '“和” twice'],
    ['hi', 'messages:reminder.open', '{{duration}} से खुला', 'a direct case'],
    ['hi', 'errors:field.too_big', 'सीमा {{maximum}}।', 'a danda after'],
    ['ar', 'messages:reminder.open', 'مفتوح منذ {{duration}}', 'a dual in the nominative'],
  ])('is faulty in %s: %s “%s”', (locale, place, text, fault) => {
    expect(faultsOfRendered(locale, place, text).join()).toContain(fault)
  })

  test.each<readonly [Locale, string, string]>([
    ['en', 'bot:home.slots', 'Slots: {{used}} of {{total}}'],
    ['de', 'messages:reminder.open', 'Offen: {{duration}}.'],
    ['fr', 'bot:home.slots', 'Emplacements\u00a0: {{used}}'],
    ['zh', 'messages:reminder.open', '已持续 {{duration}}。自 {{since}} 起'],
    ['hi', 'messages:reminder.open', 'अवधि: {{duration}}।'],
    ['ar', 'messages:reminder.open', 'المدة: {{duration}}.'],
  ])('is let stand in %s: %s “%s”', (locale, place, text) => {
    expect(faultsOfRendered(locale, place, text)).toEqual([])
  })
})

test('every locale has the texts that are inserted into other texts', () => {
  for (const locale of LOCALES) {
    const texts = readCatalogue(locale)
    const seen = Object.entries(texts).flatMap(([place, text]) =>
      rendered(locale, place, text, texts).filter((full) => full.includes('{{')),
    )
    expect(seen).toEqual([])
  }
  expect(hasText('messages:reason.missing')).toBe(true)
})

describe('a fragment', () => {
  test.each<readonly [Locale, string, string, string, string]>([
    [
      'en',
      'messages:reason.late',
      'too late,',
      'messages:fsp.ftso-reveal.feeds.title',
      'punctuation at an end',
    ],
    ['de', 'bot:rights.read', 'Alarme erhalten.', 'bot:link.done', 'two punctuation marks'],
    [
      'fr',
      'errors:price_changed.title',
      'Le prix a changé.',
      'bot:topup.slotsWaiting',
      'two punctuation marks',
    ],
    ['zh', 'notices:failure.timeout', 'HTTP未响应', 'notices:reason.other', 'no space between'],
    ['ar', 'bot:rights.write', 'إدارة المراقبات.', 'bot:rec.rights', 'two punctuation marks'],
  ])('is looked at where it lands, in %s: %s “%s”', (locale, fragment, text, place, fault) => {
    const whole = readCatalogue(locale)
    const faulty = { ...whole, [fragment]: text }
    expect(faultsOfRendered(locale, place, whole[place] ?? '', whole)).toEqual([])
    expect(faultsOfRendered(locale, place, whole[place] ?? '', faulty).join()).toContain(fault)
  })

  test('is inserted into at least one text, and every row of the table is used', () => {
    const texts = readCatalogue('en')
    const left = FRAGMENTS.filter(([place, name, words]) => {
      const lands = Object.entries(texts).some(
        ([key, text]) =>
          place.test(basesOf({ [key]: text })[0] ?? '') && placeholdersOf(text).has(name),
      )
      return !lands || !Object.keys(texts).some((key) => words.test(key))
    })
    expect(left).toEqual([])
  })
})
