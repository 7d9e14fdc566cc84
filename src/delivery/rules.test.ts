import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DeliveryError } from '#src/channels/define.ts'
import {
  canBeSentTo,
  changeWaitSeconds,
  destinationOutcomesOf,
  RETRY_SECONDS,
  stateAfterFailure,
  waitSeconds,
} from './rules.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
const HOUR = 3600
const plain = new DeliveryError('status_500')

describe('stateAfterFailure', () => {
  test('tries again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, then no more', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => seconds(plain, attempt))
    expect(waits).toEqual([5, 300, 1800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR, undefined])
    expect(next(plain, 8)).toMatchObject({ status: 'failed', attempts: 8, nextAttemptAt: null })
    expect(next(plain, 9).status).toBe('failed')
    expect(next(plain, 3)).toMatchObject({ status: 'retrying', attempts: 3 })
  })

  test('keeps its planned time after an early try, which is not counted', () => {
    const plannedAt = new Date(NOW.getTime() + 900_000)
    const early = { attempt: 4, isTest: false, random: 0.5, now: NOW, plannedAt }
    const expected = { status: 'retrying', attempts: 3 }
    expect(stateAfterFailure(plain, early)).toEqual({
      ...expected,
      nextAttemptAt: plannedAt,
      plannedAt,
    })
    const flood = new DeliveryError('flood', {
      retryAfterSeconds: 3600,
      retryAfterIsMandatory: true,
    })
    const { nextAttemptAt } = stateAfterFailure(flood, early)
    expect(nextAttemptAt?.getTime()).toBeGreaterThanOrEqual(NOW.getTime() + 3_600_000)
    const gone = new DeliveryError('gone', { permanent: true })
    expect(stateAfterFailure(gone, early)).toMatchObject({ status: 'failed', attempts: 4 })
    expect(stateAfterFailure(plain, { ...early, plannedAt: NOW })).toMatchObject({ attempts: 4 })
  })

  test('does not retry a test or a permanent failure', () => {
    expect(next(plain, 1, { isTest: true }).status).toBe('failed')
    expect(next(new DeliveryError('gone', { permanent: true }), 1).status).toBe('failed')
  })

  test('obeys a mandatory wait without counting the attempt, any number of times', () => {
    const flood = new DeliveryError('flood', { retryAfterSeconds: 35, retryAfterIsMandatory: true })
    for (const attempt of [1, 8, 40]) {
      const { status, attempts } = next(flood, attempt)
      expect({ status, attempts }).toEqual({ status: 'retrying', attempts: attempt - 1 })
      const wait = seconds(flood, attempt) ?? 0
      expect(wait).toBeGreaterThanOrEqual(35)
      expect(wait).toBeLessThanOrEqual(36)
    }
  })
})

describe('waitSeconds', () => {
  test('is random within a fifth of the step', () => {
    fc.assert(
      fc.property(fc.constantFrom(...RETRY_SECONDS), random(), (step, value) => {
        const wait = waitSeconds(step, undefined, value)
        expect(wait).toBeGreaterThanOrEqual(step * 0.8)
        expect(wait).toBeLessThanOrEqual(step * 1.2)
      }),
    )
    expect(waitSeconds(100, undefined, 0)).toBeCloseTo(80)
    expect(waitSeconds(100, undefined, 1)).toBeCloseTo(120)
  })

  test('grows from step to step with any jitter', () => {
    const steps = [...new Set(RETRY_SECONDS)]
    for (const [index, step] of steps.slice(1).entries()) {
      const before = steps[index] ?? 0
      expect(waitSeconds(step, undefined, 0)).toBeGreaterThan(waitSeconds(before, undefined, 1))
    }
  })

  test('honours Retry-After between the step and twice the step', () => {
    expect(waitSeconds(300, 0, 0.5)).toBe(300)
    expect(waitSeconds(300, 301, 0.5)).toBe(301)
    expect(waitSeconds(300, 600, 0.5)).toBe(600)
    expect(waitSeconds(300, 86_400, 0.5)).toBe(600)
  })

  test('honours Retry-After of a change in the same way, and an order as it is', () => {
    const wait = (retryAfterSeconds?: number, retryAfterIsMandatory = false) =>
      changeWaitSeconds({ retryAfterSeconds, retryAfterIsMandatory }, 300)
    expect([wait(), wait(10), wait(500), wait(2 ** 31)]).toEqual([300, 300, 500, 600])
    expect([wait(10, true), wait(3600, true)]).toEqual([300, 3600])
  })
})

describe('canBeSentTo', () => {
  test('sends to active destinations only, and tests to blocked ones', () => {
    expect(canBeSentTo('active', false)).toBe(true)
    expect(canBeSentTo('blocked', true)).toBe(true)
    for (const status of ['pending', 'disabled', 'blocked']) {
      expect(canBeSentTo(status, false)).toBe(false)
    }
    expect(canBeSentTo('pending', true)).toBe(false)
    expect(canBeSentTo('disabled', true)).toBe(false)
  })
})

describe('destinationOutcomesOf', () => {
  test('returns a success, with the new address of a moved destination', () => {
    expect(destinationOutcomesOf(7, NOW, { statusCode: 200 })).toEqual([
      { recipientId: 7, at: NOW, ok: true },
    ])
    expect(destinationOutcomesOf(7, NOW, { movedTo: { chatId: -100 } })).toEqual([
      { recipientId: 7, at: NOW, ok: true, movedTo: { chatId: -100 } },
    ])
    expect(destinationOutcomesOf(7, NOW, { movedTo: { chatId: -100 }, moved: 'migrated' })).toEqual(
      [{ recipientId: 7, at: NOW, ok: true }],
    )
  })

  test('returns a failure, and switches off a destination that is gone', () => {
    expect(destinationOutcomesOf(7, NOW, plain)).toEqual([
      { recipientId: 7, at: NOW, ok: false, reason: 'status_500' },
    ])
    const blocked = new DeliveryError('blocked', { permanent: true, becomes: 'blocked' })
    expect(destinationOutcomesOf(7, NOW, blocked)).toEqual([
      { recipientId: 7, at: NOW, ok: false, reason: 'blocked', disable: 'blocked' },
    ])
  })

  test('does not count a fault of this service against the destination', () => {
    expect(
      destinationOutcomesOf(7, NOW, new DeliveryError('mail_login', { isOurFault: true })),
    ).toEqual([])
  })
})

function next(error: DeliveryError, attempt: number, { isTest = false } = {}) {
  return stateAfterFailure(error, { attempt, isTest, random: 0.5, now: NOW })
}

function seconds(error: DeliveryError, attempt: number): number | undefined {
  const { nextAttemptAt } = next(error, attempt)
  return nextAttemptAt === null ? undefined : (nextAttemptAt.getTime() - NOW.getTime()) / 1000
}

function random() {
  return fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
}
