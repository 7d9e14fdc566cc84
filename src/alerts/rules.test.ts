import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasRecovery, nextReminder } from './rules.ts'

const TOLD = new Date('2026-11-20T12:00:00.000Z')
const minute = (minutes: number) => new Date(TOLD.getTime() + minutes * 60_000)

describe('reminders', () => {
  test('come at the configured minutes after the notification', () => {
    const times = [15, 60, 240]
    expect(nextReminder(times, TOLD, TOLD)).toEqual(minute(15))
    expect(nextReminder(times, TOLD, minute(15))).toEqual(minute(60))
    expect(nextReminder(times, TOLD, minute(14.99))).toEqual(minute(15))
    expect(nextReminder(times, TOLD, minute(240))).toBeUndefined()
    expect(nextReminder([], TOLD, TOLD)).toBeUndefined()
  })

  test('that were missed are not made up for: the next is always in the future', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 1440 })),
        fc.integer({ min: 0, max: 3000 }),
        (minutes, now) => {
          const next = nextReminder(
            minutes.toSorted((a, b) => a - b),
            TOLD,
            minute(now),
          )
          const later = minutes.filter((minute) => minute > now)
          expect(next).toEqual(later.length === 0 ? undefined : minute(Math.min(...later)))
        },
      ),
    )
  })
})

test.each([
  ['wallet-balance.moved', false],
  ['feed-move.threshold', false],
  ['credits.low-balance', true],
  ['credits.recovered', false],
  ['provider.unregistered', true],
  ['signing.missed', true],
  ['fsp.ftso-commit', true],
  ['fsp.ftso-commit.recovered', false],
  ['fsp.monitoring', true],
])('whether %s is open until something recovers: %s', (event, is) => {
  expect(hasRecovery(event)).toBe(is)
})
