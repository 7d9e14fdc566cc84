import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { translate } from '#src/i18n/translate.ts'
import { directionOf, LOCALES, localeName } from '#src/kernel/locale.ts'
import { openSite, type Site } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

const PAGE_BYTES_MAX = 100_000

async function allPages(): Promise<string[]> {
  const asked = await site.askedMailbox()
  const mailbox = await site.mailbox()
  const alert = await site.alert({ position: Math.floor(performance.now() * 1000) })
  return [
    '/',
    '/docs',
    '/problems',
    '/problems/no_free_slot',
    '/problems/unknown',
    asked.path,
    mailbox.path,
    alert.path,
    '/a/none',
    '/confirm/none',
    '/unsubscribe/none',
  ]
}

describe('every page', () => {
  test('loads nothing from other hosts, has no inline scripts and cannot be framed', async () => {
    for (const path of await allPages()) {
      const { headers, html } = await site.get(path)
      expect(headers, path).toMatchObject({
        'content-security-policy':
          "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data:;" +
          "connect-src 'self';form-action 'self';base-uri 'none';frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'content-type': 'text/html; charset=utf-8',
      })
      expect(html).not.toMatch(
        /<script(?![^>]* src="\/scripts\/)|<style|\sstyle=|\son\w+=|javascript:/i,
      )
      expect(html).not.toMatch(/(?:src|<link(?! rel="canonical")[^>]*href)="(?:https?:)?\/\//)
      expect(html.length).toBeLessThan(PAGE_BYTES_MAX)
    }
  })
  test('has one heading, a title, landmarks and a way past the menu', async () => {
    for (const path of await allPages()) {
      const { html } = await site.get(path)
      expect(html.match(/<h1/g), path).toHaveLength(1)
      expect(html).toMatch(/<title>[^<]+ · Watchdog<\/title>/)
      expect(html.match(/<(?:header|main|footer)\b/g)).toHaveLength(3)
      expect(html).toContain('<a class="skip" href="#content">')
    }
  })
  test('is not cached when its address contains a code', async () => {
    for (const path of await allPages()) {
      const { headers } = await site.get(path)
      const hasCode = /^\/(?:a|confirm|unsubscribe)\//.test(path)
      const kept = hasCode ? 'no-store' : 'public, max-age=300'
      expect(headers['cache-control'], path).toBe(kept)
    }
  })
  test('is sent compressed to browsers that ask for it, unless its address contains a code', async () => {
    for (const path of await allPages()) {
      const { headers, html } = await site.get(path)
      expect(headers['content-encoding'], path).toBeUndefined()
      const compressed = await site.get(path, { 'accept-encoding': 'br, gzip;q=0.8' })
      const hasCode = /^\/(?:a|confirm|unsubscribe)\//.test(path)
      expect(compressed.headers['content-encoding'], path).toBe(hasCode ? undefined : 'gzip')
      if (hasCode) continue
      expect(compressed.headers['vary'], path).toBe('accept-language, accept-encoding')
      expect(gunzipSync(compressed.bytes).toString(), path).toBe(html)
    }
  })
  test.each(LOCALES)('reads in %s', async (locale) => {
    for (const path of await allPages()) {
      const { headers, html } = await site.get(`${path}?lang=${locale}`)
      expect(html).toContain(`<html lang="${locale}" dir="${directionOf(locale)}">`)
      expect(headers['content-language']).toBe(locale)
      expect(html).not.toContain('{{')
      expect(html).not.toContain('undefined')
    }
  })
})

describe('the language', () => {
  test('is the chosen one, then that of the browser, then English', async () => {
    const of = async (path: string, accept?: string) => {
      const headers = accept === undefined ? {} : { 'accept-language': accept }
      return (await site.get(path, headers)).headers['content-language']
    }
    expect(await of('/?lang=ar', 'fr')).toBe('ar')
    expect(await of('/', 'pt, fr;q=0.5')).toBe('fr')
    expect(await of('/?lang=xx', 'hi')).toBe('hi')
    expect(await of('/')).toBe('en')
  })
  test('of a recipient comes before that of the browser', async () => {
    const { path, id } = await site.mailbox({ locale: 'de' })
    const french = { 'accept-language': 'fr' }
    expect((await site.get(path, french)).headers['content-language']).toBe('de')
    const alert = await site.alert({ recipientId: id })
    expect((await site.get(alert.path, french)).headers['content-language']).toBe('de')
    expect((await site.get(`${path}?lang=bn`, french)).headers['content-language']).toBe('bn')
  })
  test('can be chosen on every page and is kept by its links', async () => {
    const { html } = await site.get('/problems/not_found?lang=zh&ref=abc')
    for (const locale of LOCALES) {
      expect(html).toContain(`href="/problems/not_found?ref=abc&amp;lang=${locale}"`)
      expect(html).toContain(localeName(locale))
    }
    expect(html).toContain('href="/problems?lang=zh"')
    const { path } = await site.mailbox()
    expect((await site.get(`${path}?lang=ar`)).html).toContain(`action="${path}?lang=ar"`)
  })
})

describe('files', () => {
  test('are cached for an hour, and no other files are served', async () => {
    const { html } = await site.get('/')
    const style = /<link rel="stylesheet" href="([^"]+)">/.exec(html)?.[1] ?? ''
    const file = await site.get(style)
    expect(file.status).toBe(200)
    expect(file.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=3600',
    })
    expect((await site.get('/assets/mark.svg')).headers['content-type']).toBe('image/svg+xml')
    for (const path of [
      '/assets/',
      '/assets/none.css',
      '/assets/..%2findex.ts',
      '/views/home.eta',
    ]) {
      expect((await site.get(path)).status, path).toBe(404)
    }
  })
})

