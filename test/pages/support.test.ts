import { expect, test } from 'vitest'
import { helpMenu } from '#bot/features/help/view.ts'
import { translator } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { answerFailure } from '#src/pages/error-page.ts'
import { reportProblem } from '../../src/http/problems.ts'
import { openSite, type Site } from './site.ts'

/** What a failed request of the API says. */
async function internalProblem({ app }: Site): Promise<string> {
  const about = { requestId: 'abc', locale: 'en' } as const
  const { body } = reportProblem({ ...app, log: silentLogger }, new Error('broken'), about)
  expect(body).toMatchObject({ code: 'internal', requestId: 'abc' })
  return body.detail
}

const PATHS = ['/', '/docs', '/problems', '/nowhere']

test('pages name in their footer where people reach the operator, in every language', async () => {
  const site = await openSite({ SUPPORT_URL: 'mailto:help@example.org' })
  for (const locale of LOCALES) {
    const label = translator(locale)('pages:frame.support')
    for (const path of PATHS) {
      const { html } = await site.get(path, { accept: 'text/html', 'accept-language': locale })
      const footer = html.slice(html.indexOf('<footer'))
      expect(footer, `${path} ${locale}`).toContain(
        `<a href="mailto:help@example.org" rel="noreferrer">${label}</a>`,
      )
    }
  }
  for (const locale of LOCALES) {
    const document = (await site.get(`/api/x402/openapi.json?locale=${locale}`)).bytes.toString()
    expect(document).toContain('"contact":{"email":"help@example.org"}')
    const { requestId } = JSON.parse(document).components.schemas.Problem.properties
    expect(requestId.description).toContain('mailto:help@example.org')
  }
  expect(await internalProblem(site)).toContain('mailto:help@example.org')
  const problem = await site.get('/problems/internal?ref=abc')
  expect(problem.html.match(/mailto:help@example\.org/g)).toHaveLength(2)
  await site.close()
})

test('a page that failed names it beside the reference', async () => {
  const site = await openSite({ SUPPORT_URL: 'mailto:help@example.org' })
  const app = { ...site.app, log: silentLogger }
  for (const [path, error] of [
    ['/broken', new Error('broken')],
    ['/refused', new AppError('not_found', 'not_found')],
  ] as const)
    site.server.get(path, (request, reply) => answerFailure(app, error, request, reply))
  const button = '<a class="button" href="mailto:help@example.org" rel="noreferrer">'
  expect((await site.get('/broken')).html).toContain(button)
  expect((await site.get('/refused')).html).not.toContain(button)
  await site.close()
})

test('without an address no page speaks of contact', async () => {
  const site = await openSite()
  const label = translator('en')('pages:frame.support')
  for (const path of ['/docs/api/watches', ...PATHS, '/problems/internal?ref=abc']) {
    const { html } = await site.get(path, { accept: 'text/html' })
    expect(html, path).not.toContain(`>${label}</a>`)
    expect(html, path).not.toContain('operator')
  }
  const document = (await site.get('/api/x402/openapi.json')).bytes.toString()
  expect(document).not.toMatch(/"contact"|operator/)
  expect(await internalProblem(site)).not.toContain('operator')
  await site.close()
})

test.each(
  LOCALES,
)('the help of the bot names the address, or says nothing of it, in %s', (locale) => {
  const reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: 'watchdog' }
  const helpFor = (support: string | undefined) =>
    helpMenu(reader, { isReceiveOnly: false, pages: 'https://example.org', support }).html
  expect(helpFor('mailto:help@example.org')).toContain('help@example.org')
  expect(helpFor('https://example.org/help?a=1&b=2')).toContain(
    'https://example.org/help?a=1&amp;b=2',
  )
  expect(helpFor(undefined).split('\n')).toHaveLength(
    helpFor('mailto:a@b.org').split('\n').length - 1,
  )
})
