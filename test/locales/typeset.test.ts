import { describe, expect, test } from 'vitest'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { faultsOfLocale } from './faults.ts'
import { readCatalogue } from './sources.ts'
import { typeset } from './typeset.ts'

/** ⍽ is a no-break space, ⎵ a narrow one, ⟦ ⟧ are isolates. */
const shown = (text: string) =>
  text.replace(/[\u00a0\u202f\u2068\u2069]/g, (sign) => SHOWN[sign] ?? sign)
const SHOWN: Readonly<Record<string, string>> = {
  '\u00a0': '⍽',
  '\u202f': '⎵',
  '\u2068': '⟦',
  '\u2069': '⟧',
}

describe('a text is typeset', () => {
  test.each<readonly [Locale, string, string]>([
    ['en', 'Mute 1 h, or {{seconds}} s', 'Mute 1⍽h, or {{seconds}}⍽s'],
    ['en', 'From -5 FLR to 5 hours...', 'From −5⍽FLR to 5 hours…'],
    ['en', '<code>5 h</code> `5 h` it’s 5 hats', '<code>5 h</code> `5 h` it’s 5 hats'],
    ['de', 'z. B. 5 s, z.B. das', 'z.⍽B. 5⍽s, z.⍽B. das'],
    ['fr', 'Quel nom ? 40 caractères au plus.', 'Quel nom⎵? 40⍽caractères au plus.'],
    ['fr', 'Solde: 5 % ; de 1 à 2, 202 tant', 'Solde⍽: 5⍽%⎵; de 1 à 2, 202 tant'],
    ['fr', '« {{input}} » : non ?', '«⍽{{input}}⍽»⍽: non⎵?'],
    ['fr', 'https://a.b/?c=d;e 22:30', 'https://a.b/?c=d;e 22:30'],
    ['fr', 'Authorization: Bearer', 'Authorization: Bearer'],
    ['zh', '错过3个FTSO轮次 ，请看{{round}}轮', '错过 3 个 FTSO 轮次，请看 {{round}} 轮'],
    ['zh', '中断{{duration}}前', '中断 {{duration}}前'],
    ['ar', 'رمز API غير صالح، 5 FLR', 'رمز ⟦API⟧ غير صالح، ⟦5⍽FLR⟧'],
    ['ar', '<b>رمز</b> <code>0x</code>', '<b>رمز</b> ⟦<code>0x</code>⟧'],
    ['ar', 'رسالة FTSO commit: {{name}}.', 'رسالة ⟦FTSO commit⟧: {{name}}.'],
    ['hi', 'Cafe\u0301 5 FLR', 'Caf\u00e9 5⍽FLR'],
  ])('in %s: %s', (locale, text, expected) => {
    expect(shown(typeset(locale, 'bot:a', text))).toBe(expected)
  })

  test('in the same way when it is set again', () => {
    for (const locale of LOCALES) {
      for (const [key, text] of Object.entries(readCatalogue(locale))) {
        const once = typeset(locale, key, text)
        expect(typeset(locale, key, once), key).toBe(once)
      }
    }
  })
})

test('a text that was not typeset is reported', () => {
  const texts = { 'bot:button.mute': '1 h', 'bot:button.on': 'An' }
  expect(faultsOfLocale('de', texts)).toEqual([
    'bot:button.mute: is not set as `npm run locales:fix` sets it',
  ])
})
