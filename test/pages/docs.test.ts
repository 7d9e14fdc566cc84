import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WEBHOOK_HEADERS, WebhookPayload } from '#src/channels/hooks/webhook.ts'
import { checkedKey, translator } from '#src/i18n/translate.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { openApiDocument } from '#src/operations/openapi/openapi.ts'
import { apiDocs } from '#src/pages/docs/api.ts'
import { EVENTS } from '#src/watches/events.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import { openSite, type Site } from './site.ts'

const PAGE_BYTES_MAX = 100_000

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

const plain = (line: string) =>
  line
    .replace(/[\u2066-\u2069]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
/** A text as a page shows it, whose tags leave blanks: names between backticks are code there. */
const letters = (text: string) => text.replace(/[`\s]/g, '')
const routed = () => site.app.operations.filter(({ path }) => path !== undefined)

/** Every page of the docs that links lead to from the first one. */
async function crawl(locale: Locale): Promise<ReadonlyMap<string, { html: string; text: string }>> {
  const pages = new Map<string, { html: string; text: string }>()
  // Readers of one language come from one network.
  const from = `192.0.2.${1 + LOCALES.indexOf(locale)}`
  const waiting = ['/docs']
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (pages.has(path)) continue
    const { status, html, text } = await site.get(path, { 'accept-language': locale }, from)
    expect([path, status]).toEqual([path, 200])
    pages.set(path, { html, text })
    waiting.push(
      ...[...html.matchAll(/<a [^>]*href="(\/docs[^"#?]*)/g)].flatMap(([, link]) => link ?? []),
    )
  }
  return pages
}

describe.each(LOCALES)('in %s', (locale) => {
  const t = translator(locale)

  test('every operation is explained, with its fields and four ways to try it', async () => {
    const pages = await crawl(locale)
    expect(routed().length).toBeGreaterThan(30)
    for (const { id, method, path, scope, tag: own } of routed()) {
      const tag = own ?? path?.split('/')[1]?.replace('.json', '')
      const page = pages.get(`/docs/api/${tag}`)
      const start = page?.html.indexOf(`<h2 id="${id}">`) ?? -1
      expect(start, id).toBeGreaterThan(0)
      const section = page?.html.slice(start, page.html.indexOf('</section>', start)) ?? ''
      expect(section).toContain(`<code>${method} /api/x402${path}</code>`)
      expect(section.includes(`<bdi dir="ltr">${scope}</bdi>`)).toBe(scope !== 'none')
      expect(section).toMatch(/curl (?:&#39;)?http/)
      expect(section).toContain('await fetch(')
      expect(section).toContain('import ')
      expect(section).toContain('package main')
      expect(page?.text).toContain(plain(t(checkedKey(`operations:${id}.summary`))))
      const description = plain(t(checkedKey(`operations:${id}.description`)))
      expect(letters(page?.text ?? '')).toContain(letters(description))
      expect(pages.get('/docs/api')?.html).toContain(`/docs/api/${tag}#${id}"`)
    }
  })

  test('the body of a webhook is listed field by field, with the rule for unknown ones', async () => {
    const { html, text } = await site.get('/docs/webhooks', { 'accept-language': locale })
    const fields = Object.keys(WebhookPayload.shape)
    expect(fields).toHaveLength(14)
    for (const field of fields) {
      expect(html).toContain(`<code dir="ltr">${field}</code>`)
      const meaning = plain(t(checkedKey(`operations:field.webhook.${field}`)))
      expect(letters(text)).toContain(letters(meaning))
    }
    expect(html).toContain('<code dir="ltr">renderedMessage.fields[].href</code>')
    expect(html).toContain('<code dir="ltr">string | null</code>')
    expect(text).toContain(plain(t('pages:docs.webhooks.body.text')))
    for (const { name } of WEBHOOK_HEADERS) {
      expect(html).toContain(`<bdi dir="ltr">${name}</bdi>`)
      expect(text).toContain(plain(t(checkedKey(`pages:docs.header.${name}`))))
    }
  })

  test('every signal has its help, its parameters and its events, and no page exceeds its size', async () => {
    const pages = await crawl(locale)
    for (const { name, signals } of WATCH_TYPES) {
      for (const { id, parameters, events } of signals) {
        const page = pages.get(`/docs/watches/${name}/${id}`)
        for (const part of ['checked', 'why', 'causes', 'action']) {
          const help = t(checkedKey(`signals:${name}.${id}.help.${part}`))
          // The page shows the numbers and bullets of lines as lists.
          for (const line of help.split('\n')) {
            const text = line.replace(/^(\d+\.|•) /, '')
            expect(page?.text, `${id} ${part}`).toContain(plain(text))
          }
        }
        for (const { key } of parameters) expect(page?.text).toContain(key)
        for (const event of events.alerts) expect(page?.html).toContain(`id="${event}"`)
      }
    }
    for (const [path, { html }] of pages) {
      expect([path, Buffer.byteLength(html) < PAGE_BYTES_MAX]).toEqual([path, true])
      expect(html, path).not.toContain('>undefined<')
      expect(html.match(/<h1/g), path).toHaveLength(1)
    }
    for (const event of EVENTS) expect(pages.get('/docs/events')?.text).toContain(event)
  })
})

