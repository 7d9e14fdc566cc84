import { expect, test } from 'vitest'
import { type Stamps, staleTexts, stamped, stampOf } from './sources.ts'

const ENGLISH = {
  'units:slots_one': '{{count}} slot',
  'units:slots_other': '{{count}} slots',
  'bot:ask': 'Which wallet?',
}
const FRESH = stamped(ENGLISH, {}, ['units:slots', 'bot:ask'])

test('a translation is stale once any form of its English text changes', () => {
  const stale = (english: Record<string, string>, stamps: Stamps = FRESH) =>
    staleTexts(english, stamps).map(({ key, why }) => `${key}: ${why}`)
  expect(stale(ENGLISH)).toEqual([])
  expect(stale({ ...ENGLISH, 'bot:ask': 'Which account?' })).toEqual([
    'bot:ask: the English text has changed',
  ])
  expect(stale({ ...ENGLISH, 'units:slots_one': 'one slot' })).toEqual([
    'units:slots: the English text has changed',
  ])
  expect(stale({ ...ENGLISH, 'units:slots_zero': 'no slots' })).toEqual([
    'units:slots: the English text has changed',
  ])
  expect(stale({ ...ENGLISH, 'bot:ask': 'Which\u00a0wallet?' })).toEqual([])
  expect(stale({ ...ENGLISH, 'bot:more': 'More' })).toEqual(['bot:more: not translated yet'])
  expect(stale(ENGLISH, { ...FRESH, 'bot:less': 'abc' })).toEqual(['bot:less: not in English'])
})

test('stamping stores the present English text of the named keys', () => {
  const english = { ...ENGLISH, 'bot:ask': 'Which account?', 'units:slots_one': 'one slot' }
  const after = stamped(english, { ...FRESH, 'bot:less': 'abc' }, ['bot:ask'])
  expect(after).toEqual({
    'units:slots': stampOf(ENGLISH, 'units:slots'),
    'bot:ask': stampOf(english, 'bot:ask'),
  })
  expect(Object.keys(after)).toEqual(['units:slots', 'bot:ask'])
})
