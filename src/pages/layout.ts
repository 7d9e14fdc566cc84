/**
 * The frame of every page: language, direction, styles, menu. Pages work without scripts; they are rendered
 * on the server, and all template values are escaped.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isTimeZone } from '#src/i18n/format.ts'
import { escapeHtml, type Translate, translator } from '#src/i18n/translate.ts'
import { isFlare, servedChain, titleOnChain } from '#src/kernel/chains.ts'
import {
  directionOf,
  isLocale,
  LOCALES,
  type Locale,
  localeName,
  negotiateLocale,
} from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { matchesTag, tagOfDocument } from '#src/operations/gate/etag.ts'
import { toMarkdown } from './markdown.ts'

/** Folder of the styles and the logo. */
export const ASSETS_FOLDER = fileURLToPath(new URL('./assets', import.meta.url))
/** Folder of the pages' scripts. */
export const SCRIPTS_FOLDER = fileURLToPath(new URL('./browser', import.meta.url))

/** Allows only files of this service, and no embedding in frames. */
export const CONTENT_SECURITY_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
}

/** One page for the frame. */
export interface Page {
  /** Locale of the link's recipient, preferred over the browser's languages. */
  readonly locale?: Locale | undefined
  /** Name of the template in `views/`. */
  readonly view: string
  /** Template data in addition to `t` and `lang`. */
  data(t: Translate): {
    readonly title: string
    readonly share?: LinkPreview
    readonly alternates?: readonly Alternate[]
  } & Readonly<Record<string, unknown>>
  readonly status?: number
  /** Whether the URL contains a code or a signature, or the page is soon out of date: it is not cached. */
  readonly isUncached?: boolean
  /**
   * Time for which shared caches may keep the page, with an ETag for revalidation. By default 300 seconds,
   * without an ETag.
   */
  readonly freshSeconds?: number
  /** Whether the page is sent as Markdown, without its frame. */
  readonly isMarkdown?: boolean
  /** Query parameters of the page, beside language and time zone, that its links to other languages keep. */
  readonly parameters?: readonly string[]
}

/** A page as HTML or Markdown, with what its headers say. */
export type RenderedPage = Pick<Page, 'status' | 'isUncached' | 'freshSeconds'> & {
  readonly text: string
  readonly type: 'text/html' | 'text/markdown'
  readonly locale: Locale
}

/** A feed or another file about what the page is about, which programs find through the page. */
interface Alternate {
  readonly type: string
  readonly href: string
  readonly title: string
}

/** Preview of a shared link to a page. */
export interface LinkPreview {
  readonly description: string
  readonly url: string
  /** URL of a PNG; its width and height in pixels and its description follow. */
  readonly image: string
  readonly width: number
  readonly height: number
  readonly alt: string
}