test('an operation is found by what it does, its address and its fields, best first', async () => {
  const hits = async (query: string, lang = 'en') => {
    const { html } = await site.get(`/docs/search?q=${encodeURIComponent(query)}&lang=${lang}`)
    return [...html.matchAll(/<li><a href="([^"]+)"><strong>/g)].map(([, href]) => href)
  }
  expect((await hits('create watch'))[0]).toBe('/docs/api/watches?lang=en#createWatch')
  expect(await hits('POST /watches')).toContain('/docs/api/watches?lang=en#createWatch')
  expect(await hits('cooldownSeconds')).toContain('/docs/api/watches?lang=en#updateWatch')
  expect(await hits('fsp.ftso-commit')).toContain('/docs/events?lang=en#fsp.ftso-commit')
  expect(await hits('no_free_slot')).toEqual(['/problems/no_free_slot?lang=en'])
  expect((await hits('UBERWACHUNG anlegen', 'de'))[0]).toBe('/docs/api/watches?lang=de#createWatch')
  for (const locale of LOCALES) {
    const summary = translator(locale)('operations:createWatch.summary')
    const path = `/docs/api/watches?lang=${locale}#createWatch`
    expect(await hits(summary, locale), locale).toContain(path)
  }
})

test('the search finds what the guide for people explains, in every language', async () => {
  const hits = async (query: string, lang: string) => {
    const { html } = await site.get(`/docs/search?q=${encodeURIComponent(query)}&lang=${lang}`)
    return [...html.matchAll(/<li><a href="([^"]+)"><strong>/g)].map(([, href]) => href)
  }
  expect((await hits('quiet hours', 'en'))[0]).toBe('/docs/guide?lang=en#quiet')
  expect(await hits('connect a wallet', 'en')).toContain('/docs/guide?lang=en#first')
  expect((await hits('acknowledge', 'en'))[0]).toBe('/docs/guide?lang=en#mute')
  expect(await hits('discounts', 'en')).toContain('/docs/guide?lang=en#credits')
  for (const locale of LOCALES) {
    const escalation = translator(locale)('pages:docs.guide.escalation')
    expect(await hits(escalation, locale)).toContain(`/docs/guide?lang=${locale}#escalation`)
  }
})

