import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyUnicodeCharacter } from '../../test/support/any-character.ts'
import { arrayLiteral, joinedJson, parseArray } from './arrays.ts'

describe('array text', () => {
  test('is parsed to the texts that were written, with nulls and nested arrays', () => {
    const element = fc.option(fc.string({ unit: anyUnicodeCharacter }), { nil: null })
    const array = fc.oneof(fc.array(element), fc.array(fc.array(element, { minLength: 1 })))
    fc.assert(
      fc.property(array, (values) => {
        expect(parseArray(arrayLiteral(values), String)).toEqual(values)
      }),
    )
  })

  test('reads what PostgreSQL writes', () => {
    expect(parseArray('{1,2,NULL}', Number)).toEqual([1, 2, null])
    expect(parseArray('{}', Number)).toEqual([])
    expect(parseArray('{a b,"NULL","",x}', String)).toEqual(['a b', 'NULL', '', 'x'])
    expect(parseArray('[0:1]={{1,2},{3,4}}', Number)).toEqual([
      [1, 2],
      [3, 4],
    ])
    expect(parseArray('{"{\\"a\\": [1, 2]}"}', JSON.parse)).toEqual([{ a: [1, 2] }])
  })

  test('writes instants, bytes, integers of any size and JSON', () => {
    const instant = new Date('2026-01-02T03:04:05.678Z')
    expect(arrayLiteral([instant, 2n ** 63n, Buffer.from([1, 255]), { a: '"' }, true])).toBe(
      '{"2026-01-02T03:04:05.678Z","9223372036854775808","\\\\x01ff","{\\"a\\":\\"\\\\\\"\\"}",true}',
    )
  })

  test('of JSON values is split into the same values, whatever they contain', () => {
    fc.assert(
      fc.property(
        fc.array(fc.json({ stringUnit: anyUnicodeCharacter }), { minLength: 1 }),
        (texts) => {
          const values = texts.map((text) => JSON.parse(text))
          expect(
            joinedJson(values)
              .split('\x1f')
              .map((text) => JSON.parse(text)),
          ).toEqual(values)
        },
      ),
    )
  })
})
