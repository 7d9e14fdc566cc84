import { describe, expect, test } from 'vitest'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { textFaultsOf } from './support/text-rules.ts'
import {
  faultsOfFile,
  faultsOfKeys,
  missingPairKeys,
  problemsOf,
  strayPlaceholders,
} from './support/texts.ts'

/** One locale alone: `vitest run test/locales.test.ts -t 'de texts'`. */
test.each(LOCALES)('%s texts are complete and keep every rule', (locale) => {
  const problems = problemsOf(locale)
  if (problems.length > 0) expect.fail(`${problems.length} problems\n${problems.join('\n')}`)
})

describe('the rules above', () => {
  const LONG = 'x'.repeat(61)
  const faulty: readonly (readonly [string, Locale, string, string, string])[] = [
    ['an empty text', 'en', 'units:a', '  ', 'is empty'],
    ['white space at an end', 'en', 'units:a', 'Slots ', 'white space'],
    ['another normal form', 'fr', 'units:a', 'Re\u0301glages', 'is not NFC'],
    ['digits of another script', 'bn', 'units:a', '৩টি স্লট', 'not Latin: ৩'],
    ['a straight apostrophe', 'en', 'units:a', "The wallet's slots", 'straight'],
    ['an exclamation mark', 'zh', 'units:a', '完成！', 'exclamation mark'],
    ['an embedding', 'ar', 'units:a', 'خانة \u202aAPI\u202c', 'U+202A'],
    ['a malformed placeholder', 'en', 'units:a', 'Slots: {{ count }}', 'malformed'],
    ['an open isolate', 'ar', 'units:a', 'رمز \u2068API\nرمز\u2069', 'not closed in their line'],
    ['an isolate in code', 'ar', 'bot:a', 'رمز <code>\u2068x\u2069</code>', 'inside a tag'],
    ['a strange tag', 'en', 'bot:a', '<u>Slots</u>', 'not <b> <i> <code> <a>: <u> </u>'],
    ['a lone angle bracket', 'en', 'errors:a', 'Bearer <token', 'not <b> <i> <code> <a>'],
    ['a tag outside of the chat', 'en', 'mail:a', '<b>Slots</b>', 'only bot.json'],
    ['tags closed out of order', 'en', 'bot:a', '<b><i>Slots</b></i>', 'closed in order'],
    ['an ampersand', 'en', 'pages:a', 'Terms & prices', 'ampersand'],
    ['a command outside of the chat', 'de', 'errors:a', 'Senden Sie /topup.', 'chat command'],
    ['a full stop in a title', 'hi', 'messages:a.title', 'अलर्ट।', 'full stop'],
    ['French spacing', 'fr', 'units:a', 'Solde : 5', 'ordinary space before'],
    ['French quotation marks', 'fr', 'units:a', '« 5\u00a0»', 'after «'],
    ['a space before a danda', 'bn', 'units:a', 'স্লট নেই ।', 'space before ।'],
    ['a number before a danda', 'hi', 'units:a', 'सीमा {{maximum}}।', 'number, or a value'],
    ['a digit before a danda', 'hi', 'units:a', 'सीमा 5।', 'number, or a value'],
    ['half-width punctuation', 'zh', 'units:a', '余额:5', 'half-width'],
    ['a Latin comma in Arabic', 'ar', 'units:a', 'خانة, رصيد', 'Latin comma'],
    ['bare Latin in Arabic', 'ar', 'units:a', 'رمز API', 'Latin letters outside'],
    [
      'Latin words apart',
      'ar',
      'units:a',
      'يعرض \u2068GET\u2069 \u2068/alerts\u2069',
      'in reverse',
    ],
    ['an Arabic line of values', 'ar', 'units:a', '{{feed}} سعر', 'do not begin with'],
    [
      'a long title',
      'en',
      'messages:a.title',
      LONG,
      '61 characters with its longest values, of 60',
    ],
    ['a long body by its values', 'en', 'messages:a.body', `${'x'.repeat(300)}{{wallet}}`, '342'],
    ['a long error', 'en', 'errors:a.title', LONG.slice(20), 'of 40'],
    ['a long command', 'de', 'bot:command.a', LONG, 'of 60'],
    ['a long button beside an emoji', 'fr', 'bot:button.type.a', LONG.slice(39), 'of 21'],
    ['a long button', 'en', 'bot:button.a', 'Mute until this has recovered', 'of 24'],
  ]

  test.each(faulty)('find %s', (_what, locale, place, text, fault) => {
    const [file = '', key = ''] = place.split(':')
    expect(textFaultsOf(text, { locale, file, key }).join('\n')).toContain(fault)
  })

  const sound: readonly (readonly [Locale, string, string])[] = [
    [
      'en',
      'bot:start',
      '<b>Watchdog</b> watches <a href="https://example.org">this</a>.\n\n1. Connect.',
    ],
    ['en', 'bot:button.delete', 'Delete {{watch}}'],
    ['fr', 'bot:ask', 'Envoyer «\u00a0{{input}}\u00a0»\u202f?'],
    ['bn', 'messages:a.body', 'বিরতি: {{duration}}। (যেমন {{example}})।'],
    ['zh', 'messages:a.body', '{{provider}} 已恢复（第 {{round}} 轮），FTSO 奖励正常。'],
    ['ar', 'messages:email.subject', '\u200f{{severity}}: {{title}}'],
    ['ar', 'units:slots', '{{count}} خانات'],
    ['ar', 'bot:a', '• <b>رمز</b> \u2068API\u2069: \u2068<code>{{code}}</code>\u2069 (1,000)'],
  ]

  test.each(sound)('pass a sound text: %s %s', (locale, place, text) => {
    const [file = '', key = ''] = place.split(':')
    expect(textFaultsOf(text, { locale, file, key })).toEqual([])
  })

  const english = { a: 'A {{x}}', n_one: '{{count}} slot', n_other: '{{count}} slots' }

  test('find missing and unknown keys, and superfluous plural forms', () => {
    expect(faultsOfKeys('fr', { n_one: '', n_other: '', n_two: '', b: '' }, english)).toEqual([
      'a: is missing',
      'n_many: is missing',
      'n_two: is a plural form that fr does not have',
      'b: is not in English',
    ])
    expect(faultsOfKeys('zh', { a: '', n_other: '', n_zero: '' }, english)).toEqual([])
  })

  test('require a text for zero where English has one', () => {
    const withZero = { ...english, n_zero: 'no slots' }
    expect(faultsOfKeys('zh', { a: '', n_other: '' }, withZero)).toEqual(['n_zero: is missing'])
    expect(faultsOfKeys('zh', { a: '', n_other: '', n_zero: '' }, withZero)).toEqual([])
  })

  test('find a title or detail without its counterpart', () => {
    const texts = { 'a.title': '', 'b.title_one': '', 'b.detail_zero': '', 'c.detail': '' }
    expect(missingPairKeys('errors', texts)).toEqual([
      'a.detail: is missing beside its other half',
      'c.title: is missing beside its other half',
    ])
    expect(missingPairKeys('bot', texts)).toEqual([])
  })

  test('find placeholders that differ, but let the form for one omit the count', () => {
    const fr = { a: 'A {{y}}', n_one: 'un emplacement', n_other: 'des emplacements' }
    expect(strayPlaceholders('fr', 'a', fr, english)).toEqual([
      'lacks {{x}}',
      'has {{y}}, English has not',
    ])
    expect(strayPlaceholders('fr', 'n_other', fr, english)).toEqual(['lacks {{count}}'])
    expect(strayPlaceholders('fr', 'n_one', fr, english)).toEqual(['lacks {{count}}'])
    const withZero = { ...fr, n_zero: 'aucun' }
    expect(strayPlaceholders('fr', 'n_one', withZero, english)).toEqual([])
    expect(strayPlaceholders('fr', 'n_zero', withZero, english)).toEqual([])
    const ar = { n_one: 'خانة واحدة', n_two: 'خانتان', n_few: 'خانات' }
    expect(strayPlaceholders('ar', 'n_two', ar, english)).toEqual([])
    expect(strayPlaceholders('ar', 'n_few', ar, english)).toEqual(['lacks {{count}}'])
  })

  test('find duplicate keys, values that are no text, and hidden characters', () => {
    const raw = '{\n  "a": "x",\n  "a": "5\u00a0h",\n  "b": ["y"]\n}'
    expect(faultsOfFile(raw, { a: '5\u00a0h', b: ['y'] })).toEqual([
      'a: stands there twice',
      'b: is not a text',
      '"a": "5\u00a0h",: write invisible characters as \\u escapes',
    ])
  })
})
