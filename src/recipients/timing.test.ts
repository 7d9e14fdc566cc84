import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatTime } from '#src/i18n/format.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { DEFAULT_SETTINGS, type Settings } from './settings.ts'
import { digestPeriodAt, quietPeriodAt, sendTimingOf, type TimingSettings } from './timing.ts'

const quiet = (from: string, to: string, criticalBypass = true): Settings['quietHours'] => ({
  enabled: true,
  from,
  to,
  criticalBypass,
})
const NIGHT = quiet('22:00', '07:00')

/** The quiet hours around an instant, as UTC texts. */
function around(hours: Settings['quietHours'], timezone: string, at: string) {
  const period = quietPeriodAt(hours, timezone, new Date(at))
  return period && [period.from.toISOString(), period.to.toISOString()]
}

function timing(
  over: Partial<TimingSettings>,
  at: string,
  {
    kind = 'alert' as const,
    severity = 'warning' as const,
    timezone = 'Europe/Berlin',
    mutedUntil = null as string | null,
    security = false,
  }: {
    kind?: 'alert' | 'raised' | 'reminder' | 'notice'
    severity?: (typeof SEVERITIES)[number]
    timezone?: string
    mutedUntil?: string | null
    security?: boolean
  } = {},
): string {
  const reader = { timezone, mutedUntil: mutedUntil === null ? null : new Date(mutedUntil) }
  const message = { kind, severity, security, now: new Date(at) }
  const result = sendTimingOf({ ...DEFAULT_SETTINGS, ...over }, reader, message)
  return result.act === 'hold' ? result.until.toISOString() : result.act
}

