import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { packed, unpacked, VERB_NAMES, watchBehind } from './callback-data.ts'

const id = fc.integer({ min: 1, max: 2_147_483_647 })
const page = fc.integer({ min: 1, max: 1295 })
const code = fc.stringMatching(/^[A-Za-z0-9_-]{22}$/)
const locale = fc.constantFrom(...LOCALES)

/** Every verb with every argument it can have. */
const PRESSES = fc.oneof(
  fc.constantFrom('home', 'none', 'settings.lang').map((verb) => ({
    data: packed(verb as 'home'),
    press: { verb, args: {} },
  })),
  fc
    .tuple(fc.constantFrom('link.yes', 'link.no'), code)
    .map(([verb, value]) => press(verb, { code: value }, packed(verb, { code: value }))),
  page.map((value) => press('watch.list', { page: value }, packed('watch.list', { page: value }))),
  fc
    .tuple(
      fc.constantFrom(
        'watch.card',
        'watch.pause',
        'watch.resume',
        'watch.delete',
        'watch.deleteYes',
      ),
      id,
    )
    .map(([verb, value]) => press(verb, { id: value }, packed(verb, { id: value }))),
  locale.map((value) =>
    press('settings.langSet', { locale: value }, packed('settings.langSet', { locale: value })),
  ),
)

function press(verb: string, args: Readonly<Record<string, unknown>>, data: string) {
  return { data, press: { verb, args } }
}

describe('button data', () => {
  test('is written as the screens say', () => {
    expect(packed('watch.pause', { id: 42 })).toBe('1:watch.pause:16')
    expect(packed('home')).toBe('1:home')
  })

  test('is read back as it was written, within 64 bytes', () => {
    fc.assert(
      fc.property(PRESSES, ({ data, press: expected }) => {
        expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64)
        expect(data).toMatch(/^[ -~]+$/)
        expect(unpacked(data)).toEqual(expected)
      }),
    )
  })

  test('covers every verb', () => {
    const seen = new Set(fc.sample(PRESSES, 2000).map((one) => one.press.verb))
    expect([...seen].sort()).toEqual([...VERB_NAMES].sort())
  })

  test('is refused when a byte is cut off, added or changed into another form', () => {
    for (const data of [
      '',
      '1',
      '1:',
      'home',
      '0:home',
      '2:home',
      '1:home:',
      '1:home:1',
      '1:watch.card',
      '1:watch.card:',
      '1:watch.card:0',
      '1:watch.card:016',
      '1:watch.card:16:1',
      '1:watch.card:-1',
      '1:watch.card:zik0zk',
      '1:watch.card:ZZ',
      '1:watch.list:100',
      '1:settings.langSet:xx',
      '1:link.yes:short',
      '1:toString',
      '1:__proto__',
      '1:constructor:1',
    ]) {
      expect(unpacked(data), data).toBeUndefined()
    }
  })

  test('of any kind is taken without an error', () => {
    fc.assert(fc.property(fc.string(), (data) => void unpacked(data)))
    fc.assert(fc.property(fc.string(), (data) => void watchBehind(data)))
  })

  test('never writes what it would not read', () => {
    expect(() => packed('watch.card', { id: 0 })).toThrow()
    expect(() => packed('watch.list', { page: 1296 })).toThrow()
    expect(() => packed('link.yes', { code: 'a:b' })).toThrow()
  })

  test('names its watch even when the verb is gone or the version is another', () => {
    expect(watchBehind('1:watch.mute:16')).toBe(42)
    expect(watchBehind('0:watch.set:16:thr:250')).toBe(42)
    expect(watchBehind('1:alert.card:16')).toBeUndefined()
    expect(watchBehind('0:watch.list:2')).toBeUndefined()
    expect(watchBehind('1:watch.card:zzzzzzz')).toBeUndefined()
  })
})
