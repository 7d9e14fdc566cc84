import { describe, expect, test } from 'vitest'
import { endedOutage, outageStart } from './outage.ts'

const at = (time: string) => new Date(`2026-11-20T${time}Z`)
const text = (time: string) => at(time).toISOString()

describe('the start of an outage', () => {
  test.each([
    ['its data says it', { since: text('09:10:00') }, '09:10:00'],
    ['its data says nothing', {}, '09:13:00'],
    ['it would be later than the alert', { since: text('09:20:00') }, '09:13:00'],
    ['it is no time', { since: 'yesterday' }, '09:13:00'],
  ])('is known where %s', (_, data, start) => {
    const startedAt = at('09:13:00')
    expect(outageStart({ data, firedAt: at('09:16:00'), startedAt })).toEqual(at(start))
  })
})

describe('the outage that a recovery ends', () => {
  const firedAt = at('09:43:00')
  const startedAt = at('09:13:00')

  test.each([
    [
      'rounds',
      { roundStart: text('09:40:00'), gapSeconds: 1800, since: text('09:40:00') },
      '09:40',
    ],
    ['a silence', { since: text('09:10:00'), gapSeconds: 1500 }, '09:35'],
    ['the chain', { since: text('09:10:00'), until: text('09:30:00') }, '09:30'],
  ])('is that of %s', (_, data, end) => {
    expect(endedOutage({ data, firedAt, startedAt })).toEqual({
      from: at('09:10:00'),
      to: at(`${end}:00`),
    })
  })

  test('lasts from its first alert to the recovery where the data has no times', () => {
    for (const data of [{}, { gapSeconds: 60 }, { since: 'x', gapSeconds: 60 }]) {
      expect(endedOutage({ data, firedAt, startedAt })).toEqual({ from: startedAt, to: firedAt })
    }
  })
})
