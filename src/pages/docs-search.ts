/** Search in the docs: operations, sections of the guide, watch types, signals, events and error codes. */
import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import { ERROR_CODES } from '#src/kernel/problems.ts'
import type { App } from '#src/operations/define.ts'
import { readApiReference } from './api-reference.ts'
import { eventList, offeredTypes, typePath } from './docs-watches.ts'
import { GUIDE_PATH, guideSections, plainLines } from './guide.ts'
import { fitOf, queryWords, type SearchableText, searchable } from './search-words.ts'

/** Maximum length of a query; the rest of a longer query is ignored. */
export const QUERY_LENGTH_MAX = 100
const RESULTS_MAX = 30

/** One place in the docs. */
export interface SearchResult {
  readonly path: string
  /** Anchor on the page, with its `#`; may be empty. */
  readonly anchor: string
  readonly title: string
  readonly text: string
  /** Name for programs, such as a method and path; undefined if there is none. */
  readonly code: string | undefined
}

/** What the search knows about a place, from the most to the least telling text. */
interface Entry {
  readonly result: SearchResult
  readonly kind: keyof typeof WEIGHT_OF_KIND
  readonly title: SearchableText
  /** The name for programs, and the text that the result shows. */
  readonly heading: SearchableText
  readonly body: SearchableText
}

/** Weights of a word by its place. */
const TITLE = 10
const HEADING = 5
const BODY = 2
/** Weights of places by their kind: people look for the guide first, then for operations, last for codes. */
const WEIGHT_OF_KIND = { guide: 1.5, operation: 1.2, watch: 1, code: 0.5 } as const

/** Cache by service and locale; the content does not change. */
const made = new WeakMap<App['operations'], Map<string, readonly Entry[]>>()

/** The places that have every word of a query, or words that begin with it, best first. */
export function searchDocs(app: App, t: Translate, query: string): readonly SearchResult[] {
  const words = queryWords(query.slice(0, QUERY_LENGTH_MAX), t.locale)
  if (words.length === 0) return []
  return entriesOf(app, t)
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry.result)
}

/** The sum of the words' weights, each at its best place; 0 if a word is nowhere. */
function rankOf({ kind, title, heading, body }: Entry, words: readonly string[]): number {
  const weights = words.map((word) =>
    Math.max(TITLE * fitOf(word, title), HEADING * fitOf(word, heading), BODY * fitOf(word, body)),
  )
  return weights.includes(0)
    ? 0
    : WEIGHT_OF_KIND[kind] * weights.reduce((sum, weight) => sum + weight, 0)
}

function entriesOf(app: App, t: Translate): readonly Entry[] {
  const ofService = made.get(app.operations) ?? new Map<string, readonly Entry[]>()
  made.set(app.operations, ofService)
  const localeEntries = ofService.get(t.locale) ?? entries(app, t)
  ofService.set(t.locale, localeEntries)
  return localeEntries
}

function entries(app: App, t: Translate): readonly Entry[] {
  return [
    ...guide(app, t),
    ...operations(app, t),
    ...watches(app, t),
    ...events(app, t),
    ...errors(t),
  ]
}

/** @param more text that is searched, but not shown */
function entry(
  { locale }: Translate,
  result: SearchResult,
  { kind, more = '' }: { readonly kind: Entry['kind']; readonly more?: string },
): Entry {
  return {
    result,
    kind,
    title: searchable(result.title, locale),
    heading: searchable(`${result.code ?? ''} ${result.text}`, locale),
    body: searchable(more, locale),
  }
}

function operations(app: App, t: Translate): Entry[] {
  return readApiReference(app, t.locale).operations.map((operation) => {
    const fields = [...operation.parameters, ...operation.body, ...operation.answer].map(
      ({ name }) => name,
    )
    const result = {
      path: `/docs/api/${operation.tag}`,
      anchor: `#${operation.id}`,
      title: operation.summary,
      text: operation.description,
      code: `${operation.method} ${operation.address}`,
    }
    return entry(t, result, {
      kind: 'operation',
      more: `${operation.id} ${fields.join(' ')}`,
    })
  })
}

function guide(app: App, t: Translate): Entry[] {
  return guideSections(app, t).map((section) => {
    const { id, title } = section
    const [text = '', ...more] = plainLines(section)
    const result = { path: GUIDE_PATH, anchor: `#${id}`, title, text, code: undefined }
    return entry(t, result, { kind: 'guide', more: more.join('\n') })
  })
}

function watches(app: App, t: Translate): Entry[] {
  return offeredTypes(app).flatMap(({ name, signals }) => {
    const place = { path: typePath(name), anchor: '' }
    const type = t(checkedKey(`bot:button.type.${name}`))
    const text = t(checkedKey(`signals:type.${name}.description`))
    return [
      entry(t, { ...place, title: type, text, code: name }, { kind: 'watch' }),
      ...signals.map(({ id, parameters }) => {
        const prefix = `signals:${name}.${id}`
        const result = {
          path: `${typePath(name)}/${id}`,
          anchor: '',
          title: t(checkedKey(`${prefix}.label`)),
          text: t(checkedKey(`${prefix}.description`)),
          code: id,
        }
        return entry(t, result, {
          kind: 'watch',
          more: `${type} ${parameters.map(({ key }) => key).join(' ')}`,
        })
      }),
    ]
  })
}

function events(app: App, t: Translate): Entry[] {
  return eventList(app, t).map(({ event, title, when }) => {
    const place = { path: '/docs/events', anchor: `#${event}`, code: event }
    return entry(t, { ...place, title: title ?? event, text: when ?? '' }, { kind: 'code' })
  })
}

function errors(t: Translate): Entry[] {
  return ERROR_CODES.map((code) => {
    const place = { path: `/problems/${code}`, anchor: '', code }
    const title = t(checkedKey(`errors:${code}.title`))
    return entry(t, { ...place, title, text: '' }, { kind: 'code' })
  })
}
