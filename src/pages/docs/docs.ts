import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { WEBHOOK_HEADERS } from '#src/channels/hooks/webhook.ts'
import { checkedKey, escapeHtml, html, type Translate, translator } from '#src/i18n/translate.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { isLocale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { matchesTag, tagOfDocument } from '#src/operations/gate/etag.ts'
import { API_PREFIX } from '#src/operations/openapi/openapi.ts'
import { botUrl } from '../bot-url.ts'
import { createKeptPages, type KeptPages } from '../kept-pages.ts'
import { choicesOf, localeOf, type Page, queryParametersOf, sendPage } from '../layout.ts'
import { linkPreview } from '../link-preview.ts'
import type { OperationDoc } from './api.ts'
import { readApiReference } from './api-reference.ts'
import { GUIDE_PATH, guideSections } from './guide.ts'
import { QUERY_LENGTH_MAX, searchDocs } from './search.ts'
import { asHeading, type DocsPart, sideList } from './side.ts'
import { VERIFIERS, VERIFY_STEPS, WEBHOOKS_PATH } from './verifiers.ts'
import { eventList, findOfferedType, signalDoc, typeDoc, watchTypes } from './watches.ts'
import { X402_PATH, x402Doc } from './x402.ts'

const EXAMPLES = new URL('../../../examples/', import.meta.url)
/** Address of a service in the examples, in whose place each service names its own. */
const EXAMPLE_ORIGIN = 'https://watchdog.example.org'
/** The client in TypeScript, as npm packs it. */
const CLIENT_PATH = '/docs/flare-watchdog-client.tgz'

/** What operators of providers load into Prometheus and Grafana. */
const MONITORING = [
  { path: '/docs/prometheus.yml', file: 'prometheus.yml', type: 'application/yaml' },
  { path: '/docs/provider-rules.yaml', file: 'provider/rules.yaml', type: 'application/yaml' },
  { path: '/docs/provider-board.json', file: 'provider/dashboard.json', type: 'application/json' },
] as const

/** Content of a page of the docs. Without `parameters` it is kept for all readers. */
interface DocsPage {
  /** Section of the docs; undefined for the search page. */
  readonly part: DocsPart | undefined
  readonly view: string
  readonly parameters?: readonly string[]
  /** What the page is about, for links to it; by default what the docs are about. */
  description?(t: Translate): string
  data(t: Translate): { readonly title: string } & Readonly<Record<string, unknown>>
}

/**
 * `/docs`: first steps, the guide for people, the API from the operations' registry, webhooks, watches with the help of every
 * signal, events. Split so that no page is heavy. Long because each part of the docs has its routes here.
 */
