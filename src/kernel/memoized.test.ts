import { expect, test } from 'vitest'
import { memoized } from './memoized.ts'

function counted(max: number) {
  const computed: string[] = []
  const get = memoized(max, (text) => {
    computed.push(text)
    return text.length
  })
  return { get, computed }
}

test('a result is computed once', () => {
  const { get, computed } = counted(4)
  expect([get('one'), get('one'), get('three')]).toEqual([3, 3, 5])
  expect(computed).toEqual(['one', 'three'])
})

test('results within the maximum are each computed once', () => {
  const { get, computed } = counted(4)
  for (let round = 0; round < 5; round += 1) for (const text of ['a', 'b', 'c', 'd']) get(text)
  expect(computed).toEqual(['a', 'b', 'c', 'd'])
})

test('beyond the maximum the results that were not used lately are forgotten', () => {
  const { get, computed } = counted(2)
  for (const text of ['a', 'b', 'c', 'd', 'e', 'a']) get(text)
  expect(computed).toEqual(['a', 'b', 'c', 'd', 'e', 'a'])
})

test('an error is not remembered', () => {
  let isBroken = true
  const get = memoized(2, (text) => {
    if (isBroken) throw new Error('broken')
    return text
  })
  expect(() => get('a')).toThrow('broken')
  isBroken = false
  expect(get('a')).toBe('a')
})
