import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/support/runs.ts'
import { currentWindows, type MaintenanceWindow, maintenanceAt, periodFrom } from './maintenance.ts'

const at = (text: string) => new Date(text)
const once: MaintenanceWindow = {
  id: 'once',
  name: 'Upgrade',
  watchIds: null,
  from: at('2026-12-01T22:00:00Z'),
  until: at('2026-12-01T23:00:00Z'),
  repeat: null,
}

describe('a window of maintenance', () => {
  test('holds from its start until just before its end, for its watches', () => {
    const settings = { maintenance: [{ ...once, watchIds: [7] }], timezone: 'UTC' }
    const holds = (watchId: number, time: string) =>
      maintenanceAt(settings, watchId, at(time)) !== undefined
    expect(holds(7, '2026-12-01T21:59:59.999Z')).toBe(false)
    expect(holds(7, '2026-12-01T22:00:00Z')).toBe(true)
    expect(holds(7, '2026-12-01T22:59:59.999Z')).toBe(true)
    expect(holds(7, '2026-12-01T23:00:00Z')).toBe(false)
    expect(holds(8, '2026-12-01T22:30:00Z')).toBe(false)
  })

  test('that repeats keeps the time on the clock when the clocks change', () => {
    // Clocks in Berlin go forward on 28 March 2027.
    const weekly = { ...once, from: at('2027-03-23T21:00:00Z'), until: at('2027-03-23T22:00:00Z') }
    const next = periodFrom(
      { ...weekly, repeat: 'weekly' },
      'Europe/Berlin',
      at('2027-03-25T00:00:00Z'),
    )
    expect(next).toEqual({ from: at('2027-03-30T20:00:00Z'), to: at('2027-03-30T21:00:00Z') })
  })

  test('lasts until the end of the last one that holds, and only windows to come are listed', () => {
    const longer = { ...once, id: 'longer', until: at('2026-12-02T01:00:00Z') }
    const settings = { maintenance: [longer, once], timezone: 'UTC' }
    expect(maintenanceAt(settings, 1, at('2026-12-01T22:30:00Z'))?.to).toEqual(longer.until)
    expect(currentWindows(settings, at('2026-12-02T00:00:00Z')).map(({ id }) => id)).toEqual([
      'longer',
    ])
    expect(currentWindows(settings, longer.until)).toEqual([])
  })
})

test('the period of a weekly window is the first one that is not over, whatever the zone and the time', () => {
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe')
  const minute = fc.integer({ min: 0, max: 3 * 366 * 24 * 60 })
  const start = Date.UTC(2026, 0, 1)
  fc.assert(
    fc.property(zone, minute, minute, fc.integer({ min: 1, max: 8640 }), (timezone, a, b, long) => {
      const from = new Date(start + a * 60_000)
      const now = new Date(start + b * 60_000)
      const window = {
        from,
        until: new Date(from.getTime() + long * 60_000),
        repeat: 'weekly',
      } as const
      const first = Temporal.Instant.fromEpochMilliseconds(from.getTime())
      const starts = Array.from({ length: 330 }, (_, weeks) =>
        first.toZonedDateTimeISO(timezone).add({ weeks }),
      )
      const expected = starts.find((each) => each.epochMilliseconds + long * 60_000 > now.getTime())
      expect(periodFrom(window, timezone, now)?.from.getTime()).toBe(expected?.epochMilliseconds)
    }),
    { numRuns: runs(50) },
  )
})
