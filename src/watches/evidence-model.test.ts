import { expect, test } from 'vitest'
import { z } from 'zod'
import { EvidenceClaim, UNPROVEN_REASONS } from './evidence-model.ts'
import { REGISTRY } from './types/index.ts'

const PROVIDER_TYPES = ['provider-fsp', 'provider-eligibility', 'reward-signing']
const ALERTS = REGISTRY.flatMap(({ name, signals }) =>
  signals.flatMap((signal) => signal.events.alerts.map((event) => ({ name, signal, event }))),
)

test.each(
  ALERTS.filter(({ name }) => PROVIDER_TYPES.includes(name)),
)('$event has a claim about its provider, or a reason why it has none', ({ signal, event }) => {
  const data = signal.examples[event] ?? {}
  const claim = signal.claim?.(data, { event, block: 41_880_225 })
  if (typeof claim === 'string') return expect(UNPROVEN_REASONS).toContain(claim)
  // It is a document of JSON, from which it can be read again.
  const encoded = z.encode(EvidenceClaim, claim as EvidenceClaim)
  expect(JSON.parse(JSON.stringify(encoded))).toEqual(encoded)
  expect(encoded.provider).toBe(data['provider'])
})

test('alerts of other types have no claim', () => {
  const others = ALERTS.filter(({ name }) => !PROVIDER_TYPES.includes(name))
  expect(others.filter(({ signal }) => signal.claim !== undefined)).toEqual([])
})