describe('quiet hours', () => {
  test('go by the reader’s clock, over midnight', () => {
    const night = ['2026-11-20T21:00:00.000Z', '2026-11-21T06:00:00.000Z']
    expect(around(NIGHT, 'Europe/Berlin', '2026-11-20T21:00:00Z')).toEqual(night)
    expect(around(NIGHT, 'Europe/Berlin', '2026-11-21T05:59:59Z')).toEqual(night)
    expect(around(NIGHT, 'Europe/Berlin', '2026-11-20T20:59:59Z')).toBeUndefined()
    expect(around(NIGHT, 'Europe/Berlin', '2026-11-21T06:00:00Z')).toBeUndefined()
  })

  test('defer notices, except those about the safety of the account', () => {
    const at = '2026-11-20T23:00:00Z'
    const night = { quietHours: quiet('22:00', '07:00', false) }
    expect(timing(night, at, { kind: 'notice' })).toBe('2026-11-21T06:00:00.000Z')
    expect(timing(night, at, { kind: 'notice', security: true })).toBe('send')
    const mutedUntil = '2026-11-21T02:00:00Z'
    const muted = timing(night, at, { kind: 'notice', security: true, mutedUntil })
    expect(muted).toBe('2026-11-21T02:00:00.000Z')
  })

  test('may lie within one day', () => {
    const lunch = quiet('12:00', '13:30')
    expect(around(lunch, 'UTC', '2026-11-20T12:00:00Z')).toEqual([
      '2026-11-20T12:00:00.000Z',
      '2026-11-20T13:30:00.000Z',
    ])
    expect(around(lunch, 'UTC', '2026-11-20T11:59:59Z')).toBeUndefined()
    expect(around(lunch, 'UTC', '2026-11-20T13:30:00Z')).toBeUndefined()
  })

  test.each([
    ['Asia/Kolkata', '2026-11-20T16:30:00.000Z', '2026-11-21T01:30:00.000Z'],
    ['Asia/Kathmandu', '2026-11-20T16:15:00.000Z', '2026-11-21T01:15:00.000Z'],
    ['America/St_Johns', '2026-11-21T01:30:00.000Z', '2026-11-21T10:30:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-20T08:00:00.000Z', '2026-11-20T17:00:00.000Z'],
  ])('follow time zones with fractional and large offsets: %s', (timezone, from, to) => {
    const middle = new Date((Date.parse(from) + Date.parse(to)) / 2).toISOString()
    expect(around(NIGHT, timezone, middle)).toEqual([from, to])
  })

  test('are an hour shorter when summer time begins and an hour longer when it ends', () => {
    expect(around(NIGHT, 'Europe/Berlin', '2026-03-29T00:00:00Z')).toEqual([
      '2026-03-28T21:00:00.000Z',
      '2026-03-29T05:00:00.000Z',
    ])
    expect(around(NIGHT, 'Europe/Berlin', '2026-10-25T00:00:00Z')).toEqual([
      '2026-10-24T20:00:00.000Z',
      '2026-10-25T06:00:00.000Z',
    ])
  })

  test('end and begin at the instant at which the clock skips their time', () => {
    // In Berlin it is never 02:30 on 29 March 2026: after 01:59 comes 03:00, at 01:00 UTC.
    expect(around(quiet('22:00', '02:30'), 'Europe/Berlin', '2026-03-29T00:59:00Z')).toEqual([
      '2026-03-28T21:00:00.000Z',
      '2026-03-29T01:00:00.000Z',
    ])
    expect(around(quiet('02:30', '06:00'), 'Europe/Berlin', '2026-03-29T01:00:00Z')).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T04:00:00.000Z',
    ])
    expect(around(quiet('02:10', '02:50'), 'Europe/Berlin', '2026-03-29T01:00:00Z')).toBeUndefined()
  })

  test('end and begin once when the clock shows their time twice', () => {
    // In Berlin it is 02:30 at 00:30 and at 01:30 UTC on 25 October 2026.
    const end = quiet('22:00', '02:30')
    expect(around(end, 'Europe/Berlin', '2026-10-25T00:29:59Z')?.[1]).toBe(
      '2026-10-25T00:30:00.000Z',
    )
    expect(around(end, 'Europe/Berlin', '2026-10-25T01:10:00Z')).toBeUndefined()
    expect(around(quiet('02:30', '06:00'), 'Europe/Berlin', '2026-10-25T01:00:00Z')).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T05:00:00.000Z',
    ])
  })

  test('follow a clock that changes by half an hour', () => {
    // On Lord Howe Island 02:30 follows 01:59 on 4 October 2026, and 01:30 follows 01:59 on 5 April.
    expect(around(quiet('22:00', '02:15'), 'Australia/Lord_Howe', '2026-10-03T15:29:59Z')).toEqual([
      '2026-10-03T11:30:00.000Z',
      '2026-10-03T15:30:00.000Z',
    ])
    expect(
      around(quiet('22:00', '02:15'), 'Australia/Lord_Howe', '2026-10-03T15:30:00Z'),
    ).toBeUndefined()
    expect(around(quiet('22:00', '01:45'), 'Australia/Lord_Howe', '2026-04-04T14:44:59Z')).toEqual([
      '2026-04-04T11:00:00.000Z',
      '2026-04-04T14:45:00.000Z',
    ])
    expect(
      around(quiet('22:00', '01:45'), 'Australia/Lord_Howe', '2026-04-04T15:15:00Z'),
    ).toBeUndefined()
  })

  test('defer alerts that are not critical until their end', () => {
    const at = '2026-11-21T01:00:00Z'
    const end = '2026-11-21T06:00:00.000Z'
    expect(timing({ quietHours: NIGHT }, at)).toBe(end)
    expect(timing({ quietHours: NIGHT }, at, { severity: 'info' })).toBe(end)
    expect(timing({ quietHours: NIGHT }, at, { severity: 'info', kind: 'notice' })).toBe(end)
    expect(timing({ quietHours: NIGHT }, at, { severity: 'critical' })).toBe('send')
    const all = quiet('22:00', '07:00', false)
    expect(timing({ quietHours: all }, at, { severity: 'critical' })).toBe(end)
    expect(timing({ quietHours: { ...NIGHT, enabled: false } }, at)).toBe('send')
    expect(timing({ quietHours: NIGHT }, '2026-11-21T06:00:00Z')).toBe('send')
  })

  test('drop reminders, which would be outdated afterwards', () => {
    const at = '2026-11-21T01:00:00Z'
    const all = quiet('22:00', '07:00', false)
    expect(timing({ quietHours: all }, at, { severity: 'critical', kind: 'reminder' })).toBe('drop')
    expect(timing({ quietHours: NIGHT }, at, { severity: 'critical', kind: 'reminder' })).toBe(
      'send',
    )
  })
})

