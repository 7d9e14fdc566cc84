import { describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { isTimeZone } from './format.ts'
import { cityOf, findZones, modernZone, ZONE_NAMES } from './zones.ts'

describe('time zones', () => {
  test.each([
    ['Dhaka', 'Asia/Dhaka'],
    ['dhaka', 'Asia/Dhaka'],
    ['new york', 'America/New_York'],
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['São Paulo', 'America/Sao_Paulo'],
    ['Kolkata', 'Asia/Kolkata'],
    ['Calcutta', 'Asia/Kolkata'],
    ['Kyiv', 'Europe/Kyiv'],
    ['utc', 'UTC'],
    ['Kairo', 'Africa/Cairo'],
    ['Le Caire', 'Africa/Cairo'],
    ['القاهرة', 'Africa/Cairo'],
    ['القاهره', 'Africa/Cairo'],
    ['قاهرة', 'Africa/Cairo'],
    ['أبو ظبي', 'Asia/Dubai'],
    ['ابوظبي', 'Asia/Dubai'],
    ['上海', 'Asia/Shanghai'],
    ['北京', 'Asia/Shanghai'],
    ['ঢাকা', 'Asia/Dhaka'],
    ['চট্টগ্রাম', 'Asia/Dhaka'],
    ['কলকাতা', 'Asia/Kolkata'],
    ['दिल्ली', 'Asia/Kolkata'],
    ['नई दिल्ली', 'Asia/Kolkata'],
    ['मुंबई', 'Asia/Kolkata'],
    ['कोलकाता', 'Asia/Kolkata'],
    ['दिल्ली', 'Asia/Kolkata'],
    ['München', 'Europe/Berlin'],
    ['Genève', 'Europe/Zurich'],
    ['বাংলাদেশ', 'Asia/Dhaka'],
    ['भारत', 'Asia/Kolkata'],
    ['مصر', 'Africa/Cairo'],
    ['Österreich', 'Europe/Vienna'],
    ['Schanghai', 'Asia/Shanghai'],
    ['北京市', 'Asia/Shanghai'],
    ['臺北', 'Asia/Taipei'],
    ['काहिरा', 'Africa/Cairo'],
    ['কায়রো', 'Africa/Cairo'],
    ['রিয়াদ', 'Asia/Riyadh'],
    ['السعودية', 'Asia/Riyadh'],
    ['الدوحة', 'Asia/Qatar'],
    ['Londres', 'Europe/London'],
    ['UK', 'Europe/London'],
    ['Großbritannien', 'Europe/London'],
    ['伦敦', 'Europe/London'],
    ['टोक्यो', 'Asia/Tokyo'],
    ['东京', 'Asia/Tokyo'],
    ['إسطنبول', 'Europe/Istanbul'],
    ['ইস্তাম্বুল', 'Europe/Istanbul'],
    ['NYC', 'America/New_York'],
    ['নিউ ইয়র্ক', 'America/New_York'],
    ['نيويورك', 'America/New_York'],
    ['阿联酋', 'Asia/Dubai'],
    ['Brüssel', 'Europe/Brussels'],
    ['Moskau', 'Europe/Moscow'],
    ['नेपाल', 'Asia/Kathmandu'],
  ])('are found by %s', (typed, zone) => {
    expect(findZones(typed)).toEqual([zone])
  })

  test('are all found by their country', () => {
    expect(findZones('中国')).toEqual(['Asia/Shanghai', 'Asia/Urumqi'])
    expect(findZones('USA').length + findZones('Vereinigte Staaten').length).toBeGreaterThan(6)
  })

  test('are found by a part of their name, names that begin with it first', () => {
    const found = findZones('san')
    expect(found.indexOf('America/Santiago')).toBeGreaterThanOrEqual(0)
    expect(found.indexOf('America/Santiago')).toBeLessThan(found.indexOf('Europe/Zurich'))
  })

  test.each(['', 'x', 'Atlantis', '🙂', '../../etc', '।'])('are not found by “%s”', (typed) => {
    expect(findZones(typed)).toEqual([])
  })

  test('are all known, and found by name and city in every language', () => {
    for (const zone of ZONE_NAMES) {
      expect(isTimeZone(zone), zone).toBe(true)
      expect(modernZone(zone), zone).toBe(zone)
      expect(findZones(zone)).toContain(zone)
      for (const locale of LOCALES) expect(findZones(cityOf(zone, locale))).toContain(zone)
    }
  })

  test('replace outdated names by current ones', () => {
    const names = ['Asia/Calcutta', 'asia/calcutta', 'Europe/Kiev', 'Asia/Saigon', 'europe/BERLIN']
    expect(names.map(modernZone)).toEqual([
      'Asia/Kolkata',
      'Asia/Kolkata',
      'Europe/Kyiv',
      'Asia/Ho_Chi_Minh',
      'Europe/Berlin',
    ])
    expect(modernZone('Atlantis')).toBe('Atlantis')
    expect(ZONE_NAMES).not.toContain('Asia/Calcutta')
    expect(ZONE_NAMES.includes('UTC')).toBe(true)
  })

  test('show their city in the language of the reader', () => {
    expect(LOCALES.map((locale) => cityOf('Asia/Kolkata', locale))).toEqual([
      'Kolkata',
      'Kalkutta',
      'Calcutta',
      'কোলকাতা',
      '加尔各答',
      'कोलकाता',
      'كالكتا',
    ])
  })
})
