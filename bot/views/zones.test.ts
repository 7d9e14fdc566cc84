import { describe, expect, test } from 'vitest'
import { isTimeZone } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { cityList, findZones, suggestedZones } from './zones.ts'

describe('time zones', () => {
  test.each([
    ['Dhaka', 'Asia/Dhaka'],
    ['dhaka', 'Asia/Dhaka'],
    ['new york', 'America/New_York'],
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['São Paulo', 'America/Sao_Paulo'],
    ['Kolkata', 'Asia/Kolkata'],
    ['Kyiv', 'Europe/Kyiv'],
    ['utc', 'UTC'],
  ])('are found by %s', (typed, zone) => {
    expect(findZones(typed)).toEqual([zone])
  })

  test('are offered where a text may mean several, six at most', () => {
    const found = findZones('san')
    expect(found.length).toBe(6)
    expect(found.every((zone) => /\/San/.test(zone))).toBe(true)
  })

  test.each(['', 'x', 'Atlantis', '🙂', '東京', '../../etc'])('are not found by “%s”', (typed) => {
    expect(findZones(typed)).toEqual([])
  })

  test('that are suggested or listed all exist, and fit their buttons in every language', () => {
    const now = new Date('2026-11-20T12:00:00Z')
    for (const locale of LOCALES) {
      const reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: 'bot' }
      expect(suggestedZones(locale, 'America/Lima').every(isTimeZone)).toBe(true)
      for (const region of ['eu', 'as', 'af', 'am', 'pa']) {
        for (let page = 1; page <= 20; page += 1) {
          const list = cityList(reader, region, { page, now })
          const buttons = list?.rows.flat() ?? []
          expect(list?.rows.length).toBeLessThanOrEqual(8)
          for (const button of buttons) {
            const zone = 'data' in button ? /zoneSet:(.*)$/.exec(button.data)?.[1] : undefined
            if (zone !== undefined) expect(isTimeZone(zone), zone).toBe(true)
          }
        }
      }
    }
  })

  test('of a region that does not exist are none', () => {
    const reader = { t: translator('en'), timezone: 'UTC', isGroup: false, bot: 'bot' }
    expect(
      cityList(reader, 'all', { page: 1, now: new Date('2026-11-20T12:00:00Z') }),
    ).toBeUndefined()
  })
})
