/** Search in the docs: operations, sections of the guide, watch types, signals, events and error codes. */
import { builtKey, type Translate } from '#src/i18n/translate.ts'
import { ERROR_CODES } from '#src/kernel/problems.ts'
import type { App } from '#src/operations/define.ts'
import { readApiReference } from './api-reference.ts'
import { eventList, offeredTypes, typePath } from './docs-watches.ts'
import { GUIDE_PATH, guideSections, plainLines } from './guide.ts'

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

interface Entry extends SearchResult {
  /** Normalized texts that are searched. */
  readonly heading: string
  readonly all: string
}

/** Cache by service and locale; the content does not change. */
const made = new WeakMap<App['operations'], Map<string, readonly Entry[]>>()

/** The places that contain every word of a query, best first: words in a heading count most. */
export function searchDocs(app: App, t: Translate, query: string): readonly SearchResult[] {
  const words = normal(query.slice(0, QUERY_LENGTH_MAX)).split(' ').filter(Boolean)
  if (words.length === 0) return []
  return entriesOf(app, t)
    .filter(({ all }) => words.every((word) => all.includes(word)))
    .map((entry) => ({ entry, rank: rankOf(entry, words) }))
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry)
}

function rankOf({ heading }: Entry, words: readonly string[]): number {
  const starts = words.filter((word) => ` ${heading}`.includes(` ${word}`)).length
  return words.filter((word) => heading.includes(word)).length + starts
}

/** Lower case, no accents, no direction marks, single spaces. */
function normal(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f\u2066-\u2069\u200e\u200f]/g, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()
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
    ...operations(app, t),
    ...guide(app, t),
    ...watches(app, t),
    ...events(app, t),
    ...errors(t),
  ]
}

function entry(result: SearchResult, more = ''): Entry {
  const heading = normal(`${result.title} ${result.code ?? ''}`)
  return { ...result, heading, all: `${heading} ${normal(`${result.text} ${more}`)}` }
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
    return entry(result, `${operation.id} ${fields.join(' ')}`)
  })
}

function guide(app: App, t: Translate): Entry[] {
  return guideSections(app, t).map((section) => {
    const { id, title } = section
    const [text = '', ...more] = plainLines(section)
    const result = { path: GUIDE_PATH, anchor: `#${id}`, title, text, code: undefined }
    return entry(result, more.join(' '))
  })
}

function watches(app: App, t: Translate): Entry[] {
  return offeredTypes(app).flatMap(({ name, signals }) => {
    const place = { path: typePath(name), anchor: '' }
    const type = t(builtKey(`bot:button.type.${name}`))
    const text = t(builtKey(`signals:type.${name}.description`))
    return [
      entry({ ...place, title: type, text, code: name }),
      ...signals.map(({ id, parameters }) => {
        const prefix = `signals:${name}.${id}`
        const result = {
          path: `${typePath(name)}/${id}`,
          anchor: '',
          title: t(builtKey(`${prefix}.label`)),
          text: t(builtKey(`${prefix}.description`)),
          code: id,
        }
        return entry(result, `${type} ${parameters.map(({ key }) => key).join(' ')}`)
      }),
    ]
  })
}

function events(app: App, t: Translate): Entry[] {
  return eventList(app, t).map(({ event, title, when }) =>
    entry({
      path: '/docs/events',
      anchor: `#${event}`,
      title: title ?? event,
      text: when ?? '',
      code: event,
    }),
  )
}

function errors(t: Translate): Entry[] {
  return ERROR_CODES.map((code) =>
    entry({
      path: `/problems/${code}`,
      anchor: '',
      title: t(builtKey(`errors:${code}.title`)),
      text: '',
      code,
    }),
  )
}
