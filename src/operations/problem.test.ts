import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { problemBody, refusalText } from './problem.ts'

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

test.each(LOCALES)('a refusal that names credits has their price, in %s', (locale) => {
  const t = translator(locale)
  for (const code of ['insufficient_credits', 'price_changed', 'payment_required'] as const) {
    const refusal = new AppError('payment_required', code, { values: { count: 1080 } })
    expect(refusalText(t, refusal)).toMatch(/1[.,]08\u00a0USD/)
    const about = { code, requestId: 'r', values: { count: 1080 } }
    expect(problemBody(t, 'https://watchdog.example.org', about).detail).toBe(
      refusalText(t, refusal),
    )
  }
})

test('without slots, the trial is offered only to those who have not used it', () => {
  const refusal = new AppError('conflict', 'no_free_slot', { values: { count: 0 } })
  expect(refusalText(translator('en'), refusal)).toBe(
    'You have no slots. Buy slots, or start the free trial if you have not used it yet.',
  )
})
