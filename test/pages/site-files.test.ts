import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { openSite, type Site } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

const read = async (path: string) => (await site.get(path)).bytes.toString()
/** Path of an address of the service. */
const pathOf = (url: string) => new URL(url).pathname

describe('files for programs that read sites', () => {
  test('the sitemap lists pages that exist, each in every language', async () => {
    const xml = await read('/sitemap.xml')
    const paths = [...xml.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url = '']) => pathOf(url))
    expect(paths).toEqual(
      expect.arrayContaining(['/', '/docs', '/docs/api/watches', '/docs/watches/provider-fsp']),
    )
    expect(new Set(paths).size).toBe(paths.length)
    expect(xml.match(/hreflang=/g)).toHaveLength(paths.length * LOCALES.length)
    for (const path of paths) expect((await site.get(path)).status, path).toBe(200)
  })

  test('robots may read all but pages of one person', async () => {
    const text = await read('/robots.txt')
    expect(text).toContain('Disallow: /a/\n')
    expect(text).toMatch(/^Sitemap: https?:\/\/\S+\/sitemap\.xml$/m)
  })

  test('agents are led to every page of the docs as Markdown', async () => {
    const text = await read('/llms.txt')
    const paths = [...text.matchAll(/\]\((\S+)\.md\)/g)].map(([, url = '']) => pathOf(url))
    expect(paths).toContain('/docs/webhooks')
    for (const path of paths) {
      const { status, headers, bytes } = await site.get(`${path}.md?lang=de`)
      expect([path, status, headers['content-type']]).toEqual([
        path,
        200,
        'text/markdown; charset=utf-8',
      ])
      const markdown = bytes.toString()
      expect(markdown, path).toMatch(/^# \S/)
      expect(markdown.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, ''), path).not.toMatch(
        /<\/?(?:p|li|tr|td|div)\b/,
      )
      // The page and its Markdown have one title.
      const { html } = await site.get(`${path}?lang=de`)
      expect(html).toContain(`href="${path}.md?lang=de"`)
    }
    expect((await site.get('/docs/watches/none.md')).status).toBe(404)
  })

  test('who found a weakness finds the contact, if there is one', async () => {
    expect((await site.get('/.well-known/security.txt')).status).toBe(404)
    const supported = await openSite({ SUPPORT_URL: 'https://support.example.org/' })
    const { bytes } = await supported.get('/.well-known/security.txt')
    await supported.close()
    expect(bytes.toString()).toContain('Contact: https://support.example.org/\n')
    expect(bytes.toString()).toMatch(/^Expires: 20\d\d-\S+Z$/m)
  })
})
