import { expect, test } from 'vitest'
import { formatDuration } from '#src/i18n/format.ts'
import { value } from './drawing.ts'

const HOUR = 3600
const DAY = 24 * HOUR

test.each([
  'zh',
  'hi',
  'bn',
] as const)('a duration of two units has both numbers, each before its word, in %s', (locale) => {
  const content = formatDuration(2 * DAY + 17 * HOUR, locale, 'short')
  const svg = value(0, 0, content, { size: 50, fill: '#fff' })
  const drawn = [
    ...svg.matchAll(/<text x="([\d.]+)"[^>]*>([^<]*)<|<g transform="translate\(([\d.]+)/g),
  ]
  expect(drawn.map(([, , number = 'word']) => number.trim())).toEqual(['2', 'word', '17', 'word'])
  const places = drawn.map(([, text, , word]) => Number(text ?? word))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(new Set(places).size).toBe(4)
})
