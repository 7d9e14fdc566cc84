import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { serveTopic } from './live.ts'

/** The sandbox's pages, in the order of the top bar. */
const SANDBOX_PAGES = [
  { name: 'index', label: 'Index', href: '/' },
  { name: 'chat', label: 'Chat', href: '/chat' },
  { name: 'inbox', label: 'Inbox', href: '/inbox' },
  { name: 'receiver', label: 'Receiver', href: '/receiver' },
  { name: 'hooks', label: 'Discord and Slack', href: '/hooks' },
  { name: 'happen', label: 'Happen', href: '/happen' },
] as const

export type SandboxPageName = (typeof SANDBOX_PAGES)[number]['name']

/** One page for the shell. */
export interface SandboxPage {
  readonly title: string
  /** HTML, already escaped, with the page's one `h1`. */
  readonly body: string
  readonly current: SandboxPageName
  /** Path of a further JavaScript module. */
  readonly script?: string
  /** Path of a further style sheet. */
  readonly style?: string
  /**
   * What it listens to. At each event of it the page is fetched again, and what is inside
   * elements with `data-live` is brought up to date; children with an `id` stay as they are while
   * their HTML does.
   */
  readonly topic?: string
}

/** What the top bar shows of the world. */
export interface SandboxStatus {
  readonly now: Date
  /** Height of the chain, where it can be asked. */
  readonly block?: bigint
}

const STATUS_INTERVAL_MS = 1_000
const VIEWS = fileURLToPath(new URL('./views', import.meta.url))
const BROWSER = new URL('./browser/', import.meta.url)

const eta = new Eta({ views: VIEWS, cache: true })

/** Mails are shown in frames that inherit this policy, and their styles are inline. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Fills one of the templates in `views/`; whatever it prints is escaped unless it says otherwise. */
export function renderView(name: string, data: object): string {
  return eta.render(`./${name}`, data)
}

/** The bar above every page as HTML. Its style and its script are `/layout.css` and `/layout.js`. */
export function topBar(current: SandboxPageName): string {
  return renderView('top-bar', { pages: SANDBOX_PAGES, current })
}

/** A whole page: head, top bar and body. */
export function sandboxPage(page: SandboxPage): string {
  return renderView('layout', { ...page, topBar: topBar(page.current) })
}

/** Answers with a page that nothing may be loaded into from elsewhere. */
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
 * Adds what every page loads: its styles, `/layout.js`, and the topic `world` with the state of it. The first call on a server counts, further ones do nothing.
 *
 * @param status asked each second while a page listens; without it the bar shows no state
 */
export function serveLayout(app: FastifyInstance, status?: () => Promise<SandboxStatus>): void {
  if (app.hasRoute({ method: 'GET', url: '/layout.css' })) return
  serveFile(app, '/layout.css', 'text/css; charset=utf-8')
  serveFile(app, '/arrivals.css', 'text/css; charset=utf-8')
  serveFile(app, '/layout.js', 'text/javascript; charset=utf-8')
  if (status === undefined) return
  serveTopic(app, 'world', (send) => {
    const report = async () => {
      try {
        const { now, block } = await status()
        send({ now: now.toISOString(), block: block?.toString() })
      } catch {
        // A world with a part of it down has no state to tell; the bar keeps the last one.
      }
    }
    const timer = setInterval(() => void report(), STATUS_INTERVAL_MS)
    void report()
    return () => clearInterval(timer)
  })
}

/** Lets the routes of this plugin take HTML forms: the body is an object of strings. */
export function acceptForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
  )
}

function serveFile(app: FastifyInstance, path: string, type: string): void {
  const content = readFileSync(new URL(`.${path}`, BROWSER))
  app.get(path, (_request, reply) =>
    reply.type(type).header('cache-control', 'no-cache').send(content),
  )
}