describe('a digest', () => {
  test.each([
    ['15m', 'Europe/Berlin', '2026-11-20T12:07:00Z', '2026-11-20T12:15:00.000Z'],
    ['15m', 'Asia/Kathmandu', '2026-11-20T12:15:00Z', '2026-11-20T12:30:00.000Z'],
    ['1h', 'Europe/Berlin', '2026-11-20T12:00:00Z', '2026-11-20T13:00:00.000Z'],
    ['1h', 'Asia/Kolkata', '2026-11-20T12:07:00Z', '2026-11-20T12:30:00.000Z'],
    ['daily', 'Europe/Berlin', '2026-11-20T07:59:59Z', '2026-11-20T08:00:00.000Z'],
    ['daily', 'Europe/Berlin', '2026-11-20T08:00:00Z', '2026-11-21T08:00:00.000Z'],
    ['daily', 'Pacific/Auckland', '2026-11-20T12:00:00Z', '2026-11-20T20:00:00.000Z'],
    // Clocks go forward in the night before: 09:00 comes an hour earlier.
    ['daily', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T07:00:00.000Z'],
    ['1h', 'Australia/Lord_Howe', '2026-11-20T12:07:00Z', '2026-11-20T13:00:00.000Z'],
    ['1h', 'Australia/Lord_Howe', '2026-07-20T12:07:00Z', '2026-07-20T12:30:00.000Z'],
  ] as const)('%s in %s at %s comes at %s', (digest, timezone, at, until) => {
    expect(timing({ digest }, at, { timezone })).toBe(until)
  })

  test('does not delay critical alerts, notices and reminders', () => {
    const at = '2026-11-20T12:07:00Z'
    expect(timing({ digest: '1h' }, at, { severity: 'critical' })).toBe('send')
    expect(timing({ digest: '1h' }, at, { severity: 'critical', kind: 'raised' })).toBe('send')
    expect(timing({ digest: '1h' }, at, { kind: 'notice' })).toBe('send')
    expect(timing({ digest: '1h' }, at, { kind: 'reminder' })).toBe('send')
  })

  test('that falls into quiet hours is sent at their end', () => {
    const digestAndQuietHours = { digest: '1h', quietHours: NIGHT } as const
    expect(timing(digestAndQuietHours, '2026-11-20T20:30:00Z')).toBe('2026-11-21T06:00:00.000Z')
    expect(timing(digestAndQuietHours, '2026-11-21T01:20:00Z')).toBe('2026-11-21T06:00:00.000Z')
    expect(timing({ ...digestAndQuietHours, digest: 'daily' }, '2026-11-21T01:20:00Z')).toBe(
      '2026-11-21T08:00:00.000Z',
    )
  })

  test('covers the time since the previous digest', () => {
    const at = new Date('2026-11-20T12:07:00Z')
    expect(digestPeriodAt('daily', '09:00', 'Europe/Berlin', at)).toEqual({
      from: new Date('2026-11-20T08:00:00Z'),
      to: new Date('2026-11-21T08:00:00Z'),
    })
  })
})

describe('a reader who is muted', () => {
  test('gets no alert before the end of the mute, not even a critical one', () => {
    const at = '2026-11-20T12:07:00Z'
    const mutedUntil = '2026-11-20T13:07:00.000Z'
    const critical = { severity: 'critical', mutedUntil } as const
    expect(timing({}, at, critical)).toBe(mutedUntil)
    expect(timing({ digest: 'daily' }, at, { mutedUntil })).toBe(mutedUntil)
    expect(timing({}, at, { ...critical, kind: 'reminder' })).toBe('drop')
    expect(timing({}, mutedUntil, critical)).toBe('send')
  })

  test('whose mute ends in quiet hours gets the alert at their end', () => {
    const over = { quietHours: NIGHT }
    const mutedUntil = '2026-11-20T21:30:00.000Z'
    expect(timing(over, '2026-11-20T20:30:00Z', { mutedUntil })).toBe('2026-11-21T06:00:00.000Z')
  })
})

const zones = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Africa/Cairo',
  'America/Havana',
)
const times = fc
  .integer({ min: 0, max: 1439 })
  .map(
    (minutes) =>
      `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`,
  )
const instants = fc.date({
  min: new Date('2024-01-01T00:00:00Z'),
  max: new Date('2030-01-01T00:00:00Z'),
  noInvalidDate: true,
})

test('quiet hours contain every instant whose local time is inside them, on days without a clock change', () => {
  fc.assert(
    fc.property(zones, times, times, instants, (timezone, from, to, at) => {
      fc.pre(from !== to)
      const offsets = [-2, -1, 0, 1, 2].map((days) =>
        formatTime(new Date(at.getTime() + days * 86_400_000), 'en', timezone, { offset: true }),
      )
      fc.pre(new Set(offsets).size === 1)
      const wall = formatTime(at, 'de', timezone)
      const lies = from < to ? from <= wall && wall < to : wall >= from || wall < to
      expect(quietPeriodAt(quiet(from, to), timezone, at) !== undefined).toBe(lies)
    }),
  )
})

test('a deferred delivery has a time in the future, and is sent at that time', () => {
  const digests = fc.constantFrom('off', '15m', '1h', 'daily')
  fc.assert(
    fc.property(
      fc.record({
        quietHours: fc.record({
          enabled: fc.boolean(),
          from: times,
          to: times,
          criticalBypass: fc.boolean(),
        }),
        digest: digests,
        digestAt: times,
      }),
      zones,
      instants,
      fc.constantFrom(...SEVERITIES),
      (settings, timezone, now, severity) => {
        fc.pre(settings.quietHours.from !== settings.quietHours.to)
        const reader = { timezone, mutedUntil: null }
        const timing = sendTimingOf(settings, reader, { kind: 'alert', severity, now })
        if (timing.act !== 'hold') return
        const waitedMs = timing.until.getTime() - now.getTime()
        expect(waitedMs).toBeGreaterThan(0)
        expect(waitedMs).toBeLessThanOrEqual(3 * 86_400_000)
        const passes = severity === 'critical' && settings.quietHours.criticalBypass
        const quietThen = quietPeriodAt(settings.quietHours, timezone, timing.until)
        expect(passes || quietThen === undefined).toBe(true)
      },
    ),
  )
})
