/** Side list of the docs: the parts, and below the open one its pages. */
import type { Translate } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { apiReference } from './api-reference.ts'
import { watchTypes } from './docs-watches.ts'

/** The parts of the docs, in reading order. */
const PARTS = [
  ['', 'pages:docs.start'],
  ['/api', 'pages:docs.api'],
  ['/webhooks', 'pages:docs.webhooks'],
  ['/watches', 'pages:docs.watches'],
  ['/events', 'pages:docs.events'],
] as const
export type DocsPart = (typeof PARTS)[number][0]

/** A page or, with an anchor, a place on the open page. */
export interface SideLink {
  readonly path: string
  readonly label: string
  readonly isCurrent: boolean
  readonly below: readonly SideLink[]
}

/**
 * The side list of a page.
 *
 * @param part undefined outside of the parts
 * @param path of the open page
 */
export function sideList(
  app: App,
  t: Translate,
  part: DocsPart | undefined,
  path: string,
): readonly SideLink[] {
  return PARTS.map(([one, label]) => ({
    path: `/docs${one}`,
    label: t(label),
    isCurrent: one === part,
    below: one === part ? below(app, t, one, path) : [],
  }))
}

function below(app: App, t: Translate, part: DocsPart, path: string): readonly SideLink[] {
  if (part === '/api') return tags(app, t, path)
  if (part !== '/watches') return []
  return watchTypes(app, t).map(({ path: place, label }) => ({
    path: place,
    label,
    isCurrent: path === place || path.startsWith(`${place}/`),
    below: [],
  }))
}

function tags(app: App, t: Translate, path: string): readonly SideLink[] {
  const reference = apiReference(app, t.locale)
  return reference.tags.map(({ name, description }) => {
    const place = `/docs/api/${name}`
    const isCurrent = place === path
    const operations = isCurrent ? reference.operations.filter(({ tag }) => tag === name) : []
    return {
      path: place,
      label: asHeading(description),
      isCurrent,
      below: operations.map(({ id, summary }) => ({
        path: `#${id}`,
        label: summary,
        isCurrent: false,
        below: [],
      })),
    }
  })
}

/** A sentence as a heading: without its full stop. */
export function asHeading(sentence: string): string {
  return sentence.replace(/[.。।]$/u, '')
}
