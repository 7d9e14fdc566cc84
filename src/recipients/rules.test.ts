import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SEVERITIES } from '#src/kernel/display-values.ts'
import { OFF_BY_OWNER, OFF_BY_READER } from './model.ts'
import {
  type AttemptOutcome,
  chooseRecipients,
  linkScopes,
  nextConfirmationAt,
  notifiedRecipients,
  type RecipientCandidate,
  retryConfirmationAt,
  type StatusFields,
  statusAfterChange,
  sumOutcomes,
} from './rules.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
const minute = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000)

function candidate(over: Partial<RecipientCandidate>): RecipientCandidate {
  return {
    id: 1,
    channel: 'webhook',
    partitionKey: 'example.org',
    mutedUntil: null,
    isGroup: false,
    isFollower: false,
    locale: 'en',
    timezone: 'UTC',
    status: 'active',
    minSeverity: 'info',
    byDefault: false,
    ...over,
  }
}

describe('the recipients of an alert', () => {
  const own = candidate({ id: 1, byDefault: true })
  const named = candidate({ id: 2 })
  const late = candidate({ id: 3, byDefault: true, minSeverity: 'critical' })
  const off = candidate({ id: 4, byDefault: true, status: 'disabled' })
  const all = [own, named, late, off]
  const ids = (recipientIds: number[] | null, severity: (typeof SEVERITIES)[number]) =>
    chooseRecipients(all, { recipientIds, severity }).map(({ id }) => id)

  test('are only those that the watch names', () => {
    expect(ids([2], 'critical')).toEqual([2])
  })
  test('are the defaults when the watch names none', () => {
    expect(ids(null, 'critical')).toEqual([1, 3, 4])
    expect(ids([], 'critical')).toEqual([1, 3, 4])
  })
  test('are the defaults when none of the named ones exists any more', () => {
    expect(ids([99], 'critical')).toEqual([1, 3, 4])
  })
  test('are not the defaults when a named recipient is switched off', () => {
    expect(ids([4], 'critical')).toEqual([4])
    expect(ids([4, 2], 'critical')).toEqual([2, 4])
  })
  test('exclude recipients with a higher minimum severity', () => {
    expect(ids(null, 'warning')).toEqual([1, 4])
    expect(ids([3], 'warning')).toEqual([])
  })
})

describe('the status of a recipient after a change', () => {
  const stood = fc.record({
    channel: fc.constantFrom('telegram', 'email', 'webhook'),
    status: fc.constantFrom('pending', 'active', 'disabled', 'blocked'),
    statusReason: fc.constantFrom(null, OFF_BY_OWNER, OFF_BY_READER, 'status_500'),
    verifiedAt: fc.constantFrom(null, NOW),
  } as const)
  const change = fc.record({
    isAddressChanged: fc.boolean(),
    wanted: fc.constantFrom('active', 'disabled', undefined),
  } as const)

  test('is never active for a mailbox whose reader has not agreed', () => {
    fc.assert(
      fc.property(stood, change, (before, what) => {
        fc.pre(before.channel === 'email' && !(before.status === 'active' && !before.verifiedAt))
        const result = statusAfterChange(before, what)
        expect(result.status === 'active' && result.verifiedAt === null).toBe(false)
        if (result.ask) expect(result.status).toBe('pending')
      }),
    )
  })
  test('is disabled, with the reason, when the owner switches it off', () => {
    fc.assert(
      fc.property(stood, fc.boolean(), (before, isAddressChanged) => {
        const { status, statusReason, ask } = statusAfterChange(before, {
          isAddressChanged,
          wanted: 'disabled',
        })
        expect({ status, statusReason, ask }).toEqual({
          status: 'disabled',
          statusReason: OFF_BY_OWNER,
          ask: false,
        })
      }),
    )
  })
  test.each<[string, 'email' | 'webhook', StatusFields, boolean, StatusFields & { ask: boolean }]>([
    [
      'a mailbox with another address waits for its reader',
      'email',
      { status: 'active', statusReason: null, verifiedAt: NOW },
      true,
      { status: 'pending', statusReason: null, verifiedAt: null, ask: true },
    ],
    [
      'a hook that failed is tried at its new address',
      'webhook',
      { status: 'disabled', statusReason: 'status_500', verifiedAt: null },
      true,
      { status: 'active', statusReason: null, verifiedAt: null, ask: false },
    ],
    [
      'a hook that the owner switched off stays off at its new address',
      'webhook',
      { status: 'disabled', statusReason: OFF_BY_OWNER, verifiedAt: null },
      true,
      { status: 'disabled', statusReason: OFF_BY_OWNER, verifiedAt: null, ask: false },
    ],
    [
      'a rotated secret changes nothing',
      'webhook',
      { status: 'disabled', statusReason: 'gone', verifiedAt: null },
      false,
      { status: 'disabled', statusReason: 'gone', verifiedAt: null, ask: false },
    ],
  ])('%s', (_what, channel, before, isAddressChanged, expected) => {
    expect(
      statusAfterChange({ ...before, channel }, { isAddressChanged, wanted: undefined }),
    ).toEqual(expected)
  })
  test('an unsubscribed mailbox that its owner switches on asks its reader again', () => {
    const before = { status: 'disabled', statusReason: OFF_BY_READER, verifiedAt: null } as const
    expect(
      statusAfterChange(
        { ...before, channel: 'email' },
        { isAddressChanged: false, wanted: 'active' },
      ),
    ).toMatchObject({ status: 'pending', ask: true })
  })
})

