import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { PALETTE_CSS } from '#src/pages/layout.ts'
import { contentPolicy } from './content-policy.ts'
import { serveTopic } from './live.ts'

/** The sandbox's pages, in the order of the top bar. */
const SANDBOX_PAGES = [
  { name: 'index', label: 'Index', href: '/' },
  { name: 'chat', label: 'Chat', href: '/chat' },
  { name: 'inbox', label: 'Inbox', href: '/inbox' },
  { name: 'receiver', label: 'Receiver', href: '/receiver' },
  { name: 'hooks', label: 'Chats and pagers', href: '/hooks' },
  { name: 'happen', label: 'Happen', href: '/happen' },
] as const

export type SandboxPageName = (typeof SANDBOX_PAGES)[number]['name']

/** One page for the frame. */
export interface SandboxPage {
  readonly title: string
  /** Escaped HTML with the page's only `h1`. */
  readonly body: string
  readonly current: SandboxPageName
  /** Path of an additional JavaScript module. */
  readonly script?: string
  /** Path of an additional style sheet. */
  readonly style?: string
  /**
   * Topic it listens to. On each event the page is fetched again, and the content of elements with
   * `data-live` is updated; children with an `id` stay unchanged while their HTML does.
   */
  readonly topic?: string
}

/** State of the world in the top bar. */
export interface SandboxStatus {
  readonly now: Date
  /** Block number, if the chain answers. */
  readonly block?: bigint
}

const STATUS_INTERVAL_MS = 1_000
const VIEWS = fileURLToPath(new URL('./views', import.meta.url))
const BROWSER = new URL('./browser/', import.meta.url)

const eta = new Eta({ views: VIEWS, cache: true })

/** Mails are shown in frames that inherit this policy, and their styles are inline. */
const CONTENT_SECURITY_POLICY = contentPolicy("'unsafe-inline'")

/** Renders a template of `views/`; output is escaped by default. */
export function renderView(name: string, data: object): string {
  return eta.render(`./${name}`, data)
}

/** HTML of the bar above every page. Its style and its script are `/layout.css` and `/layout.js`. */
export function topBar(current: SandboxPageName): string {
  return renderView('top-bar', { pages: SANDBOX_PAGES, current })
}

/** A whole page: head, top bar and body. */
export function sandboxPage(page: SandboxPage): string {
  return renderView('layout', { ...page, topBar: topBar(page.current) })
}

/** Answers with a page that loads nothing from other origins. */
export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', CONTENT_SECURITY_POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .send(html)
}

/**
 * Adds the common parts of all pages: styles, `/layout.js`, and the topic `world` with its state. Only the
 * first call on a server has an effect.
 *
 * @param status called each second while a page listens; without it the bar shows no state
 */
export function serveLayout(app: FastifyInstance, status?: () => Promise<SandboxStatus>): void {
  if (app.hasRoute({ method: 'GET', url: '/layout.css' })) return
  serveFile(app, '/layout.css', 'text/css; charset=utf-8', PALETTE_CSS)
  serveFile(app, '/arrivals.css', 'text/css; charset=utf-8')
  serveFile(app, '/layout.js', 'text/javascript; charset=utf-8')
  if (status === undefined) return
  serveTopic(app, 'world', (send) => {
    const report = async () => {
      try {
        const { now, block } = await status()
        send({ now: now.toISOString(), block: block?.toString() })
      } catch {
        // A failing world has no state; the bar keeps the last one.
      }
    }
    const timer = setInterval(() => void report(), STATUS_INTERVAL_MS)
    void report()
    return () => clearInterval(timer)
  })
}

/** Parses HTML forms in the routes of this plugin: the body is an object of strings. */
export function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
  )
}

/** Serves a file of the folder `browser`. @param before text that precedes the content of the file */
function serveFile(app: FastifyInstance, path: string, type: string, before = ''): void {
  const content = before + readFileSync(new URL(`.${path}`, BROWSER), 'utf8')
  app.get(path, (_request, reply) =>
    reply.type(type).header('cache-control', 'no-cache').send(content),
  )
}
