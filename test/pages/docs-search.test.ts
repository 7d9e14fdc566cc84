import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { searchDocs } from '#src/pages/docs/search.ts'
import { openSite, type Site, textOf } from './site.ts'

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

const places = async (query: string, locale: Locale) => {
  const { results } = await searchDocs(site.app, translator(locale), query)
  return results.map(({ path, anchor }) => `${path}${anchor}`)
}

const cases = LOCALES.flatMap((locale) =>
  Object.entries(QUERIES[locale]).map(([query, id]) => [query, locale, id] as const),
)

describe('the search in the docs', () => {
  test.each(
    cases,
  )('finds for %s in %s first the section #%s of the guide', async (query, locale, id) => {
    expect((await places(query, locale))[0]).toBe(`/docs/guide#${id}`)
  })

  test.each([
    ['mute', 'en'],
    ['mailbox', 'en'],
    ['stumm', 'de'],
    ['静音', 'zh'],
    ['كتم', 'ar'],
  ] as const)('finds for %s in %s after the guide the operations, and last codes', async (query, locale) => {
    const rank = (place: string) =>
      ['/docs/guide', '/docs/api/', '/docs/watches', ''].findIndex((start) =>
        place.startsWith(start),
      )
    const found = (await places(query, locale)).filter(
      (place) => !/^\/docs(#|\/webhooks)/.test(place),
    )
    const kinds = found.map(rank)
    expect(kinds[0]).toBe(0)
    expect(kinds.indexOf(1)).toBeGreaterThan(0)
    expect(kinds.indexOf(1)).toBeLessThan(kinds.includes(3) ? kinds.indexOf(3) : kinds.length)
  })

  test('finds the beginning of a word, every word of a query, and the parts of a code', async () => {
    expect((await places('escal', 'en'))[0]).toBe('/docs/guide#escalation')
    expect(await places('slot no_free', 'en')).toContain('/problems/no_free_slot')
    expect(await places('free slot', 'en')).toContain('/problems/no_free_slot')
    expect(await places('…', 'en')).toEqual([])
  })

  test.each([
    ['webhook signature', 'en', '/docs/webhooks#verify'],
    ['mcp', 'en', '/docs#agents'],
    ['client library', 'en', '/docs#client'],
    ['python', 'en', '/docs/webhooks#python'],
    ['429', 'en', '/problems#status-429'],
    ['too many requests', 'en', '/problems/rate_limited'],
    ['how do I pay', 'en', '/docs/guide#credits'],
    ['refund', 'en', '/docs/guide#credits'],
    ['openapi', 'en', '/docs/api'],
    ['token in the authorization header', 'en', '/docs#agents'],
    ['wie bezahle ich', 'de', '/docs/guide#credits'],
    ['Signatur prüfen', 'de', '/docs/webhooks#verify'],
    ['remboursement', 'fr', '/docs/guide#credits'],
    ['রিফান্ড', 'bn', '/docs/guide#credits'],
    ['退款', 'zh', '/docs/guide#credits'],
    ['webhook签名', 'zh', '/docs/webhooks#verify'],
    ['लाइब्रेरी', 'hi', '/docs#client'],
    ['كيف أدفع', 'ar', '/docs/guide#credits'],
  ] as const)('finds for what people type, %s in %s, among the first %s', async (query, locale, place) => {
    expect((await places(query, locale)).slice(0, 4)).toContain(place)
  })

  test('finds places with some of the words if none has all, and says so', async () => {
    const { results, isEveryWord } = await searchDocs(site.app, translator('en'), 'mute zzz')
    expect([results[0]?.path, results[0]?.anchor, isEveryWord]).toEqual([
      '/docs/guide',
      '#mute',
      false,
    ])
    const { isEveryWord: isWhole } = await searchDocs(site.app, translator('en'), 'mute alert')
    expect(isWhole).toBe(true)
  })

  test.each([
    ['wehbook', 'en', 'webhook'],
    ['webhok signture', 'en', 'webhook signatures'],
    ['escallation', 'en', 'Escalation'],
    ['Ruhezieten', 'de', 'Ruhezeiten'],
    ['escalde', 'fr', 'escalade'],
  ] as const)('asks for %s in %s whether %s was meant, with a link', async (query, lang, meant) => {
    const { html, text } = await site.get(`/docs/search?${new URLSearchParams({ q: query, lang })}`)
    const { suggestion } = await searchDocs(site.app, translator(lang), query)
    expect(suggestion?.toLowerCase()).toBe(meant.toLowerCase())
    expect(text).toContain(suggestion)
    const link = new URLSearchParams([
      ['q', suggestion ?? ''],
      ['lang', lang],
    ])
    expect(html).toContain(`href="/docs/search?${String(link).replace('&', '&amp;')}"`)
  })

  test('offers the main pages if it finds nothing', async () => {
    const { html } = await site.get('/docs/search?q=qqqqqq')
    const hits = html.slice(html.indexOf('class="hits"'))
    for (const path of ['/docs', '/docs/guide', '/docs/api', '/docs/webhooks', '/problems']) {
      expect(hits).toContain(`<li><a href="${path}"`)
    }
  })
})

/** Texts that a page of the docs shows: headings, paragraphs, entries of lists and rows; not those with links to other pages. */
function textsOf(html: string): readonly string[] {
  const shown = html.slice(html.indexOf('class="reading"'), html.indexOf('</main>'))
  return [...shown.matchAll(/<(h1|h2|p|li|dd)\b[^>]*>(.*?)<\/\1>/gs)].flatMap(
    ([, , inner = '']) => {
      const text = textOf(inner)
      return text === '' || inner.includes('<a ') ? [] : [text]
    },
  )
}

test.each(
  LOCALES,
)('every heading and paragraph of the docs leads to its page, in %s', async (locale) => {
  const { app } = site
  const t = translator(locale)
  const pages = [
    '/docs',
    '/docs/guide',
    '/docs/webhooks',
    '/docs/watches',
    '/docs/api',
    '/docs/events',
    '/docs/watches/provider-fsp',
    '/docs/watches/wallet-balance',
  ]
  const missed: string[] = []
  for (const path of pages) {
    const { html } = await site.get(path, { 'accept-language': locale })
    const texts = textsOf(html)
    expect(texts.length, path).toBeGreaterThan(1)
    for (const text of texts) {
      const { results, isEveryWord } = await searchDocs(app, t, text)
      const isFound = isEveryWord && results.some((place) => place.path === path)
      if (!isFound) missed.push(`${path}: ${text}`)
    }
  }
  expect(missed).toEqual([])
})
