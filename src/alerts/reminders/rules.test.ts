import { describe, expect, test } from 'vitest'
import type { WatchForNotification } from '#src/watches/notification-model.ts'
import { isReminderForEscalated, reminderStepFor } from './rules.ts'

const TOLD = new Date('2026-11-20T12:00:00.000Z')
const minute = (minutes: number) => new Date(TOLD.getTime() + minutes * 60_000)

const WATCH: WatchForNotification = {
  id: 1,
  wallet: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
  label: 'Node A',
  recipientIds: null,
  minSeverity: 'info',
  mutedUntil: null,
  isJudged: true,
  escalateAfterMinutes: null,
  escalateTo: [],
  firing: ['ftso-commit'],
  off: [],
}
const ALERT = {
  watchId: 1,
  isEpisode: true,
  severity: 'critical',
  signal: 'ftso-commit',
  recoveredAt: null,
  acknowledgedAt: null,
  mutedAt: null,
  notifiedAt: TOLD,
} as const

const SETTINGS = { repeat: { critical: [15, 60, 240] }, maintenance: [], timezone: 'UTC' }

type About = Parameters<typeof reminderStepFor>[1]
const step = (
  alert: Partial<Parameters<typeof reminderStepFor>[0]> = {},
  about: Partial<About> = {},
  watch: Partial<WatchForNotification> = {},
) =>
  reminderStepFor(
    { ...ALERT, ...alert },
    {
      watch: { ...WATCH, ...watch },
      settings: SETTINGS,
      isUnsent: false,
      now: minute(15),
      ...about,
    },
  )

describe('an alert whose reminder is due', () => {
  test('is reminded of, and the next reminder is planned', () => {
    expect(step()).toEqual({ act: 'remind', counts: true, nextAt: minute(60) })
    expect(step({}, { now: minute(500) })).toEqual({ act: 'remind', counts: true })
  })

  test.each([
    ['acknowledged', { acknowledgedAt: TOLD }],
    ['muted', { mutedAt: TOLD }],
    ['recovered', { recoveredAt: TOLD }],
    ['not notified', { notifiedAt: null }],
  ])('is left alone when it is %s', (_what, alert) => {
    expect(step(alert)).toEqual({ act: 'none' })
  })

  test('is left alone when its watch is gone', () => {
    expect(step({}, { watch: undefined })).toEqual({ act: 'none' })
  })

  test.each([
    ['its watch is paused', { isJudged: false }],
    ['its signal is off', { off: ['ftso-commit'], firing: [] }],
  ])('waits for its next time while %s', (_what, watch) => {
    expect(step({}, {}, watch)).toEqual({ act: 'wait', nextAt: minute(60) })
  })

  test('is sent to recipients who never got it, whatever its severity', () => {
    const warning = { severity: 'warning' }
    expect(step(warning, { isUnsent: true })).toEqual({ act: 'remind', counts: false })
    expect(step(warning)).toEqual({ act: 'wait' })
  })

  test('ends its episode when its signal does not fire any more', () => {
    expect(step({}, {}, { firing: [] })).toEqual({ act: 'end' })
  })

  test('waits for the end of maintenance, and is sent then', () => {
    const window = { id: 'w', name: 'Upgrade', watchIds: null, repeat: null }
    const maintenance = [{ ...window, from: minute(10), until: minute(30) }]
    const settings = { ...SETTINGS, maintenance }
    expect(step({}, { settings })).toEqual({ act: 'wait', nextAt: minute(30) })
    expect(step({}, { settings, now: minute(30) })).toMatchObject({ act: 'remind' })
    expect(step({ watchId: 2 }, { settings: { ...settings, maintenance: [] } })).toMatchObject({
      act: 'remind',
    })
  })

  test('waits while its watch is muted, and until the time that changed settings give', () => {
    expect(step({}, {}, { mutedUntil: minute(70) })).toEqual({ act: 'wait', nextAt: minute(240) })
    const later = { settings: { ...SETTINGS, repeat: { critical: [30] } } }
    expect(step({}, later)).toEqual({ act: 'wait', nextAt: minute(30) })
    expect(step({}, { settings: { ...SETTINGS, repeat: { critical: [] } } })).toEqual({
      act: 'wait',
    })
  })
})

test.each([
  ['that was due when they were told', 15, 15, false],
  ['that was due before they were told', 15, 20, false],
  ['in the minute in which they were told', 15, 14.5, false],
  ['that is due after they were told', 60, 15, true],
])('the recipients of an escalation and a reminder %s', (_, due, escalated, isSent) => {
  expect(isReminderForEscalated(minute(escalated), minute(due))).toBe(isSent)
})
