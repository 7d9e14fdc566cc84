import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import {
  checkedKey,
  escapeHtml,
  hasText,
  html,
  id,
  type TextKey,
  translate,
  translateHtml,
  translator,
  typed,
} from './translate.ts'

const WITH_VALUE = 'errors:terms_not_accepted.detail'
const around = (value: string) => `The current terms (version ${value}) must be accepted first.`

describe('a text', () => {
  test('is chosen by count, with its own form for 0', () => {
    const texts = [0, 1, 3].map((count) => translate('en', 'errors:no_free_slot.detail', { count }))
    expect(texts).toEqual([
      'You have no slots. Buy slots, or start the free trial if you have not used it yet.',
      'Your only slot is in use. Delete a watch or buy another slot.',
      'All 3 slots are in use. Delete a watch or buy more slots.',
    ])
  })

  test('writes numbers as the locale does and identifiers as they are', () => {
    expect(translate('en', 'units:credits', { count: 12_500 })).toBe('12,500 credits')
    expect(translate('en', WITH_VALUE, { version: 1_519_400 })).toBe(around('1,519,400'))
    expect(translate('en', WITH_VALUE, { version: id(1_519_400) })).toBe(around('1519400'))
  })

  test('isolates typed values, once in every locale', () => {
    for (const locale of LOCALES) {
      const text = translate(locale, WITH_VALUE, { version: typed('سلمى') })
      expect(text.match(/\u2068*سلمى\u2069*/)?.[0]).toBe('\u2068سلمى\u2069')
    }
  })

  test('isolates every value in Arabic and no plain value elsewhere', () => {
    expect(translate('ar', 'units:credits', { count: 100 })).toContain('\u2068100\u2069')
    const others = LOCALES.filter((locale) => locale !== 'ar')
    const texts = others.map((locale) => translate(locale, WITH_VALUE, { version: '1.2' }))
    expect(texts.filter((text) => text.includes('\u2068'))).toEqual([])
  })

  test('does not contain the direction marks of a value', () => {
    expect(translate('en', WITH_VALUE, { version: typed('a\u2069\u202eb') })).toBe(
      around('\u2068ab\u2069'),
    )
  })

  test('contains any value as it is, even one that looks like a placeholder or key', () => {
    const strange = fc.constantFrom('{{version}}', '$t(units:credits)', '$&', '{{- x}}', '</b>')
    fc.assert(
      fc.property(fc.array(fc.oneof(strange, fc.string())), (pieces) => {
        const version = pieces.join('')
        expect(translate('en', WITH_VALUE, { version })).toBe(around(version))
      }),
    )
  })

  test('takes values of any name, also of names that the library uses', () => {
    const values = {
      version: '1',
      lng: 'de',
      ns: 'units',
      defaultValue: 'x',
      replace: 'y',
      nest: 'z',
    }
    expect(translate('en', WITH_VALUE, values)).toBe(around('1'))
  })
})

describe('a text as HTML', () => {
  test('escapes every value but marked markup', () => {
    const hostile = '<b a="1">&'
    const expected = '&lt;b a=&quot;1&quot;&gt;&amp;'
    expect(translateHtml('en', WITH_VALUE, { version: hostile })).toBe(around(expected))
    expect(translateHtml('en', WITH_VALUE, { version: typed(hostile) })).toBe(
      around(`\u2068${expected}\u2069`),
    )
    expect(translateHtml('en', WITH_VALUE, { version: html('<code>1</code>') })).toBe(
      around('<code>1</code>'),
    )
  })

  test('has no isolates in code that readers copy, and keeps those in links', () => {
    const link = `<a href="https://example.org/?a=1">${escapeHtml('Node <A>: \u2068-12\u2069')}</a>`
    expect(translateHtml('en', WITH_VALUE, { version: html(link) })).toBe(around(link))
    const code = html('<code>\u20680x12\u2069</code>')
    expect(translateHtml('ar', WITH_VALUE, { version: code })).toContain(
      '\u2068<code>0x12</code>\u2069',
    )
    expect(translateHtml('ar', WITH_VALUE, { version: code })).not.toMatch(/<code>\u2068/)
  })

  test('chooses by count and context as a plain text does', () => {
    expect(translateHtml('en', 'units:slots', { count: 1, context: 'critical' })).toBe('1 slot')
  })
})

describe('a key', () => {
  test('without a text is refused', () => {
    expect(hasText('errors:no_free_slot.detail')).toBe(true)
    expect(hasText('errors:no_free_slot.detail_one')).toBe(false)
    expect(() => checkedKey('errors:no_such_code.title')).toThrow(
      'no text errors:no_such_code.title',
    )
    expect(checkedKey(`errors:${'no_free_slot'}.title`)).toBe('errors:no_free_slot.title')
  })

  test('without its count or a value is refused, whatever the language', () => {
    for (const locale of LOCALES) {
      expect(() => translate(locale, 'errors:no_free_slot.detail')).toThrow('no text')
      expect(() => translate(locale, WITH_VALUE)).toThrow('no value for {{version}}')
    }
  })

  test('is known to the compiler', () => {
    const keys: TextKey[] = ['units:slots', 'errors:no_free_slot.title', 'errors:field.too_small']
    // @ts-expect-error the plural suffix is chosen by `count`
    keys.push('units:slots_one')
    // @ts-expect-error there is no such text
    keys.push('errors:no_such_code.title')
    expect(keys.map(hasText)).toEqual([true, true, true, false, false])
  })
})

test('a translator carries its locale', () => {
  const t = translator('de')
  expect(t.locale).toBe('de')
  expect(t('units:slots', { count: 1 })).toBe(translate('de', 'units:slots', { count: 1 }))
  expect(t.html(WITH_VALUE, { version: '<' })).toContain('&lt;')
})
