import { describe, expect, test } from 'vitest'
import type { Watch } from '#src/watches/model.ts'
import { glyphOf, sortWatches, watchStatusOf } from './watch-state.ts'

const now = new Date('2026-11-20T12:00:00.000Z')
const later = new Date('2026-11-20T13:00:00.000Z')

type State = Watch['signalStates'][number]['state']

function watch(over: Partial<Watch> = {}, states: readonly State[] = ['ok']): Watch {
  return {
    id: 1,
    type: 'wallet-balance',
    label: 'A',
    target: {},
    settings: {},
    signals: [],
    recipientIds: null,
    notifies: [],
    warnings: [],
    minSeverity: 'info',
    cooldownSeconds: 0,
    escalateAfterMinutes: null,
    escalateTo: [],
    status: 'active',
    mutedUntil: null,
    health: 'ok',
    signalStates: states.map((state) => ({
      id: 'balance-change',
      state,
      since: now,
      severity: state === 'firing' ? 'warning' : null,
      lastEvidenceAt: now,
    })),
    createdAt: now,
    updatedAt: now,
    lastEvaluatedAt: now,
    lastObservation: null,
    version: 1,
    ...over,
  }
}

describe('a watch has the first status that applies: firing, no data, suspended, paused, muted, pending', () => {
  test.each([
    ['firing', watch({ mutedUntil: later }, ['ok', 'firing'])],
    ['firing', watch({ status: 'paused' }, ['firing'])],
    ['noData', watch({ health: 'no_data', mutedUntil: later })],
    ['suspended', watch({ status: 'suspended', health: 'no_data' })],
    ['paused', watch({ status: 'paused', health: 'no_data', mutedUntil: later })],
    ['muted', watch({ mutedUntil: later }, ['pending'])],
    ['pending', watch({}, ['ok', 'pending'])],
    ['fine', watch({}, ['unknown'])],
    ['fine', watch({ mutedUntil: now })],
  ] as const)('%s', (standingState, watch) => {
    expect(watchStatusOf(watch, now)).toBe(standingState)
  })
})

test('a firing watch has the emoji of its highest severity, and lists begin with the highest', () => {
  const [calm] = watch({}, ['firing']).signalStates
  if (calm === undefined) throw new Error('a watch has no signal')
  const firing = (id: number, ...severities: ('info' | 'warning' | 'critical')[]) =>
    watch({ id, signalStates: severities.map((severity) => ({ ...calm, severity })) })
  expect(glyphOf(firing(1, 'warning', 'critical', 'info'), now)).toBe('🔴')
  expect(glyphOf(firing(1, 'info', 'warning'), now)).toBe('🟠')
  expect(glyphOf(firing(1, 'info'), now)).toBe('🔵')
  expect(glyphOf(watch(), now)).toBe('🟢')
  const mixed = [firing(1, 'info'), watch({ id: 2 }), firing(3, 'critical'), firing(4, 'warning')]
  expect(sortWatches(mixed, now).map(({ id }) => id)).toEqual([3, 4, 1, 2])
})

test('lists are ordered by status, then by name, then by id', () => {
  const watches = [
    watch({ id: 1, label: 'b', status: 'paused' }),
    watch({ id: 3, label: 'b' }),
    watch({ id: 2, label: 'b' }),
    watch({ id: 4, label: 'a' }),
    watch({ id: 5, label: 'z' }, ['firing']),
  ]
  expect(sortWatches(watches, now).map(({ id }) => id)).toEqual([5, 4, 2, 3, 1])
})
