import {
  formatAmount,
  formatDate,
  formatDateTime,
  formatDuration,
  formatList,
  formatMoment,
  formatNumber,
  formatPercent,
  formatTime,
} from '#src/i18n/format.ts'
import { withoutIsolates } from '#src/i18n/isolates.ts'
import { formatSpan } from '#src/i18n/span.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { placeholdersOf } from '../support/text-rules.ts'
import { FRAGMENTS } from './fragments.ts'
import { kindOf, type PlaceholderKind } from './placeholders.ts'
import { type Catalogue, readCatalogue } from './sources.ts'

/**
 * Renders every text with its possible values, as a reader sees it: numbers 0, 1 and many, dates
 * and times of day, and each word that a placeholder stands for.
 */

const AT = new Date('2026-11-20T21:04:31Z')
const ZONE = 'Asia/Kolkata'
const UNITS = ['alerts', 'credits', 'slots', 'watches'] as const

/** A word of the language itself, where it is not written in Latin. */
const A_WORD: { readonly [L in Locale]?: string } = {
  bn: 'শব্দ',
  zh: '文字',
  hi: 'शब्द',
  ar: 'كلمة',
}

/** Numbers that are never one: limits of the service, and counts that begin higher. */
const NEVER_ONE = [
  'max',
  'maximum',
  'minimum',
  'min',
  'polls',
  'rounds',
  'days',
  'seconds',
  'ms',
  'price',
]

/** Possible values of a placeholder of a text, the usual value first. */
function valuesFor(
  locale: Locale,
  key: string,
  placeholder: string,
  texts: Catalogue,
): readonly string[] {
  const words = FRAGMENTS.find(([place, name]) => name === placeholder && place.test(key))?.[2]
  if (words !== undefined) return fragmentsIn(locale, words, texts)
  const kind = kindOf(placeholder, key) ?? 'name'
  const id = `${locale} ${kind} ${NEVER_ONE.includes(placeholder)} ${texts['units:credits_other']}`
  const values = known.get(id) ?? byKind(locale, placeholder, texts, kind)
  known.set(id, values)
  return values
}

/** Cache of values, because `Intl` is slow. */
const known = new Map<string, readonly string[]>()

/** The fixed words and phrases with these keys, with their own values inserted. */
function fragmentsIn(locale: Locale, keys: RegExp, texts: Catalogue): readonly string[] {
  const ofTexts = fragments.get(texts) ?? new Map<string, readonly string[]>()
  fragments.set(texts, ofTexts)
  const made =
    ofTexts.get(keys.source) ??
    Object.entries(texts).flatMap(([name, text]) =>
      keys.test(name) ? rendered(locale, name, text, texts).slice(0, 1) : [],
    )
  ofTexts.set(keys.source, made)
  return made
}

/** Cache of fragments, by catalogue. */
const fragments = new WeakMap<Catalogue, Map<string, readonly string[]>>()

