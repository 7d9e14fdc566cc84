import { describe, expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { clockTime, nearTime } from './time.ts'

const at = new Date('2026-11-20T13:05:12.000Z')
const reader = (timezone: string, isGroup = false) => ({
  t: translator('en'),
  timezone,
  isGroup,
  bot: 'watchdog_bot',
})

describe('a time in a private chat', () => {
  test('is shown in the reader’s time zone', () => {
    expect(clockTime(reader('Europe/Berlin'), at).html).toBe('14:05')
    expect(clockTime(reader('Europe/Berlin'), at, { seconds: true }).html).toBe('14:05:12')
  })

  test('is marked as UTC while no zone is chosen', () => {
    expect(clockTime(reader('UTC'), at).html).toBe('13:05\u00a0UTC')
  })

  test('is shown with its date when it is a day away or more', () => {
    const berlin = reader('Europe/Berlin')
    expect(nearTime(berlin, at, new Date('2026-11-20T20:00:00Z')).html).toBe('14:05')
    expect(nearTime(berlin, at, new Date('2026-11-22T20:00:00Z')).html).toBe('Nov 20, 14:05')
  })
})

describe('a time in a group', () => {
  test('is shown by each client in its own zone, and in UTC by clients without time tags', () => {
    const group = reader('Europe/Berlin', true)
    expect(clockTime(group, at).html).toBe(
      '<tg-time unix="1795179912" format="t">13:05\u00a0UTC</tg-time>',
    )
    expect(nearTime(group, at, new Date('2026-12-22T20:00:00Z')).html).toBe(
      '<tg-time unix="1795179912" format="dt">Nov 20, 13:05\u00a0UTC</tg-time>',
    )
  })
})
