import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { escapeHtml, translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { previewPicture } from '../../src/pages/link-preview.ts'
import { openSite, type Site } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

const PAGES = [
  ['/', 'pages:home.title', 'pages:home.lead'],
  ['/docs', 'pages:docs.title', 'pages:docs.lead'],
  ['/providers', 'pages:providers.title', 'pages:providers.lead'],
  ['/problems', 'pages:problems.title', 'pages:problems.lead'],
  ['/problems/nonce_expired', 'errors:nonce_expired.title', 'errors:nonce_expired.detail'],
  ['/docs/webhooks', 'pages:docs.webhooks', 'pages:docs.webhooks.lead'],
  [
    '/docs/watches/wallet-balance',
    'bot:button.type.wallet-balance',
    'signals:type.wallet-balance.description',
  ],
] as const

test.each(
  PAGES,
)('a link to %s has a title, a description and a picture, in every language', async (path, title, lead) => {
  for (const locale of LOCALES) {
    const t = translator(locale)
    const { html } = await site.get(`${path}?lang=${locale}`)
    const meta = (name: string) => new RegExp(`${name}" content="([^"]*)"`).exec(html)?.[1]
    expect(meta('og:title')).toBe(escapeHtml(t(title)))
    expect([meta('name="description'), meta('og:description')]).toEqual([
      escapeHtml(t(lead)),
      escapeHtml(t(lead)),
    ])
    expect(meta('og:url')).toBe(
      site.app.publicUrl + path + (locale === 'en' ? '' : `?lang=${locale}`),
    )
    expect(meta('og:image')).toBe(`${site.app.publicUrl}/assets/preview.png`)
  }
})

test('every page that search engines find has a preview', async () => {
  const xml = (await site.get('/sitemap.xml')).bytes.toString()
  const urls = [...xml.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url = '']) => url)
  expect(urls.length).toBeGreaterThan(50)
  for (const url of urls) {
    const { html } = await site.get(new URL(url).pathname)
    for (const name of ['og:title', 'og:description', 'og:image', 'og:image:alt', 'twitter:card']) {
      expect(html, `${name} of ${url}`).toMatch(new RegExp(`${name}" content="[^"]+"`))
    }
    expect(html).toContain(`<link rel="canonical" href="${url}">`)
  }
}, 60_000)

test('the picture of links is drawn once, and again after an attempt that failed', async () => {
  const server = Fastify()
  let drawings = 0
  previewPicture(server, site.app, async () => {
    drawings += 1
    if (drawings === 1) throw new Error('out of memory')
    return Buffer.from('picture')
  })
  const statuses = []
  for (let times = 0; times < 3; times++) {
    statuses.push((await server.inject('/assets/preview.png')).statusCode)
  }
  expect([statuses, drawings]).toEqual([[500, 200, 200], 2])
  await server.close()
})

test('the picture of links is a PNG of the size that they name, for every site', async () => {
  const { bytes, headers } = await site.get('/assets/preview.png')
  expect(headers).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=3600',
    'cross-origin-resource-policy': 'cross-origin',
  })
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1280, 672])
})