const PUBLIC_SECONDS = 300
const eta = new Eta({ views: fileURLToPath(new URL('./views', import.meta.url)), cache: true })
/** Colours by name, which the sandbox uses, too. */
export const PALETTE_CSS = readFileSync(`${ASSETS_FOLDER}/palette.css`, 'utf8')
/** The styles of every page, without comments and line breaks. */
export const PAGE_CSS = (PALETTE_CSS + readFileSync(`${ASSETS_FOLDER}/style.css`, 'utf8'))
  .replace(/\/\*[\s\S]*?\*\//g, '')
  .replace(/\s*([{};])\s*/g, '$1')
const styleVersion = createHash('sha256').update(PAGE_CSS).digest('hex').slice(0, 8)

/** The reader's locale: `?lang=`, then the link's, then the browser's, then English. */
export function localeOf(request: FastifyRequest, known?: Locale): Locale {
  const { lang } = queryParametersOf(request)
  if (isLocale(lang)) return lang
  return known ?? negotiateLocale(request.headers['accept-language'])
}

/** The language that the address names, because shared caches keep one file for all readers of an address. */
export function chosenLocale(request: FastifyRequest): Locale {
  const { lang } = queryParametersOf(request)
  return isLocale(lang) ? lang : 'en'
}

/** The reader's time zone: `?tz=`, then UTC. */
export function zoneOf(request: FastifyRequest): string {
  const { tz = '' } = queryParametersOf(request)
  return isTimeZone(tz) ? tz : 'UTC'
}

/** The language and time zone that the request's link chose, as a query with its `?`; empty for none. */
export function choicesOf(request: FastifyRequest): string {
  const { lang, tz = '' } = queryParametersOf(request)
  const chosen = new URLSearchParams({
    ...(isLocale(lang) ? { lang } : {}),
    ...(isTimeZone(tz) ? { tz } : {}),
  })
  return chosen.size === 0 ? '' : `?${chosen}`
}

/**
 * What a page depends on besides its own data and `parameters`, as the key of a cache: path, language and time zone of a
 * request.
 */
export function renderingKey(request: FastifyRequest): string {
  return [pathOf(request), localeOf(request), choicesOf(request)].join(' ')
}

/** Answers with a page. */
export function sendPage(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
): FastifyReply {
  return sendRendered(request, reply, renderPage(app, request, page))
}

/** Renders a page for the path, the language and the time zone of a request. */
export function renderPage(app: App, request: FastifyRequest, page: Page): RenderedPage {
  const locale = localeOf(request, page.locale)
  const t = translator(locale)
  const data = page.data(t)
  const shared = {
    t,
    locale,
    dir: directionOf(locale),
    link: linker(request),
    action: pathOf(request),
    publicUrl: app.publicUrl,
    supportUrl: app.supportUrl,
    sendsNothing: app.sendsNothing,
    withCode,
    languages: LOCALES.map((code) => ({
      code,
      name: localeName(code),
      dir: directionOf(code),
      href: hrefIn(request, code, page.parameters),
      isCurrent: code === locale,
    })),
  }
  const body = keepWhole(eta.render(`./${page.view}`, { ...shared, ...data }))
  const { status, isUncached, freshSeconds, isMarkdown = false } = page
  const kept = {
    locale,
    ...(status !== undefined && { status }),
    ...(isUncached !== undefined && { isUncached }),
    ...(freshSeconds !== undefined && { freshSeconds }),
  }
  if (isMarkdown) {
    const text = toMarkdown(`<h1>${escapeHtml(data.title)}</h1>${body}`, app.publicUrl)
    return { ...kept, text, type: 'text/markdown' }
  }
  const text = eta.render('./layout', {
    ...shared,
    title: titleOnChain(data.title),
    share: data.share,
    markdown: data['markdown'],
    alternates: data.alternates ?? [],
    chain: isFlare() ? undefined : servedChain().name,
    body,
    style: `/assets/style.css?v=${styleVersion}`,
    termsUrl: app.billing.enabled ? app.billing.terms.url : undefined,
  })
  return { ...kept, text, type: 'text/html' }
}

/** Answers with a rendered page. */
export function sendRendered(
  request: FastifyRequest,
  reply: FastifyReply,
  page: RenderedPage,
): FastifyReply {
  const { text, type, locale, freshSeconds = PUBLIC_SECONDS } = page
  reply
    .code(page.status ?? 200)
    .header('content-language', locale)
    .header('vary', 'accept-language')
    .header('cache-control', page.isUncached ? 'no-store' : `public, max-age=${freshSeconds}`)
  if (page.freshSeconds !== undefined) {
    const tag = tagOfDocument(text)
    reply.header('etag', tag)
    if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  }
  reply.type(`${type}; charset=utf-8`)
  // A tag is of the bytes as they are. The length of compressed bytes tells parts of a secret in a page to somebody
  // who can put text into the page.
  if (page.freshSeconds !== undefined || page.isUncached) return reply.send(text)
  reply.compress(text)
  return reply
}

/** A text as HTML, with the parts between backticks as code. */
function withCode(text = ''): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code dir="ltr">$1</code>')
}

/** Keeps shortened addresses in a text on one line. */
function keepWhole(body: string): string {
  return body.replace(
    /0x[0-9A-Fa-f]{4}…[0-9A-Fa-f]{4}(?=[^<>]*<)/g,
    '<span class="whole">$&</span>',
  )
}

/** Builds links to other pages that keep the language and time zone the reader chose. */
function linker(request: FastifyRequest): (path: string) => string {
  const choices = choicesOf(request)
  return (path) => `${path}${choices}`
}

/** Address of this page in another language, with the time zone and the parameters of the page. */
function hrefIn(
  request: FastifyRequest,
  locale: Locale,
  parameters: readonly string[] = [],
): string {
  const { lang: _, ...choices } = Object.fromEntries(new URLSearchParams(choicesOf(request)))
  const kept = Object.entries(queryParametersOf(request)).filter(([name]) =>
    parameters.includes(name),
  )
  return `${pathOf(request)}?${new URLSearchParams({ ...Object.fromEntries(kept), ...choices, lang: locale })}`
}

/** Address of this page, with its query. */
export function addressOf(request: FastifyRequest): string {
  const search = request.url.split('?')[1]
  return search === undefined ? pathOf(request) : `${pathOf(request)}?${search}`
}

/** Path with a single leading slash, because two slashes would name another host in a link. */
function pathOf(request: FastifyRequest): string {
  return (request.url.split('?')[0] ?? '').replace(/^[/\\]*/, '/')
}

/** The query parameters; of one that is repeated, the last value. */
export function queryParametersOf(request: FastifyRequest): Readonly<Record<string, string>> {
  const search = request.url.split('?')[1] ?? ''
  return Object.fromEntries(new URLSearchParams(search))
}
