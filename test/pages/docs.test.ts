import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtKey, translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { openSite, type Site } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

test.each(LOCALES)('/docs explains every operation in %s', async (locale) => {
  const t = translator(locale)
  const { status, html, text } = await site.get('/docs', { 'accept-language': locale })
  expect(status).toBe(200)
  expect(Buffer.byteLength(html)).toBeLessThan(100_000)
  const plain = (line: string) => line.replace(/[\u2066-\u2069]/g, '').replace(/\s+/g, ' ')
  expect(text).toContain(plain(t('operations:info.description')))
  const routed = site.app.operations.filter(({ path }) => path !== undefined)
  expect(routed.length).toBeGreaterThan(30)
  for (const { id, method, path, scope } of routed) {
    const start = html.indexOf(`<h2 id="${id}">`)
    expect(start, id).toBeGreaterThan(0)
    expect(html).toContain(`<a href="#${id}">`)
    const section = html.slice(start, html.indexOf('</section>', start))
    expect(section).toContain(`<code>${method} /api/x402${path}</code>`)
    expect(section.includes(`<bdi dir="ltr">${scope}</bdi>`)).toBe(scope !== 'none')
    expect(text).toContain(plain(t(builtKey(`operations:${id}.summary`))))
    expect(text).toContain(plain(t(builtKey(`operations:${id}.description`))))
  }
})

test('/docs leads to the description in the language the reader chose', async () => {
  const { html } = await site.get('/docs?lang=fr')
  const href = /href="([^"]*openapi\.json[^"]*)"/.exec(html)?.[1] ?? ''
  const description = await site.get(href)
  expect(description.headers['content-type']).toContain('application/json')
  expect(JSON.parse(description.html).info.description).toBe(
    translator('fr')('operations:info.description'),
  )
})
