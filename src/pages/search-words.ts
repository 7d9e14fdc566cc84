/** Words of a text for the search in the docs, and how well a query fits a text. Pure. */
import { intlTag, type Locale } from '#src/kernel/locale.ts'

/** A text as the search sees it. */
export interface SearchableText {
  /** Its words, folded, each once. */
  readonly words: readonly string[]
  /** The whole text, folded. */
  readonly whole: string
}

/** What a word is worth at its best place: 1 as a whole, less as the beginning of a longer word. */
const BEGINNING = 0.9

/**
 * The words of a text in one language, folded: lower case, without accents and direction marks. Chinese is split into
 * words, too. Names for programs such as `no_free_slot` count as a whole and by their parts.
 */
export function searchable(text: string, locale: Locale): SearchableText {
  const whole = folded(text)
  return { words: [...new Set(wordsOf(whole, locale))], whole }
}

/** The words of a query. */
export function queryWords(query: string, locale: Locale): readonly string[] {
  const whole = folded(query)
  const words = segments(whole, locale)
  return words.map((word) => bareWord(word, locale))
}

/** How well a word of a query fits a text: 1 if the text has it, less if a word begins with it, else 0. */
export function fitOf(word: string, { words, whole }: SearchableText): number {
  if (words.includes(word)) return 1
  // Chinese has no spaces: the same word can be split otherwise inside of a sentence.
  const begins = HAN.test(word)
    ? whole.includes(word)
    : words.some((other) => other.startsWith(word))
  return begins ? BEGINNING : 0
}

const HAN = /\p{Script=Han}/u

function wordsOf(whole: string, locale: Locale): string[] {
  return segments(whole, locale).flatMap((word) => {
    const parts = word.split(/[_.]/).filter((part) => part !== '' && part !== word)
    const bare = bareWord(word, locale)
    return [word, ...parts, ...(bare === word ? [] : [bare])]
  })
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
