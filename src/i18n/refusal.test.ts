import { expect, test } from 'vitest'
import { AppError } from '#src/kernel/errors.ts'
import { refusalText } from './refusal.ts'
import { translator } from './translate.ts'

test('the text of a refusal is the one of its code, with its values and the time to retry', () => {
  const t = translator('en')
  expect(
    refusalText(t, new AppError('rate_limited', 'rate_limited', { retryAfterSeconds: 40 })),
  ).toBe(t('errors:rate_limited.detail', { seconds: 40 }))
  const down = new AppError('upstream', 'dependency_unavailable')
  expect(refusalText(t, down)).toBe(t('errors:dependency_unavailable.detail', { seconds: 30 }))
  expect(refusalText(t, down)).toContain('30\u00a0s')
  const full = new AppError('conflict', 'slot_limit_reached', { values: { count: 20 } })
  expect(refusalText(t, full)).toBe(t('errors:slot_limit_reached.detail', { count: 20 }))
})

test('the text of an invalid input is the one of its first error', () => {
  const t = translator('de')
  const errors = [
    { pointer: '/a', code: 'too_small', values: { minimum: 3 } },
    { pointer: '/b', code: 'required' },
  ]
  expect(refusalText(t, new AppError('invalid', 'validation_failed', { errors }))).toBe(
    t('errors:field.too_small', { minimum: 3 }),
  )
})