describe('an unknown address', () => {
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'accept-language': 'de' }

  test('is a page in the reader’s language for a browser', async () => {
    for (const path of ['/nowhere', '/nowhere/at/all?x=1', '/assets/none.css', '/apiary']) {
      const { status, headers, html, text } = await site.get(path, browser)
      expect(status, path).toBe(404)
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-language': 'de',
        'cache-control': 'no-store',
      })
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(html).toContain('<html lang="de"')
      expect(text).toContain(translate('de', 'pages:nowhere.title'))
    }
  })
  test('never becomes a link to another host', async () => {
    const { status, html } = await site.get('//elsewhere.example/x', browser)
    expect(status).toBe(404)
    expect(html).toContain('href="/elsewhere.example/x?lang=de"')
    expect(html).not.toContain('"//')
  })
  test('is a problem document for a program, and below /api/ for browsers too', async () => {
    const asked = [
      ['/nowhere', {}],
      ['/nowhere', { accept: '*/*' }],
      ['/api/x402/nowhere', browser],
      ['/api', browser],
    ] as const
    for (const [path, headers] of asked) {
      const answer = await site.get(path, headers)
      expect(answer.status, path).toBe(404)
      expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
      expect(JSON.parse(answer.html)).toMatchObject({ code: 'not_found' })
    }
    const other = await site.get('/api/x402/auth/challenge', browser)
    expect([other.status, other.headers['allow']]).toEqual([405, 'POST'])
    const read = await site.post('/api/x402/pricing', '{}', { 'content-type': 'application/json' })
    expect([read.status, read.headers['allow']]).toEqual([405, 'GET, HEAD'])
  })

  test('leads to the page if only a slash at its end is too much', async () => {
    for (const headers of [{}, { accept: 'text/html' }]) {
      const { status, headers: answered } = await site.get('/docs/?lang=de', headers)
      expect([status, answered['location']]).toEqual([308, '/docs?lang=de'])
    }
    expect((await site.get('/nowhere/')).status).toBe(404)
  })
})

describe('a request that no page answers', () => {
  test('is refused in the reader’s language', async () => {
    const json = { 'content-type': 'application/json' }
    const refused = await site.post('/confirm/none', '{}', { ...json, 'accept-language': 'en' })
    expect(refused.status).toBe(415)
    expect(refused.text).toContain('Unsupported content type')
    const long = await site.post('/confirm/none', `answer=${'x'.repeat(9000)}`)
    expect(long.status).toBe(413)
  })
})
