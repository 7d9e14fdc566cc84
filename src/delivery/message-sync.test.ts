import { expect, test } from 'vitest'
import { envelopeOf } from '../../test/support/envelopes.ts'
import { groupEnvelope } from './message-sync.ts'

test('alerts of one instant are listed in the order of their ids', () => {
  const parts = [5, 3, 4].map((alertId) => ({
    alertId,
    envelope: envelopeOf({
      message: { alertId, severity: alertId === 4 ? 'critical' : 'warning' },
    }),
  }))
  const { items, message } = groupEnvelope('group', 'd', parts)
  expect(items?.map(({ alertId }) => alertId)).toEqual([3, 4, 5])
  expect(message).toMatchObject({ alertId: 4, severity: 'critical' })
})
