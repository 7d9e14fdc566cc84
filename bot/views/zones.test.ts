import { describe, expect, test } from 'vitest'
import { isTimeZone } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { cityList, suggestedZones, zonesFor } from './zones.ts'

describe('time zones', () => {
  test('are offered to choose from if a text means several, at most six', () => {
    expect(zonesFor('san').length).toBe(6)
    expect(zonesFor('dhaka')).toEqual(['Asia/Dhaka'])
  })

  test('are listed with the names of the reader’s language and the time there', () => {
    const now = new Date('2026-11-20T12:00:00Z')
    const reader = { t: translator('zh'), timezone: 'UTC', isGroup: false, bot: 'bot' }
    const pages = Array.from({ length: 12 }, (_, page) =>
      cityList(reader, 'as', { page: page + 1, now }),
    )
    const labels = pages.flatMap((list) => list?.rows.flat().map(({ label }) => label) ?? [])
    expect(labels).toContain('上海 20:00')
    expect(labels).toContain('加尔各答 17:30')
  })

  test('are not suggested if the current zone is the same one under an older name', () => {
    expect(suggestedZones('hi', 'Asia/Calcutta')).toEqual(['UTC'])
  })

  test('are all known, and their lists have at most eight rows, in every language', () => {
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

  test('have no list for an unknown region', () => {
    const reader = { t: translator('en'), timezone: 'UTC', isGroup: false, bot: 'bot' }
    expect(
      cityList(reader, 'all', { page: 1, now: new Date('2026-11-20T12:00:00Z') }),
    ).toBeUndefined()
  })
})
