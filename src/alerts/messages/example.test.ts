import { expect, test } from 'vitest'
import { EVENTS } from '#src/watches/events.ts'
import { every } from '../../../test/support/every.ts'
import { EXAMPLE_PROVIDER, exampleEnvelope, exampleMessage } from './example.ts'
import { renderMessage } from './render.ts'

const reader = { locale: 'en', timezone: 'UTC' } as const
const about = {
  severity: 'warning',
  firedAt: new Date('2026-11-20T12:00:00Z'),
  publicUrl: 'https://watchdog.example.org',
} as const

test('every event has an example in words, with a link that leads somewhere', () =>
  every(EVENTS, (event) => {
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
  }))

test('the example and the test of an event link to no transaction or block', () =>
  every(EVENTS, (event) => {
    const { data, message } = exampleEnvelope(event, reader, about)
    const alert = { ...message, data, firedAt: about.firedAt, test: true }
    const invented = /\/(?:tx|block)\//
    for (const { fields } of [message, exampleMessage(alert, reader)]) {
      expect(fields.filter(({ href = '' }) => invented.test(href))).toEqual([])
    }
    // A real alert links to each of them, and the example shows the same values.
    const real = renderMessage(alert, reader)
    expect(message.fields.map(({ value }) => value)).toEqual(real.fields.map(({ value }) => value))
  }))

test('a real alert of the event of a test links to its transaction', () => {
  const { data, message } = exampleEnvelope('wallet-balance.moved', reader, about)
  const { fields } = renderMessage({ ...message, data, firedAt: about.firedAt }, reader)
  expect(fields.filter(({ href = '' }) => /\/tx\//.test(href))).toHaveLength(1)
})

test('an example may have numbers, and other data than its signal says', () => {
  const { message, data } = exampleEnvelope('fsp.ftso-commit', reader, {
    ...about,
    ids: { alertId: 4711, incidentId: 31, watchId: 42 },
    data: (example) => ({ ...example, reason: 'late' }),
  })
  expect(message).toMatchObject({ alertId: 4711, watchId: 42 })
  expect(data).toMatchObject({ reason: 'late' })
})
