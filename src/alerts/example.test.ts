import { expect, test } from 'vitest'
import { EVENTS } from '#src/watches/events.ts'
import { EXAMPLE_PROVIDER, exampleEnvelope } from './example.ts'

const reader = { locale: 'en', timezone: 'UTC' } as const
const about = {
  severity: 'warning',
  firedAt: new Date('2026-11-20T12:00:00Z'),
  publicUrl: 'https://watchdog.example.org',
} as const

test.each(EVENTS)('%s has an example in words, with a link that leads somewhere', (event) => {
  const { message } = exampleEnvelope(event, reader, about)
  expect(message).toMatchObject({
    event,
    watchLabel: EXAMPLE_PROVIDER,
    alertId: null,
    test: false,
  })
  expect(message.title).not.toBe('')
  expect(message.link).toMatch(
    /^https:\/\/watchdog\.example\.org\/(?:docs\/watches\/[a-z-]+\/[a-z0-9-]+)?$/,
  )
})

test('an example may have numbers, and other data than its signal says', () => {
  const { message, data } = exampleEnvelope('fsp.ftso-commit', reader, {
    ...about,
    ids: { alertId: 4711, watchId: 42 },
    data: (example) => ({ ...example, reason: 'late' }),
  })
  expect(message).toMatchObject({ alertId: 4711, watchId: 42 })
  expect(data).toMatchObject({ reason: 'late' })
})
