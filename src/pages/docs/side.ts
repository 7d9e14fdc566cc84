/** Sidebar of the documentation: its sections, and the pages of the current section. */
import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import type { WatchTypeDefinition } from '#src/watches/define.ts'
import { readApiReference } from './api-reference.ts'
import { guideSections } from './guide.ts'
import { offeredTypes, typePath, watchTypes } from './watches.ts'

/** The sections of the documentation, in reading order. */
const PARTS = [
  ['', 'pages:docs.start'],
  ['/guide', 'pages:docs.guide'],
  ['/api', 'pages:docs.api'],
  ['/webhooks', 'pages:docs.webhooks'],
  ['/x402', 'pages:docs.x402'],
  ['/watches', 'pages:docs.watches'],
  ['/events', 'pages:docs.events'],
] as const
export type DocsPart = (typeof PARTS)[number][0]

/** A link to a page or, with an anchor, to a heading on the current page. */
export interface SideLink {
  readonly path: string
  readonly label: string
  readonly isCurrent: boolean
  readonly below: readonly SideLink[]
}

/**
 * Builds the sidebar of a page.
 *
 * @param part the current section; undefined for a page in no section, such as the search
 * @param path path of the current page
 */
export function sideList(
  app: App,
  t: Translate,
  part: DocsPart | undefined,
  path: string,
): readonly SideLink[] {
  return PARTS.map(([partPath, label]) => ({
    path: `/docs${partPath}`,
    label: t(label),
    isCurrent: partPath === part,
    below: partPath === part ? below(app, t, partPath, path) : [],
  }))
}

function below(app: App, t: Translate, part: DocsPart, path: string): readonly SideLink[] {
  if (part === '/api') return tags(app, t, path)
  if (part === '/guide') {
    return guideSections(app, t).map(({ id, title }) => anchor(id, title))
  }
  if (part !== '/watches') return []
  return watchTypes(app, t).map(({ path: place, label }) => ({
    path: place,
    label,
    isCurrent: path === place || path.startsWith(`${place}/`),
    below: [],
  }))
}

function tags(app: App, t: Translate, path: string): readonly SideLink[] {
  const reference = readApiReference(app, t)
  return reference.tags.map(({ name, description }) => {
    const place = `/docs/api/${name}`
    const isCurrent = place === path
    const operations = isCurrent ? reference.operations.filter(({ tag }) => tag === name) : []
    return {
      path: place,
      label: asHeading(description),
      isCurrent,
      below: operations.map(({ id, summary }) => anchor(id, summary)),
    }
  })
}

/** A link to a heading on the current page. */
function anchor(id: string, label: string): SideLink {
  return { path: `#${id}`, label, isCurrent: false, below: [] }
}

/** Removes the full stop of a sentence, for use as a heading. */
export function asHeading(sentence: string): string {
  return sentence.replace(/[.。।]$/u, '')
}

/** Every page of the documentation, in reading order. */
export function docsPages(app: App, t: Translate): readonly Pick<SideLink, 'path' | 'label'>[] {
  return PARTS.flatMap(([part, label]) => [
    { path: `/docs${part}`, label: t(label) },
    ...below(app, t, part, '').filter(({ path }) => path.startsWith('/')),
    ...(part === '/watches' ? offeredTypes(app).flatMap(signalPages(t)) : []),
  ])
}

/** Pages of the signals of a watch type. */
function signalPages(t: Translate) {
  return ({ name, signals }: WatchTypeDefinition) =>
    signals.map(({ id }) => ({
      path: `${typePath(name)}/${id}`,
      label: t(checkedKey(`signals:${name}.${id}.label`)),
    }))
}
