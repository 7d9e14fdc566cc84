/** Words of a text for the search in the docs. Pure. */
import { intlTag, type Locale } from '#src/kernel/locale.ts'

/**
 * The words of a text as they were written. Chinese has no spaces and the same characters can be split otherwise inside of a
 * sentence, so its words are all pairs of neighbours, and the last character.
 */
export function writtenWords(text: string, locale: Locale): string[] {
  return split(text, locale, (run) => [...pairsOf(run), run.at(-1) ?? ''])
}

/** The words of a query as they were written; a single Chinese character is a word. */
export function queryWords(query: string, locale: Locale): string[] {
  return split(query, locale, (run) => (run.length === 1 ? run : pairsOf(run)))
}

/**
 * A written word as the index has it: folded, whole and without what is written before it as part of it. Names for programs such as
 * `no_free_slot` count as a whole and by their parts.
 */
export function indexedWords(word: string, locale: Locale): string[] {
  const whole = folded(word)
  const parts = whole.split(/[_.]/).filter((part) => part !== '')
  return [...new Set([whole, ...parts, bareWord(whole, locale)])]
}

/** A written word of a query as it is looked up. */
export function queriedWord(word: string, locale: Locale): string {
  return bareWord(folded(word), locale)
}

/** Whether a word is Chinese. */
export function isHan(word: string): boolean {
  return HAN.test(word)
}

const HAN = /\p{Script=Han}/u
const HAN_RUNS = /(\p{Script=Han}+)/u

function split(
  text: string,
  locale: Locale,
  splitHan: (run: readonly string[]) => readonly string[],
): string[] {
  return text
    .split(HAN_RUNS)
    .flatMap((part) => (isHan(part) ? splitHan([...part]) : segments(part, locale)))
}

function pairsOf(run: readonly string[]): string[] {
  return run.slice(1).map((character, index) => `${run[index]}${character}`)
}

const segmenters = new Map<Locale, Intl.Segmenter>()

function segments(text: string, locale: Locale): string[] {
  const segmenter =
    segmenters.get(locale) ?? new Intl.Segmenter(intlTag(locale), { granularity: 'word' })
  segmenters.set(locale, segmenter)
  return [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment] : [],
  )
}

/** Vowel signs and accents are left out where a writer may leave them out: in Latin and in Arabic. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f\u0640\u064b-\u065f\u0670]/g, '')
    .replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .normalize('NFC')
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('\u0629', '\u0647')
    .replaceAll('\u0649', '\u064a')
}

/** A word without what a language writes before it as part of it: an article, a conjunction, an elision. */
function bareWord(word: string, locale: Locale): string {
  if (locale === 'ar') return withoutArticle(word)
  return locale === 'fr' ? word.replace(/^(?:[cdjlmnst]|qu)'/, '') : word
}

/** An Arabic word without conjunction and article: `والكتم` is `كتم`. */
function withoutArticle(word: string): string {
  const bare = word.replace(
    /^(?:[\u0648\u0641]?[\u0628\u0643]?\u0627\u0644|[\u0648\u0641]?\u0644\u0644)/,
    '',
  )
  return bare.length >= 3 ? bare : word
}
