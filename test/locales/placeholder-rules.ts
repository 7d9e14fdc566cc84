import type { Locale } from '#src/kernel/locale.ts'
import { kindOf, PLACEHOLDER_KINDS, type PlaceholderKind } from './placeholders.ts'

/** Text that is not allowed beside a value of some kinds, in one language. */
interface Rule {
  /** `{}` is the placeholder. */
  readonly pattern: RegExp
  readonly kinds: readonly PlaceholderKind[]
  readonly fault: string
}

const DATES: readonly PlaceholderKind[] = ['instant', 'day']
const DURATIONS: readonly PlaceholderKind[] = ['longDuration', 'shortDuration']
const PHRASES: readonly PlaceholderKind[] = [...DURATIONS, 'counted']
/** Values that end in a digit or a Latin letter, or may. */
const LATIN_ENDS: readonly PlaceholderKind[] = [
  ...DATES,
  'near',
  'moment',
  'clock',
  'amount',
  'number',
  'identifier',
  'code',
  'address',
  'name',
]
const ALL = Object.keys(PLACEHOLDER_KINDS).filter(
  (kind): kind is PlaceholderKind => kind in PLACEHOLDER_KINDS,
)

const RULES: { readonly [L in Locale]: readonly Rule[] } = {
  en: [
    { pattern: /\bat \{\}/i, kinds: DATES, fault: '“at” before a date: write “on”' },
    { pattern: /\bon \{\}/i, kinds: ['clock'], fault: '“on” before a time of day: write “at”' },
    {
      pattern: /\b(?:at|on) \{\}/i,
      kinds: ['near'],
      fault: '“at” or “on” before a value that is a time or a date: use a colon',
    },
    {
      pattern: /\ban? \{\}/i,
      kinds: ['name', 'term', 'amount', 'counted', 'number', ...DURATIONS],
      fault: '“a” or “an” before a value that may need the other',
    },
    {
      pattern: /\{\} (?:is|are|was|were|has|have)\b/,
      kinds: ['counted'],
      fault: 'a verb after a counted phrase, which may be one or many',
    },
  ],
  de: [
    {
      pattern: /\b(?:nach|seit|in|von|vor|binnen|innerhalb|mit|ab|aus) \{\}/i,
      kinds: DURATIONS,
      fault: 'a duration in the dative: use a colon, brackets or “Dauer:”',
    },
    { pattern: /\bum \{\}/i, kinds: [...DATES, 'near'], fault: '“um” before a date: write “am”' },
    {
      pattern: /\b(?:am|vom|zum|dem) \{\}/i,
      kinds: ['clock', 'near'],
      fault: '“am”, “vom”, “zum” or “dem” before a time of day',
    },
  ],
  fr: [
    {
      pattern: /(?:\b(?:de|le|la|que)[ \u00a0]|[dlq]u?’)\{\}/i,
      kinds: ['name'],
      fault: '“de”, “le”, “la” or “que” before a name, which may need an apostrophe',
    },
    {
      pattern: /(?:\b(?:depuis|dès|avant|après)|(?<=^|[ (])à|jusqu’à|à partir de) \{\}/i,
      kinds: [...DATES, 'near'],
      fault: 'a date without “le” or “au”: use “le”, “au” or a colon',
    },
    {
      pattern: /\b(?:le|au|du) \{\}/i,
      kinds: ['clock', 'near'],
      fault: '“le”, “au” or “du” before a time of day',
    },
  ],
  bn: [
    {
      pattern: /\{\}[ \u00a0]*।/,
      kinds: LATIN_ENDS,
      fault: 'a danda after a value that may end in a digit or in Latin',
    },
    {
      pattern: /\{\}(?!(?:টি|টা|জন|বার))[\u0980-\u09ff]/,
      kinds: ALL,
      fault: 'an ending on a value',
    },
    {
      pattern: /\{\}-[\u0980-\u09ff]/,
      kinds: [...PHRASES, 'term', 'name', 'list'],
      fault: 'an ending on a value',
    },
  ],
  zh: [],
  hi: [
    {
      pattern: /\{\}[ \u00a0]*।/,
      kinds: LATIN_ENDS,
      fault: 'a danda after a value that may end in a digit or in Latin',
    },
    { pattern: /\{\}-?[\u0900-\u0963\u0966-\u097f]/, kinds: ALL, fault: 'an ending on a value' },
    {
      pattern: /\{\} (?:में|से|के|की|का|तक|पर|बाद|पहले)(?![\u0900-\u0963])/,
      kinds: DURATIONS,
      fault: 'a postposition after a duration, which would change its form',
    },
  ],
  ar: [
    {
      pattern:
        /(?<!\p{L})(?:بعد|خلال|منذ|قبل|لمدة|مدة|في|من|إلى|حتى|كل|على|مع|عن|عند|دون|لـ|بـ) ?\{\}/u,
      kinds: PHRASES,
      fault: 'a counted phrase or duration after a preposition: use a colon or brackets',
    },
  ],
}

/**
 * Placeholders of a text at positions that its language does not allow. @param key `<file>:<key>`
 * without endings
 */
export function faultsOfValues(locale: Locale, key: string, text: string): readonly string[] {
  const bare = text.replace(/<[^>]*>|[\u2066-\u2069]/g, '')
  return [...bare.matchAll(/\{\{(\w+)\}\}/g)].flatMap((match) => {
    const [whole, name = ''] = match
    const kind = kindOf(name, key)
    if (kind === undefined) return [`{{${name}}} is not in test/locales/placeholders.ts`]
    const around = `${bare.slice(0, match.index).replace(/[{}]/g, '_')}{}${bare
      .slice(match.index + whole.length)
      .replace(/[{}]/g, '_')}`
    return RULES[locale].flatMap(({ pattern, kinds, fault }) =>
      kinds.includes(kind) && pattern.test(around) ? [`{{${name}}}: ${fault}`] : [],
    )
  })
}
