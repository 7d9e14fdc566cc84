import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { registerPages } from '#src/pages/index.ts'
import { testClock } from '../support/clock.ts'
import { testEnvironment } from '../support/environment.ts'
import { textOf } from './site.ts'

/** The pages while the database is away. */

let service: Service

beforeAll(async () => {
  service = createApp(loadConfig(testEnvironment()), {
    databaseUrl: 'postgres://nobody@127.0.0.1:1/none',
    log: silentLogger,
    clock: testClock(),
  })
  await service.server.register(registerPages, { app: service.app })
})
afterAll(() => service.stop())

test.each(LOCALES)('a page says so in %s, and leads to itself once more', async (locale) => {
  const url = `/?q=bifrost&lang=${locale}`
  const { statusCode, headers, payload } = await service.server.inject(url)
  expect(statusCode).toBe(503)
  expect(headers).toMatchObject({ 'retry-after': '5', 'cache-control': 'no-store' })
  expect(payload).toContain(`<html lang="${locale}"`)
  expect(textOf(payload)).toContain(translate(locale, 'errors:dependency_unavailable.title'))
  const again = translate(locale, 'pages:home.answer.retry')
  expect(payload).toContain(
    `<a class="button primary" href="/?q=bifrost&amp;lang=${locale}" rel="noreferrer">${again}</a>`,
  )
})

test('an answer that was sent is not offered to be sent again', async () => {
  const { statusCode, payload } = await service.server.inject({
    method: 'POST',
    url: `/connect/${'A'.repeat(22)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'answer=refuse',
  })
  expect(statusCode).toBe(503)
  expect(payload).not.toContain(`>${translate('en', 'pages:home.answer.retry')}</a>`)
})

test('a page that needs no database is shown', async () => {
  for (const url of ['/', '/docs', '/problems']) {
    expect((await service.server.inject(url)).statusCode, url).toBe(200)
  }
})