function byKind(
  locale: Locale,
  placeholder: string,
  texts: Catalogue,
  kind: PlaceholderKind,
): readonly string[] {
  const day = formatDate(AT, locale, ZONE)
  const instant = formatDateTime(AT, locale, ZONE)
  const clock = formatTime(AT, locale, ZONE)
  const units = { units: 12_500_500n, decimals: 3, symbol: 'FLR' }
  switch (kind) {
    case 'instant':
      return [instant]
    case 'day':
      return [day]
    case 'near':
      return [clock, formatDateTime(AT, locale, ZONE, { year: false, offset: false })]
    case 'moment':
      return [
        formatMoment(AT, locale, ZONE, AT),
        formatMoment(AT, locale, ZONE, new Date(AT.getTime() + 2 * 86_400_000)),
      ]
    case 'clock':
      return [clock, formatTime(AT, locale, 'UTC', { seconds: true, offset: true })]
    case 'longDuration':
    case 'shortDuration': {
      const style = kind === 'longDuration' ? 'long' : 'short'
      const seconds = [8_100, 86_400, 2 * 86_400, 7_200, 3_600, 3 * 86_400 + 7_200, 60, 0]
      return seconds.map((each) => formatDuration(each, locale, style))
    }
    case 'governedDuration':
      return [3_600, 7_200, 86_400, 2 * 86_400, 60, 120, 2 * 86_400 + 3_600].map((each) =>
        formatSpan(each, locale),
      )
    case 'counted':
      return [2, 1, 0, 5, 11, 100].flatMap((count) =>
        UNITS.slice(1, 2).map((unit) => counted(locale, texts, unit, count)),
      )
    case 'amount':
      return [formatAmount(units, locale), formatPercent(0.0525, locale)]
    case 'number':
      return (NEVER_ONE.includes(placeholder) ? [20] : [3, 1, 0]).map((each) =>
        formatNumber(each, locale),
      )
    case 'identifier':
      return ['1519400']
    case 'code':
      return ['Europe/Berlin']
    case 'address':
      return ['0x3f12…A91c']
    case 'list':
      return [withoutIsolates(formatList(['Alpha', 'Beta', 'Gamma'], locale)), 'Alpha']
    case 'sentence':
    case 'term':
      return [A_WORD[locale] ?? 'Alpha']
    case 'name':
      return ['Alpha']
    default:
      return kind satisfies never
  }
}

function counted(locale: Locale, texts: Catalogue, unit: string, count: number): string {
  const form = pluralRules(locale).select(count)
  const zero = count === 0 ? texts[`units:${unit}_zero`] : undefined
  const text = zero ?? texts[`units:${unit}_${form}`] ?? texts[`units:${unit}_other`] ?? ''
  return withoutIsolates(text).replace('{{count}}', formatNumber(count, locale))
}

const plurals = new Map<Locale, Intl.PluralRules>()

function pluralRules(locale: Locale): Intl.PluralRules {
  const rules = plurals.get(locale) ?? new Intl.PluralRules(locale)
  plurals.set(locale, rules)
  return rules
}

/** Numbers that choose a plural form. */
function countsFor(locale: Locale, place: string, texts: Catalogue): readonly number[] {
  const [, base = '', form] = /^(.*)_(zero|one|two|few|many|other)$/.exec(place) ?? []
  if (form === undefined) return [3]
  if (form === 'zero') return [0]
  const rules = pluralRules(locale)
  const fitting = [0, 1, 2, 3, 11, 100, 1_000_000].filter((count) => rules.select(count) === form)
  return fitting.filter((count) => count !== 0 || !(`${base}_zero` in texts))
}

/** A text with its values, one of them in each of its forms at a time. */
export function rendered(
  locale: Locale,
  place: string,
  text: string,
  texts: Catalogue = readCatalogue(locale),
): readonly string[] {
  const key = place
    .replace(/_(?:zero|one|two|few|many|other)$/, '')
    .replace(/_(?:critical|warning|info)$/, '')
  const names = [...placeholdersOf(text)]
  const values = new Map(
    names.map((name) => [
      name,
      name === 'count'
        ? countsFor(locale, place, texts).map((count) => formatNumber(count, locale))
        : valuesFor(locale, key, name, texts),
    ]),
  )
  const usual = (name: string) => values.get(name)?.[0] ?? ''
  const filled = (other?: string, value = '') =>
    withoutIsolates(text).replace(/\{\{(\w+)\}\}/g, (_, name: string) =>
      name === other ? value : usual(name),
    )
  return [
    ...new Set([
      filled(),
      ...names.flatMap((name) => (values.get(name) ?? []).map((value) => filled(name, value))),
    ]),
  ]
}

