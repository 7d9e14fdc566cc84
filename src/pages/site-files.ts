import type { FastifyInstance, FastifyReply } from 'fastify'
import { escapeHtml, type Translate, translator } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { API_PREFIX } from '#src/operations/openapi/openapi.ts'
import { listEveryProvider } from '#src/operations/pages/look-ups.ts'
import { docsPages } from './docs/side.ts'

const CACHED = 'public, max-age=3600'
/** Time for which the contact in `security.txt` is good. RFC 9116 asks for less than a year. */
const CONTACT_MS = 180 * DAY_MS
/** Pages of one person, and of one alert: their addresses are secrets. */
const PRIVATE_PATHS = [
  '/a/',
  '/connect/',
  '/confirm/',
  '/oauth/',
  '/pay/',
  '/receiver/',
  '/unsubscribe/',
  `${API_PREFIX}/`,
]

/** Files for programs that read sites: search engines, agents, and people who found a weakness. */
export function siteFiles(server: FastifyInstance, app: App): void {
  const { publicUrl, supportUrl } = app

  server.get('/robots.txt', (_request, reply) => {
    const rules = PRIVATE_PATHS.map((path) => `Disallow: ${path}`)
    const lines = ['User-agent: *', ...rules, '', `Sitemap: ${publicUrl}/sitemap.xml`]
    return sendText(reply, 'text/plain', lines)
  })

  server.get('/sitemap.xml', async (request, reply) => {
    const { output } = await invoke(app, listEveryProvider, undefined, {
      limitKey: request.clientNetwork,
    })
    const t = translator('en')
    const paths = [
      ...['/', '/providers', '/problems', '/tokens'],
      ...docsPages(app, t).map(({ path }) => path),
      ...output.map(({ provider }) => `/providers/${provider}`),
    ]
    const urls = paths.flatMap((path) => siteEntry(`${publicUrl}${path}`))
    return sendText(reply, 'application/xml', [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">',
      ...urls,
      '</urlset>',
    ])
  })

  server.get('/llms.txt', (_request, reply) =>
    sendText(reply, 'text/markdown', agentGuide(app, translator('en'))),
  )

  server.get('/.well-known/security.txt', (_request, reply) => {
    if (supportUrl === undefined) return reply.callNotFound()
    const expires = new Date(app.clock.now().getTime() + CONTACT_MS).toISOString()
    return sendText(reply, 'text/plain', [
      `Contact: ${supportUrl}`,
      `Expires: ${expires}`,
      `Preferred-Languages: ${LOCALES.join(', ')}`,
      `Canonical: ${publicUrl}/.well-known/security.txt`,
    ])
  })
}

/** An address of the sitemap, with the same page in the other languages. */
function siteEntry(url: string): readonly string[] {
  const others = LOCALES.map(
    (locale) =>
      `<xhtml:link rel="alternate" hreflang="${locale}" href="${escapeHtml(`${url}?lang=${locale}`)}"/>`,
  )
  return [`<url><loc>${escapeHtml(url)}</loc>${others.join('')}</url>`]
}

/** @see https://llmstxt.org */
function agentGuide(app: App, t: Translate): readonly string[] {
  const { publicUrl } = app
  const docs = docsPages(app, t).map(({ path, label }) => `- [${label}](${publicUrl}${path}.md)`)
  return [
    `# Watchdog · ${servedChain().name}`,
    '',
    `> ${t('pages:home.lead')}`,
    '',
    `- MCP: ${publicUrl}/mcp`,
    `- OpenAPI: ${publicUrl}${API_PREFIX}/openapi.json`,
    `- ${t('pages:providers.title')}: ${publicUrl}/providers`,
    '',
    `## ${t('pages:docs.title')}`,
    '',
    ...docs,
  ]
}

function sendText(reply: FastifyReply, type: string, lines: readonly string[]): FastifyReply {
  reply.header('cache-control', CACHED).type(`${type}; charset=utf-8`)
  reply.compress(`${lines.join('\n')}\n`)
  return reply
}
