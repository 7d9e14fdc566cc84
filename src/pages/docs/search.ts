/** Search in the docs. */
import type MiniSearch from 'minisearch'
import type { SearchOptions } from 'minisearch'
import type { Translate } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { onceEach } from '../once-each.ts'
import { docsPlaces, type Place, type SearchedPlace } from './places.ts'
import { indexedWords, isHan, queriedWord, queryWords, writtenWords } from './search-words.ts'

/** Maximum length of a query; the rest of a longer query is ignored. */
export const QUERY_LENGTH_MAX = 100
/** Maximum number of words of a query; further words are ignored. */
const WORDS_MAX = 12
const RESULTS_MAX = 30
/** Number of places that are indexed at a time. */
const CHUNK = 10

/** What a query finds. */
export interface Found {
  /** Best first. */
  readonly results: readonly Place[]
  /** Whether the results have every word of the query; else they have some of them. */
  readonly isEveryWord: boolean
  /** The query with each unknown word replaced by a known one that is written nearly alike; undefined if there is none. */
  readonly suggestion: string | undefined
}

/** The index of a locale, and how a folded word is written in the texts. */
interface Index {
  readonly places: readonly SearchedPlace[]
  readonly mini: MiniSearch
  readonly spellings: ReadonlyMap<string, string>
}

/** Weights of a word by where it stands. */
const FIELDS = { title: 8, words: 5, code: 5, text: 3, body: 1 } as const
/** Weights of places by their kind: people look for the guide first, then for operations, last for codes. */
const KINDS = { guide: 4, page: 2, operation: 1.5, watch: 1, code: 0.5 } as const
/** Length from which the beginning of a word finds it. */
const BEGINNING_MIN = 3

const indexOf = onceEach((app: App, t) => createIndex(docsPlaces(app, t), t.locale))

/**
 * The places that have every word of a query, or words that begin with it. If there are none, the places that have some of the words;
 * words that no place has are corrected.
 */
export async function searchDocs(app: App, t: Translate, query: string): Promise<Found> {
  const kept = queryWords(query.slice(0, QUERY_LENGTH_MAX), t.locale)
  // The last word of a query that is too long may be cut off.
  const whole = query.length > QUERY_LENGTH_MAX && kept.length > 1 ? kept.slice(0, -1) : kept
  const words = whole.slice(0, WORDS_MAX)
  if (words.length === 0) return { results: [], isEveryWord: true, suggestion: undefined }
  const index = await indexOf(app, t)
  const results = find(index, words, 'AND')
  if (results.length > 0) return { results, isEveryWord: true, suggestion: undefined }
  const suggestion = corrected(index, words, t.locale)
  const some = find(index, withoutShort(words), 'OR')
  return {
    results: some.length > 0 ? some : find(index, suggestion ?? [], 'AND'),
    isEveryWord: false,
    suggestion: suggestion?.join(' '),
  }
}

function find(
  { mini, places }: Index,
  words: readonly string[],
  combineWith: 'AND' | 'OR',
): readonly Place[] {
  return mini
    .search(words.join(' '), { combineWith })
    .slice(0, RESULTS_MAX)
    .flatMap(({ id }) => places[id] ?? [])
}

/** The words without short ones such as "do" and "I", which say nothing alone; all words if all are short. */
function withoutShort(words: readonly string[]): readonly string[] {
  const long = words.filter((word) => isHan(word) || word.length >= BEGINNING_MIN)
  return long.length > 0 ? long : words
}

/** The words with the unknown ones corrected; undefined if none was, or if no place has all of them. */
function corrected(index: Index, words: readonly string[], locale: Locale) {
  const { mini, spellings } = index
  const better = words.map((word) => {
    if (mini.search(word).length > 0) return word
    const [nearest] = mini.autoSuggest(word, { prefix: false, fuzzy: mistakesIn(word) })
    const known = nearest?.terms[0]
    return known === undefined ? word : (spellings.get(known) ?? known)
  })
  const isCorrected = better.some((word, place) => word !== words[place])
  const folded = better.map((word) => queriedWord(word, locale))
  return isCorrected && find(index, folded, 'AND').length > 0 ? better : undefined
}

/** Number of characters of a word that may be wrong; two exchanged ones are two. */
function mistakesIn(word: string): number {
  if (isHan(word) || word.length < 4) return 0
  return word.length < 5 ? 1 : 2
}

/** Indexes the places a few at a time, so that other requests go on meanwhile. */
async function createIndex(places: readonly SearchedPlace[], locale: Locale): Promise<Index> {
  const spellings = new Map<string, string>()
  const known = new Map<string, string[]>()
  const termsOf = (word: string): string[] => {
    const terms = known.get(word) ?? indexedWords(word, locale)
    known.set(word, terms)
    for (const term of terms) if (!spellings.has(term)) spellings.set(term, word)
    return terms
  }
  const searchOptions: SearchOptions = {
    tokenize: (query) => queryWords(query, locale),
    processTerm: (word) => queriedWord(word, locale),
    boost: FIELDS,
    boostDocument: (id) => KINDS[places[id]?.kind ?? 'code'],
    prefix: (word) => isHan(word) || word.length >= BEGINNING_MIN,
  }
  // Loaded by the first search.
  const { default: Search } = await import('minisearch')
  const mini = new Search({
    fields: Object.keys(FIELDS),
    tokenize: (text) => writtenWords(text, locale),
    processTerm: termsOf,
    searchOptions,
    autoSuggestOptions: searchOptions,
  })
  await mini.addAllAsync(
    places.map((place, id) => ({ id, ...place })),
    { chunkSize: CHUNK },
  )
  return { mini, places, spellings }
}
