/**
 * The shell of every page: language, direction, styles, menu. Pages work without any script; what they
 * show is rendered here, and everything that is put into a template is escaped.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Translate, translator } from '#src/i18n/translate.ts'
import {
  directionOf,
  isLocale,
  LOCALE_NAMES,
  LOCALES,
  type Locale,
  negotiateLocale,
} from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'

/** Where the styles and the mark are. */
export const ASSETS = fileURLToPath(new URL('./assets', import.meta.url))
/** Where the pages' scripts are. */
export const SCRIPTS = fileURLToPath(new URL('./browser', import.meta.url))

/**
 * Nothing but our own files, and no page of ours in a frame.
 *
 */
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

/** One page for the shell. */
export interface Page {
  /** What the link is for, if it knows a reader: asked before the browser's languages. */
  readonly locale?: Locale | undefined
  /** Name of the template in `views/`. */
  readonly view: string
  /** What the template gets beside `t` and `lang`. */
  data(t: Translate): { readonly title: string } & Readonly<Record<string, unknown>>
  readonly status?: number
  /** The address holds a code or a signature: nobody keeps the page. */
  readonly secret?: boolean
}

const PUBLIC_SECONDS = 300
const eta = new Eta({ views: fileURLToPath(new URL('./views', import.meta.url)), cache: true })
const styleVersion = createHash('sha256')
  .update(readFileSync(`${ASSETS}/style.css`))
  .digest('hex')
  .slice(0, 8)

/** The reader's language: `?lang=`, then what the link knows, then the browser's, then English. */
export function localeOf(request: FastifyRequest, known?: Locale): Locale {
  const { lang } = queryOf(request)
  if (isLocale(lang)) return lang
  return known ?? negotiateLocale(request.headers['accept-language'])
}

/** Answers with a page. */
export function sendPage(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
): FastifyReply {
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
  }
  const body = keepWhole(eta.render(`./${page.view}`, { ...shared, ...data }))
  const html = eta.render('./layout', {
    ...shared,
    title: data.title,
    body,
    style: `/assets/style.css?v=${styleVersion}`,
    languages: LOCALES.map((code) => ({
      code,
      name: LOCALE_NAMES[code],
      dir: directionOf(code),
      href: hrefIn(request, code),
      isCurrent: code === locale,
    })),
    termsUrl: app.billing.enabled ? app.billing.terms.url : undefined,
  })
  return reply
    .code(page.status ?? 200)
    .header('content-language', locale)
    .header('vary', 'accept-language')
    .header('cache-control', page.secret ? 'no-store' : `public, max-age=${PUBLIC_SECONDS}`)
    .type('text/html; charset=utf-8')
    .send(html)
}

/** Shortened addresses stay on one line, where they stand in a text. */
function keepWhole(body: string): string {
  return body.replace(
    /0x[0-9A-Fa-f]{4}…[0-9A-Fa-f]{4}(?=[^<>]*<)/g,
    '<span class="whole">$&</span>',
  )
}

/** Links to our own pages that keep the language the reader chose by hand. */
function linker(request: FastifyRequest): (path: string) => string {
  const { lang } = queryOf(request)
  return (path) => (isLocale(lang) ? `${path}?lang=${lang}` : path)
}

/** This page in another language. */
function hrefIn(request: FastifyRequest, locale: Locale): string {
  const { lang: _, ...others } = queryOf(request)
  return `${pathOf(request)}?${new URLSearchParams({ ...others, lang: locale })}`
}

/** With one slash before it: two would name another host in a link. */
function pathOf(request: FastifyRequest): string {
  return (request.url.split('?')[0] ?? '').replace(/^[/\\]*/, '/')
}

/** The parameters of the address that stand there once. */
export function queryOf(request: FastifyRequest): Readonly<Record<string, string>> {
  const search = request.url.split('?')[1] ?? ''
  return Object.fromEntries(new URLSearchParams(search))
}
