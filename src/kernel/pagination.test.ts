import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCursor, toPage, writeCursor } from './pagination.ts'
import { ID_MAX, INSTANT_MS_MAX } from './units.ts'

const rows = Array.from({ length: 11 }, (_, index) => ({ id: index + 1 }))
const keys = ({ id }: { id: number }) => [id]

describe('cursors', () => {
  test('are read as the position that they were made from', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2 ** 47 }), { minLength: 1, maxLength: 2 }), (numbers) => {
        const page = toPage([0, 1], 1, { type: 'x' }, () => numbers)
        expect(
          readCursor(
            page.nextCursor ?? '',
            numbers.map(() => 2 ** 47),
            { type: 'x' },
          ),
        ).toEqual(numbers)
      }),
    )
  })

  test('have at most 24 characters, so that they fit a button', () => {
    const page = toPage([0, 1], 1, {}, () => [Date.UTC(2120, 0), 2_147_483_647])
    expect(page.nextCursor?.length).toBeLessThanOrEqual(24)
  })

  test('are valid for their own filter only', () => {
    const { nextCursor } = toPage(rows, 10, { type: 'a' }, keys)
    expect(() => readCursor(nextCursor ?? '', [100], { type: 'b' })).toThrow('validation_failed')
  })

  test('with a number out of range are refused', () => {
    const read = (numbers: readonly number[]) => () =>
      readCursor(writeCursor(numbers, {}), [INSTANT_MS_MAX, ID_MAX], {})
    expect(read([INSTANT_MS_MAX, ID_MAX])()).toEqual([INSTANT_MS_MAX, ID_MAX])
    expect(read([INSTANT_MS_MAX + 1, 1])).toThrow('validation_failed')
    expect(read([1, ID_MAX + 1])).toThrow('validation_failed')
    expect(read([-1, 1])).toThrow('validation_failed')
  })

  test.each([
    '',
    '.',
    'zzz',
    '1.',
    '-1.abcdef',
    '1.2.abcdef',
    '1e5.abcdef',
  ])('are refused if they are malformed: %j', (cursor) => {
    expect(() => readCursor(cursor, [100], {})).toThrow('validation_failed')
  })
})

describe('a page', () => {
  test('has a next cursor exactly when there is more', () => {
    expect(toPage(rows, 10, {}, keys).nextCursor).not.toBeNull()
    expect(toPage(rows, 11, {}, keys).nextCursor).toBeNull()
    expect(toPage([], 10, {}, keys)).toEqual({ data: [], nextCursor: null })
  })
})
