import { expect, test } from 'vitest'
import { Label } from '#src/kernel/label.ts'
import { distinctName } from './distinct-name.ts'

test('a name that exists gets a number', () => {
  expect(distinctName('example.org', ['example.com'])).toBe('example.org')
  expect(distinctName('example.org', ['example.org', 'example.org 2'])).toBe('example.org 3')
})

test.each([
  '👨‍👩‍👧‍👦',
  '𝔵',
  'क्षि',
])('a name of forty %s keeps whole characters and is a label', (character) => {
  const name = character.repeat(40)
  const next = distinctName(name, [name])
  expect(next).toBe(`${character.repeat(37)}… 2`)
  expect(Label.parse(next)).toBe(next)
})
