import { expect, test } from 'vitest'
import { createHostGroups } from './host-groups.ts'

test('names below one registered domain belong together, those of a hosting platform do not', () => {
  const groups = createHostGroups()
  expect(groups.of('a.b.evil.example.com')).toEqual(['example.com'])
  expect(groups.of('hooks.example.co.uk:8443')).toEqual(['example.co.uk'])
  expect(groups.of('one.github.io')).toEqual(['one.github.io'])
  expect(groups.of('localhost')).toEqual(['localhost'])
})

test('hosts with one address belong together, whatever they are called', () => {
  const groups = createHostGroups()
  groups.note('a.example.com', ['203.0.113.7', '2001:db8::7'])
  groups.note('b.example.org', ['203.0.113.7'])
  expect(groups.of('a.example.com:8443')).toEqual(['example.com', '203.0.113.7', '2001:db8::7'])
  expect(groups.of('b.example.org')).toEqual(['example.org', '203.0.113.7'])
})

test('an address is a group of its own, on every port', () => {
  const groups = createHostGroups()
  expect(groups.of('203.0.113.7:8443')).toEqual(['203.0.113.7'])
  expect(groups.of('[2001:db8::7]:443')).toEqual(['2001:db8::7'])
})