/** Faults that no rendered text may have. */
const NEVER: readonly (readonly [RegExp, string])[] = [
  [/\{\{|\}\}/, 'a placeholder without a value'],
  [/[.。।!?؟…][.。।]|[,，،、;；]\s*[,，،、;；.。।]/, 'two punctuation marks after each other'],
  [/ {2}|\u00a0 | \u00a0/, 'two spaces'],
  [/^[,.:;·]|[·,]$/, 'punctuation at an end'],
  [/[.。।؟?] *[(（]|[.。।] ·/, 'the end of a sentence inside of one'],
]

const NOUNS_EN =
  'slots|alerts|watches|rounds|credits|checks|requests|days|hours|minutes|seconds|files|tests|recipients|chats'
const NOUNS_DE = 'Slots|Alarme|Überwachungen|Credits|Runden|Tage|Stunden|Minuten'
const NOUNS_FR =
  'emplacements|alertes|surveillances|crédits|tours|vérifications|demandes|jours|heures|minutes|secondes|fichiers|destinataires|discussions'

const SEEN: { readonly [L in Locale]: readonly (readonly [RegExp, string])[] } = {
  en: [
    [new RegExp(`(?<![\\d.,/])\\b1 (?:\\w+ )?(?:${NOUNS_EN})\\b(?! at once)`), 'a plural after 1'],
    [/\b(?:and|or) (?:\S+ )?(?:and|or) \d/, '“and” twice'],
  ],
  de: [
    [
      /\b(?:nach|seit|in|von|vor|innerhalb von|aus|mit) \d+ (?:Tage|Monate|Jahre)(?![\wäöü])/i,
      'a nominative after a preposition with the dative',
    ],
    [new RegExp(`\\b1 (?:${NOUNS_DE})\\b`), 'a plural after 1'],
    [/\bund (?:\S+ )?und \d/, '“und” twice'],
  ],
  fr: [
    [
      new RegExp(`(?<![\\d.,/\u202f])\\b[01][ \u00a0](?:\\p{Ll}+ )?(?:${NOUNS_FR})(?!\\p{L})`, 'u'),
      'a plural after 0 or 1',
    ],
    [/\bet (?:\S+ )?et \d/, '“et” twice'],
    [
      /\b[dlq]’[^\p{L}]|\b(?:de|le|la|que) (?:Alpha|Écho)\b/u,
      'an elision that the value does not take',
    ],
  ],
  bn: [
    [/[0-9A-Za-z]\s*।/, 'a danda after a digit or Latin'],
    [/এবং \d+\S* এবং/, '“এবং” twice'],
  ],
  hi: [
    [/[0-9]\s*।/, 'a danda after a digit'],
    [/और \d+ और(?![\u0900-\u0963])/, '“और” twice'],
    [
      /\d (?:घंटा|महीना) (?:में|से|के|की|का|तक|पर)(?![\u0900-\u0963])/,
      'a direct case before a postposition',
    ],
  ],
  zh: [
    [/\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/u, 'no space between Han and Latin'],
    [/和(?:另有|还有)/, '“和” twice'],
  ],
  ar: [
    [
      /(?<!\p{L})(?:بعد|خلال|منذ|قبل|في|من|لمدة|كل) (?:ساعتان|دقيقتان|يومان|ثانيتان|وحدتا)/u,
      'a dual in the nominative after a preposition',
    ],
  ],
}

/** Dates as Chinese writes them, which take no spaces. */
const HAN_DATE = /\d+年\d+月\d+日|\d+月\d+日|\d+年/g

/** Faults of a text with its values inserted. */
export function faultsOfRendered(
  locale: Locale,
  place: string,
  text: string,
  texts?: Catalogue,
): readonly string[] {
  const seen = rendered(locale, place, text, texts).flatMap((full) => {
    const bare = full.replace(/<code>.*?<\/code>|https?:\S+/gs, '0').replace(/<[^>]*>/g, '')
    const judged = locale === 'zh' ? bare.replace(HAN_DATE, '8') : bare
    return [...NEVER, ...SEEN[locale]].flatMap(([pattern, fault]) => {
      const found = pattern.exec(judged)
      if (found === null) return []
      const around = judged.slice(Math.max(0, found.index - 12), found.index + found[0].length + 8)
      return [`${fault}, as in “${around.replace(/\n/g, '⏎')}”`]
    })
  })
  return seen.slice(0, 1)
}