test.each(
  LOCALES,
)('the guide says what people need, and home and docs lead to it, in %s', async (locale) => {
  const t = translator(locale)
  for (const path of ['/', '/docs']) {
    expect((await site.get(path, { 'accept-language': locale })).html).toContain(
      'href="/docs/guide',
    )
  }
  const { html, text } = await site.get('/docs/guide', { 'accept-language': locale })
  for (const { name } of WATCH_TYPES) {
    expect(text).toContain(plain(t(checkedKey(`signals:type.${name}.description`))))
    expect(html).toContain(`href="/docs/watches/${name}`)
  }
  for (const key of ['escalation', 'leave', 'lookup', 'programs', 'types'] as const) {
    expect(text).toContain(plain(t(`pages:docs.guide.${key}`)))
    expect(text).toContain(plain(t(`pages:docs.guide.${key}.text`)))
  }
  for (const key of ['quiet', 'digest', 'reminders'] as const) {
    const settings = t('bot:button.settings')
    expect(text).toContain(plain(t(`pages:docs.guide.${key}.text`, { settings })))
  }
  expect(html).not.toMatch(/&lt;b&gt;|&amp;\w+;|\{\{|<p><\/p>/)
  const ids = [...html.matchAll(/<h2 id="(\w+)"/g)].map(([, id]) => id)
  expect(ids).toEqual(
    expect.arrayContaining(['first', 'types', 'alerts', 'mute', 'recipients', 'credits', 'groups']),
  )
  for (const id of ids) expect(html).toContain(`href="#${id}"`)
  const inner = [...html.matchAll(/href="#(\w+)"/g)].map(([, id]) => id)
  expect(inner.filter((id) => !ids.includes(id) && !html.includes(`id="${id}"`))).toEqual([])
})

test('a search without a hit or a word says so, and shows what was typed as text', async () => {
  const { html, text } = await site.get('/docs/search?q=%3Czzqq%3Ezzyy(1)%3C/zzqq%3E')
  expect(text).toContain('0 results')
  expect(html).not.toContain('<zzqq>')
  const empty = await site.get('/docs/search?q=')
  expect([empty.status, empty.html.includes('class="results"')]).toEqual([200, false])
  expect((await site.get(`/docs/search?q=${'a'.repeat(5000)}`)).status).toBe(200)
})

test('the side list leads to every part, and from an open part to its pages and operations', async () => {
  const { html } = await site.get('/docs/api/watches')
  const start = html.indexOf('<nav class="parts"')
  const side = html.slice(start, html.indexOf('</nav>', start))
  for (const href of [
    '/docs',
    '/docs/events',
    '/docs/api/alerts',
    '#createWatch',
    '#deleteWatch',
  ]) {
    expect(side).toContain(`<a href="${href}"`)
  }
  expect(side).toContain('<a href="/docs/api/watches" aria-current="true">')
  expect(side).not.toContain('#listAlerts')
})

test('the reference links the OpenAPI document in the reader’s language', async () => {
  const { html } = await site.get('/docs/api?lang=fr')
  const href = /href="([^"]*openapi\.json[^"]*)"/.exec(html)?.[1] ?? ''
  const description = await site.get(href)
  expect(description.headers['content-type']).toContain('application/json')
  expect(JSON.parse(description.html).info.description).toBe(
    translator('fr')('operations:info.description'),
  )
})

test('fields are explained in the reader’s language', async () => {
  const { html } = await site.get('/docs/api/watches?lang=ar')
  expect(html).toContain(translator('ar')('operations:info.idempotencyKey'))
  expect(html).toContain(translator('ar')('operations:field.watchVersion'))
})

test('fields of a response are listed once on a page, and linked after that', async () => {
  const { html } = await site.get('/docs/api/watches')
  const section = (id: string) => {
    const start = html.indexOf(`<h2 id="${id}">`)
    return html.slice(start, html.indexOf('</section>', start))
  }
  expect(section('createWatch')).toContain('>lastEvaluatedAt</code>')
  expect(section('getWatch')).not.toContain('>lastEvaluatedAt</code>')
  expect(section('getWatch')).toContain('<a href="#createWatch">Create a watch</a>')
})

test('no Chinese sentence is followed by a space', async () => {
  const { html } = await site.get('/docs/watches/provider-fsp?lang=zh')
  expect(html).toContain('默认关闭')
  expect(html).not.toMatch(/。 /u)
})

test('unknown pages are not found', async () => {
  for (const path of [
    '/docs/none',
    '/docs/api/none',
    '/docs/watches/none',
    '/docs/watches/feed-move/none',
  ]) {
    expect((await site.get(path, { accept: 'text/html' })).status, path).toBe(404)
  }
})

test('the page about webhooks has code to verify them in four languages, and the test vector', async () => {
  const { text } = await site.get('/docs/webhooks')
  for (const name of ['TypeScript', 'Python', 'Go', 'Shell']) expect(text).toContain(name)
  expect(text).toContain('verifyWebhook')
  expect(text).toContain('X-Watchdog-Timestamp: 1795176000')
})

test('the reference names nested fields, fields of lists, and which are required', () => {
  const { publicUrl } = site.app
  const document = openApiDocument({ publicUrl, operations: site.app.operations }, 'en')
  const { operations } = apiDocs(JSON.parse(JSON.stringify(document)))
  const create = operations.find(({ id }) => id === 'createWatch')
  const row = (name: string) => create?.body.find((field) => field.name === name)
  expect(row('type')).toMatchObject({ required: true })
  expect(row('label')).toMatchObject({ type: 'string', required: false })
  expect(row('signals[].id')).toMatchObject({ required: true })
  expect(create?.isIdempotent).toBe(true)
  const [curl, typescript] = create?.calls ?? []
  expect(curl?.code).toContain('-X POST')
  expect(curl?.code).toContain('Authorization: Bearer $TOKEN')
  expect(typescript?.code).toContain("method: 'POST'")
  expect(create?.refusals).toContain('409')
})

test('names between backticks are shown as code', async () => {
  const { html, text } = await site.get('/docs/api/watches')
  expect(html).toContain('The shape depends on <code dir="ltr">type</code>.')
  expect(text).not.toContain('`type`')
})

test('operators of providers get the scrape, the rules and the board, which name this service', async () => {
  const { publicUrl, operations } = site.app
  const scrape = await site.get('/docs/prometheus.yml')
  expect(scrape.html).toContain(`targets: [${new URL(publicUrl).host}]`)
  const path = operations.find(({ id }) => id === 'getProviderMetrics')?.path?.split('{')[0]
  expect(scrape.html).toContain(`metrics_path: /api/x402${path}`)
  expect((await site.get('/docs/provider-rules.yaml')).html).toContain('- alert: FlareProvider')
  const board = await site.get('/docs/provider-board.json')
  expect(JSON.parse(board.html).panels.length).toBeGreaterThan(10)
})