export function docsPage(server: FastifyInstance, app: App): void {
  const reference = (t: Translate) => readApiReference(app, t)
  const service = { app, pages: createKeptPages(app) }
  const quickstart = readExample(app, 'quickstart.mjs')
  const x402Program = readExample(app, 'x402.mjs')
  const verifiers = VERIFIERS.map(({ name, file }) => ({
    name,
    code: readExample(app, `verify/${file}`),
  }))
  const vector = {
    headers: readExample(app, 'verify/vector/headers.txt'),
    body: readExample(app, 'verify/vector/body.txt'),
  }
  const monitoring = MONITORING.map(({ file, ...others }) => ({
    ...others,
    text: readExample(app, file),
  }))
  const client = readFileSync(new URL('flare-watchdog-client.tgz', EXAMPLES))
  const clientTag = tagOfDocument(client.toString('base64'))

  // Each page is there as Markdown, too: its path with `.md`.
  const page = <Params>(
    path: string,
    handler: (
      request: FastifyRequest<{ Params: Params }>,
      reply: FastifyReply,
    ) => Promise<FastifyReply>,
  ) => {
    server.get(path, handler)
    server.get(`${path.replace(/:\w+$/, '$&(^[^./]+)')}.md`, handler)
  }

  server.get('/docs/quickstart.mjs', (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(quickstart),
  )
  server.get(`${X402_PATH}.mjs`, (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(x402Program),
  )
  for (const { path, type, text } of monitoring) {
    server.get(path, (_request, reply) => reply.type(`${type}; charset=utf-8`).send(text))
  }
  server.get(CLIENT_PATH, (request, reply) => {
    reply
      .header('cache-control', `public, max-age=${HOUR_MS / 1000}`)
      .header('etag', clientTag)
      .type('application/gzip')
    if (matchesTag(request.headers['if-none-match'], clientTag)) return reply.code(304).send()
    return reply.send(client)
  })
  page('/docs', (request, reply) =>
    sendDocs(service, request, reply, {
      part: '',
      view: 'docs',
      data: (t) => ({
        title: t('pages:docs.title'),
        botUrl: botUrl(app),
        security: t('operations:info.security'),
        quickstart,
        commands: [
          `curl -fsSO ${app.publicUrl}/docs/quickstart.mjs`,
          'npm install viem',
          'node quickstart.mjs',
        ].join('\n'),
        installClient: `npm install ${app.publicUrl}${CLIENT_PATH}`,
        agentsHtml: t.html('pages:docs.agents.text', {
          url: html(`<code dir="ltr">${escapeHtml(`${app.publicUrl}/mcp`)}</code>`),
        }),
      }),
    }),
  )
  page(GUIDE_PATH, (request, reply) =>
    sendDocs(service, request, reply, {
      part: '/guide',
      description: (t) => t('pages:home.lead'),
      view: 'docs-guide',
      data: (t) => ({
        title: t('pages:docs.guide'),
        botUrl: botUrl(app),
        sections: guideSections(app, t),
      }),
    }),
  )
  page('/docs/api', (request, reply) =>
    sendDocs(service, request, reply, {
      part: '/api',
      view: 'docs-api',
      data: (t) => ({
        title: t('pages:docs.api'),
        intro: t('operations:info.description'),
        openapi: `${API_PREFIX}/openapi.json?locale=${t.locale}`,
        tags: reference(t).tags.map((tag) => ({
          ...tag,
          description: asHeading(tag.description),
          operations: reference(t).operations.filter((operation) => operation.tag === tag.name),
        })),
      }),
    }),
  )
  page<{ tag: string }>('/docs/api/:tag', (request, reply) =>
    sendDocs(service, request, reply, {
      part: '/api',
      view: 'docs-tag',
      data: (t) => {
        const { tags, operations } = reference(t)
        const tag = tags.find(({ name }) => name === request.params.tag)
        if (tag === undefined) throw notFound()
        return {
          title: asHeading(tag.description),
          operations: withoutRepeats(
            operations.filter((operation) => operation.tag === tag.name),
          ).map((operation) => ({
            ...operation,
            scopeHtml: operation.scope && scopeHtml(t, operation.scope),
          })),
          problemPath: '/problems',
        }
      },
    }),
  )
  page(WEBHOOKS_PATH, (request, reply) =>
    sendDocs(service, request, reply, {
      part: '/webhooks',
      description: (t) => t('pages:docs.webhooks.lead'),
      view: 'docs-webhooks',
      data: (t) => ({
        title: t('pages:docs.webhooks'),
        headers: WEBHOOK_HEADERS.map(({ name }) => name),
        fields: { label: t('pages:docs.webhooks.body'), rows: reference(t).webhook },
        steps: VERIFY_STEPS,
        verifiers,
        vector,
      }),
    }),
  )
  page(X402_PATH, (request, reply) =>
    sendDocs(service, request, reply, {
      part: '/x402',
      description: (t) => t('pages:docs.x402.lead'),
      view: 'docs-x402',
      data: (t) => x402Doc(app, t, x402Program),
    }),
  )
  server.get('/docs/search', async (request, reply) => {
    const query = (queryParametersOf(request)['q'] ?? '').trim().slice(0, QUERY_LENGTH_MAX)
    const found = await searchDocs(app, translator(localeOf(request)), query)
    return sendDocs(service, request, reply, {
      part: undefined,
      view: 'docs-search',
      parameters: ['q'],
      data: (t) => {
        const { results, isEveryWord, suggestion } = found
        return {
          title: t('pages:docs.search.find'),
          query,
          results,
          isEveryWord,
          count: t('pages:docs.search.count', { count: results.length }),
          suggestionHtml: suggestion && suggestionHtml(t, suggestion, choicesOf(request)),
        }
      },
    })
  })
  page('/docs/events', (request, reply) =>
    sendDocs(service, request, reply, {
      part: '/events',
      description: (t) => t('pages:docs.events.lead'),
      view: 'docs-events',
      data: (t) => ({ title: t('pages:docs.events'), events: eventList(app, t) }),
    }),
  )
  page('/docs/watches', (request, reply) =>
    sendDocs(service, request, reply, {
      part: '/watches',
      description: (t) => t('pages:docs.watches.lead'),
      view: 'docs-watches',
      data: (t) => ({ title: t('pages:docs.watches'), types: watchTypes(app, t) }),
    }),
  )
  page<{ type: string }>('/docs/watches/:type', (request, reply) => {
    const type = findOfferedType(app, request.params.type)
    if (type === undefined) throw notFound()
    return sendDocs(service, request, reply, {
      part: '/watches',
      view: 'docs-type',
      description: (t) => t(checkedKey(`signals:type.${type.name}.description`)),
      data: (t) => typeDoc(app, t, type),
    })
  })
  page<{ type: string; signal: string }>('/docs/watches/:type/:signal', (request, reply) => {
    const type = findOfferedType(app, request.params.type)
    const signal = type?.signals.find(({ id }) => id === request.params.signal)
    if (type === undefined || signal === undefined) throw notFound()
    return sendDocs(service, request, reply, {
      part: '/watches',
      view: 'docs-signal',
      description: (t) => t(checkedKey(`signals:${type.name}.${signal.id}.description`)),
      data: (t) => signalDoc(app, t, type, signal),
    })
  })
}

async function sendDocs(
  { app, pages }: { readonly app: App; readonly pages: KeptPages },
  request: FastifyRequest,
  reply: FastifyReply,
  { part, view, parameters, description, data }: DocsPage,
): Promise<FastifyReply> {
  const address = request.url.split('?')[0] ?? ''
  const path = address.replace(/\.md$/, '')
  const isMarkdown = path !== address
  const page: Page = {
    view: isMarkdown ? view : 'docs-frame',
    isMarkdown,
    ...(parameters !== undefined && { parameters }),
    data: (t) => ({
      share: linkPreview(app, t, {
        path,
        description: description?.(t) ?? t('pages:docs.lead'),
      }),
      ...data(t),
      inner: `./${view}`,
      parts: sideList(app, t, part, path),
      ...(parameters === undefined && { markdown: `${path}.md` }),
      chosenLocale: isLocale(queryParametersOf(request)['lang']) ? t.locale : undefined,
      script: '/scripts/docs.js',
    }),
  }
  return parameters === undefined
    ? pages.send(request, reply, () => page)
    : sendPage(app, request, reply, page)
}

/**
 * Pairs each operation with the first operation of the page that has the same response, so that fields are
 * listed once.
 */
function withoutRepeats(operations: readonly OperationDoc[]) {
  const first = new Map<string, OperationDoc>()
  return operations.map((operation) => {
    const fields = JSON.stringify(operation.answer)
    const sameAs = first.get(fields)
    if (sameAs === undefined) first.set(fields, operation)
    return { ...operation, sameAs }
  })
}

/** "Did you mean …?", with a link that searches it in the language that the reader chose. */
function suggestionHtml(t: Translate, suggestion: string, choices: string): string {
  const href = `/docs/search?${new URLSearchParams([['q', suggestion], ...new URLSearchParams(choices)])}`
  const link = `<a href="${escapeHtml(href)}"><bdi>${escapeHtml(suggestion)}</bdi></a>`
  return t.html('pages:docs.search.didYouMean', { query: html(link) })
}

function notFound(): AppError {
  return new AppError('not_found', 'not_found')
}

/** A file of `examples`, with the address of this service. */
function readExample({ publicUrl }: App, file: string): string {
  const text = readFileSync(new URL(file, EXAMPLES), 'utf8').replaceAll(EXAMPLE_ORIGIN, publicUrl)
  return text.replaceAll(new URL(EXAMPLE_ORIGIN).host, new URL(publicUrl).host)
}

function scopeHtml(t: Translate, scope: string): string {
  return t.html('pages:docs.scope', { scope: html(`<bdi dir="ltr">${escapeHtml(scope)}</bdi>`) })
}
