import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import type { Reader } from '../../views/view.ts'
import { outcomeLine } from './test-view.ts'

test.each([
  ['unknown_host', 'server name not found'],
  ['refused', 'refused'],
])('a test that got no response says why: %s', (reason, words) => {
  const reader = {
    t: translator('en'),
    locale: 'en',
    timezone: 'UTC',
    isGroup: false,
    bot: '',
  } as Reader
  const outcome = { kind: 'failed', statusCode: null, latencyMs: 6, reason } as const
  const line = outcomeLine(reader, 'Pager', outcome)
  expect(line).toContain('no response within 6')
  expect(line.split(' · ').at(-1)).toContain(words)
})
