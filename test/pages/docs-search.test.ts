import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { searchDocs } from '#src/pages/docs-search.ts'
import { openSite, type Site } from './site.ts'

/** What people type, and the section of the guide that must be the first result. */
const QUERIES: Readonly<Record<Locale, Readonly<Record<string, string>>>> = {
  en: {
    mute: 'mute',
    mailbox: 'recipients',
    'Quiet hours': 'quiet',
    group: 'groups',
    escalation: 'escalation',
    digest: 'digest',
    reminder: 'reminders',
    ACKNOWLEDGE: 'mute',
    credits: 'credits',
    price: 'lookup',
    unlink: 'leave',
  },
  de: {
    stumm: 'mute',
    Postfach: 'recipients',
    Ruhezeiten: 'quiet',
    Gruppe: 'groups',
    Eskalation: 'escalation',
    Zusammenfassung: 'digest',
    erinnerung: 'reminders',
    quittieren: 'mute',
    Kurs: 'lookup',
    Credits: 'credits',
    UBERWACHT: 'types',
  },
  fr: {
    sourdine: 'mute',
    'boite mail': 'recipients',
    'heures calmes': 'quiet',
    groupe: 'groups',
    escalade: 'escalation',
    recapitulatif: 'digest',
    rappel: 'reminders',
    acquitter: 'mute',
    cours: 'lookup',
    CRÉDITS: 'credits',
    "l'escalade": 'escalation',
  },
  bn: {
    মিউট: 'mute',
    মেইলবক্স: 'recipients',
    'নীরব সময়': 'quiet',
    গ্রুপ: 'groups',
    এসকেলেশন: 'escalation',
    সারসংক্ষেপ: 'digest',
    রিমাইন্ডার: 'reminders',
    ক্রেডিট: 'credits',
    আনলিংক: 'leave',
  },
  zh: {
    静音: 'mute',
    邮箱: 'recipients',
    免打扰: 'quiet',
    群组: 'groups',
    升级通知: 'escalation',
    汇总: 'digest',
    提醒: 'reminders',
    名额: 'credits',
    认领: 'mute',
  },
  hi: {
    म्यूट: 'mute',
    मेलबॉक्स: 'recipients',
    'शांत घंटे': 'quiet',
    ग्रुप: 'groups',
    एस्केलेशन: 'escalation',
    सारांश: 'digest',
    रिमाइंडर: 'reminders',
    क्रेडिट: 'credits',
    अनलिंक: 'leave',
  },
  ar: {
    كتم: 'mute',
    بريد: 'recipients',
    هدوء: 'quiet',
    مجموعة: 'groups',
    تصعيد: 'escalation',
    ملخص: 'digest',
    تَذكير: 'reminders',
    الرصيد: 'credits',
    سعر: 'lookup',
  },
}

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

const places = (query: string, locale: Locale) =>
  searchDocs(site.app, translator(locale), query).map(({ path, anchor }) => `${path}${anchor}`)

const cases = LOCALES.flatMap((locale) =>
  Object.entries(QUERIES[locale]).map(([query, id]) => [query, locale, id] as const),
)

describe('the search in the docs', () => {
  test.each(cases)('finds for %s in %s first the section #%s of the guide', (query, locale, id) => {
    expect(places(query, locale)[0]).toBe(`/docs/guide#${id}`)
  })

  test.each([
    ['mute', 'en'],
    ['mailbox', 'en'],
    ['stumm', 'de'],
    ['静音', 'zh'],
    ['كتم', 'ar'],
  ] as const)('finds for %s in %s after the guide the operations, and last codes', (query, locale) => {
    const rank = (place: string) =>
      ['/docs/guide', '/docs/api/', '/docs/watches', ''].findIndex((start) =>
        place.startsWith(start),
      )
    const kinds = places(query, locale).map(rank)
    expect(kinds.slice(0, 2)).toEqual([
      0,
      kinds.includes(1) && !kinds.slice(1).includes(0) ? 1 : kinds[1],
    ])
    expect(kinds.indexOf(1)).toBeLessThan(kinds.includes(3) ? kinds.indexOf(3) : kinds.length)
  })

  test('finds the beginning of a word, every word of a query, and the parts of a code', () => {
    expect(places('escal', 'en')[0]).toBe('/docs/guide#escalation')
    expect(places('slot no_free', 'en')).toContain('/problems/no_free_slot')
    expect(places('free slot', 'en')).toContain('/problems/no_free_slot')
    expect(places('mute zzz', 'en')).toEqual([])
    expect(places('…', 'en')).toEqual([])
  })
})