const nextToMailbox = (toMailbox: readonly Date[], now: Date) =>
  nextConfirmationAt({ toMailbox, ofWallet: [] }, now)

describe('confirmation mails', () => {
  test('are sent at once if there was none before', () => {
    expect(nextConfirmationAt({ toMailbox: [], ofWallet: [] }, NOW)).toEqual(NOW)
  })
  test('are five minutes apart', () => {
    expect(nextToMailbox([minute(-4)], NOW)).toEqual(minute(1))
    expect(nextToMailbox([minute(-5)], NOW)).toEqual(NOW)
  })
  test('are limited to three a day to one mailbox', () => {
    const dueAt = [minute(-60), minute(-1200), minute(-30)]
    expect(nextToMailbox(dueAt, NOW)).toEqual(minute(-1200 + 1440))
  })
  test('are limited to twenty a day of one wallet, to all mailboxes together', () => {
    const ofWallet = Array.from({ length: 20 }, (_, index) => minute(-10 - index))
    expect(nextConfirmationAt({ toMailbox: [], ofWallet }, NOW)).toEqual(minute(-29 + 1440))
    const fewer = { toMailbox: [], ofWallet: ofWallet.slice(1) }
    expect(nextConfirmationAt(fewer, NOW)).toEqual(NOW)
  })
  test('are never more than three in 24 hours, nor two within five minutes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 30 }), (gaps) => {
        const dueAt: Date[] = []
        let now = NOW
        for (const minutes of gaps) {
          now = new Date(now.getTime() + minutes * 60_000)
          dueAt.push(nextToMailbox(dueAt, now))
        }
        const times = dueAt.map((date) => date.getTime())
        times.forEach((time, index) => {
          const next = times[index + 1]
          const fourth = times[index + 3]
          if (next !== undefined) expect(next - time).toBeGreaterThanOrEqual(300_000)
          if (fourth !== undefined) expect(fourth - time).toBeGreaterThanOrEqual(86_400_000)
        })
      }),
    )
  })
  test('are retried at growing intervals, and given up after three days', () => {
    const waits = [1, 2, 3, 4, 5, 50].map((attempts) => retryConfirmationAt(attempts, NOW, NOW))
    expect(waits).toEqual([minute(1), minute(5), minute(15), minute(60), minute(60), minute(60)])
    expect(retryConfirmationAt(3, NOW, minute(72 * 60 - 1))).toEqual(minute(72 * 60 + 14))
    expect(retryConfirmationAt(3, NOW, minute(72 * 60))).toBeUndefined()
  })
})

