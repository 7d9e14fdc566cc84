import { describe, expect, test } from 'vitest'
import { INPUT_DEPTH_MAX, inputErrors } from './input-limits.ts'

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

describe('an input', () => {
  test.each([
    undefined,
    null,
    1,
    true,
    'é 🙂',
    { a: [{ b: 'c' }] },
  ])('such as %j is accepted', (value) => {
    expect(inputErrors(value)).toEqual([])
  })

  test('may be 32 levels deep and no deeper', () => {
    expect(inputErrors(nested(INPUT_DEPTH_MAX))).toEqual([])
    expect(inputErrors(nested(INPUT_DEPTH_MAX + 1))).toEqual([
      { pointer: '/0'.repeat(INPUT_DEPTH_MAX), code: 'too_deep', values: { maximum: 32 } },
    ])
  })

  test('of any depth is refused without a stack overflow', () => {
    expect(inputErrors(nested(30_000))).toMatchObject([{ code: 'too_deep' }])
  })

  test.each([
    ['NUL', '\0', 'control_characters'],
    ['a lone surrogate', '\ud800', 'malformed_text'],
  ])('with %s in a value or a name is refused with its position', (_what, text, code) => {
    expect(inputErrors({ a: [`x${text}`] })).toEqual([{ pointer: '/a/0', code }])
    expect(inputErrors({ a: { [`x${text}`]: 1 } })).toEqual([{ pointer: '/a', code }])
  })

  test('with very many errors is refused with the first errors only', () => {
    expect(inputErrors(Array.from({ length: 10_000 }, () => '\0'))).toHaveLength(20)
    const names = Array.from({ length: 10_000 }, (_, index) => [`\0\ud800${index}`, '\0'])
    expect(inputErrors(Object.fromEntries(names))).toHaveLength(20)
  })
})