describe('combined outcomes', () => {
  const ok = (minutes: number): AttemptOutcome => ({
    recipientId: 7,
    at: minute(minutes),
    ok: true,
  })
  const failed = (minutes: number, over: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
    recipientId: 7,
    at: minute(minutes),
    ok: false,
    reason: 'timeout',
    ...over,
  })

  test('end the failing state if the last one is a success', () => {
    expect(sumOutcomes([ok(2), failed(1)])).toEqual([
      {
        recipientId: 7,
        successAt: minute(2),
        failureAt: minute(1),
        failingSince: null,
        reason: null,
        disable: null,
      },
    ])
  })
  test('date the failing state from the first failure after the last success', () => {
    const [sum] = sumOutcomes([
      failed(5, { reason: 'gone', disable: 'disabled' }),
      ok(2),
      failed(3),
    ])
    expect(sum).toMatchObject({
      successAt: minute(2),
      failureAt: minute(5),
      failingSince: minute(3),
      reason: 'gone',
      disable: 'disabled',
    })
  })
  test('are equal in any order of arrival', () => {
    const outcome = fc.record({
      recipientId: fc.integer({ min: 1, max: 3 }),
      ok: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 20 }), fc.infiniteStream(fc.nat()), (all, mix) => {
        const timed = all.map((outcome, index) => ({ ...outcome, at: minute(index) }))
        const mixed = timed
          .map((outcome) => ({ outcome, key: mix.next().value }))
          .sort((a, b) => a.key - b.key)
          .map(({ outcome }) => outcome)
        expect(sumOutcomes(mixed)).toEqual(sumOutcomes(timed))
      }),
    )
  })
})

describe('rights of a linked chat', () => {
  test('are read and write by default', () => {
    expect(linkScopes(['read', 'write', 'spend'], undefined)).toEqual({
      ok: true,
      scopes: ['read', 'write'],
    })
  })
  test('always contain read, sorted and without duplicates', () => {
    expect(linkScopes(['read', 'write', 'spend'], ['spend', 'write', 'spend'])).toEqual({
      ok: true,
      scopes: ['read', 'write', 'spend'],
    })
    expect(linkScopes(['read', 'write'], [])).toEqual({ ok: true, scopes: ['read'] })
  })
  test('never exceed the rights of the creator of the link', () => {
    expect(linkScopes(['read', 'write'], ['spend'])).toEqual({ ok: false, missing: 'spend' })
  })
})

describe('the recipients that a watch names as notified', () => {
  const watch = {
    type: 'wallet-balance',
    recipientIds: null,
    minSeverity: 'info',
    severity: 'warning',
  } as const
  const ids = (
    over: Partial<RecipientCandidate>,
    about: object = {},
    least: 'critical' | null = null,
  ) =>
    notifiedRecipients(
      [{ ...candidate({ byDefault: true, ...over }), minSeverityOfPeople: least }],
      { ...watch, ...about },
    )

  test.each(['pending', 'disabled', 'blocked'] as const)('are not those that are %s', (status) => {
    expect(ids({})).toEqual([1])
    expect(ids({ status })).toEqual([])
  })
  test('are none if the watch sends higher severities only', () => {
    expect(ids({}, { minSeverity: 'critical' })).toEqual([])
  })
  test('are no groups where the watch is about credits', () => {
    expect(ids({ isGroup: true })).toEqual([1])
    expect(ids({ isGroup: true }, { type: 'credits-balance' })).toEqual([])
  })
  test('are programs, but not people, below the severity of the wallet’s settings', () => {
    expect(ids({ channel: 'webhook' }, {}, 'critical')).toEqual([1])
    expect(ids({ channel: 'email' }, {}, 'critical')).toEqual([])
  })
})
