import { expect, test } from 'vitest'
import { checkedKey, translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { asksForCost, screenNamed, WORDED_SCREENS } from './words.ts'

test.each([
  ['help', 'help'],
  ['?', 'help'],
  ['Menu!', 'menu'],
  ['/status', 'status'],
  ['MUTE', 'mute'],
  ['stop.', 'stop'],
  ['email', 'recipients'],
  ['thanks', 'thanks'],
  ['price', 'cost'],
  ['how much', 'cost'],
] as const)('%s names a screen in English, and in every other language', (text, screen) => {
  for (const locale of LOCALES) expect(screenNamed(text, locale), locale).toBe(screen)
})

test.each([
  ['de', 'Hilfe', 'help'],
  ['fr', 'Réglages', 'settings'],
  ['fr', 'credits', 'credits'],
  ['bn', 'সাহায্য', 'help'],
  ['zh', '多少钱？', 'cost'],
  ['hi', 'मदद', 'help'],
  ['ar', 'شكرًا!', 'thanks'],
  ['ar', 'مساعدة', 'help'],
] as const)('in %s, %s names a screen', (locale, text, screen) => {
  expect(screenNamed(text, locale)).toBe(screen)
})

test.each([
  ['en', 'How much does a watch cost?'],
  ['en', 'what are your fees'],
  ['de', 'Wie viel kostet das?'],
  ['fr', 'Ça coûte combien ?'],
  ['bn', 'এর দাম কত?'],
  ['zh', '这个服务怎么收费'],
  ['hi', 'इसका शुल्क क्या है?'],
  ['ar', 'كم السعر؟'],
] as const)('in %s, “%s” asks what the service costs', (locale, text) => {
  expect(asksForCost(text, locale)).toBe(true)
})

test('a word inside of another word is none, and other texts name nothing', () => {
  expect(asksForCost('priceless', 'en')).toBe(false)
  expect(screenNamed('helpful people', 'en')).toBeUndefined()
  expect(screenNamed('zzz', 'en')).toBeUndefined()
  expect(screenNamed('help '.repeat(40), 'en')).toBeUndefined()
})

test.each(LOCALES)('no word of %s names two screens', (locale) => {
  const words = WORDED_SCREENS.flatMap((screen) =>
    translate(locale, checkedKey(`bot:words.${screen}`))
      .split(/[,،、]/u)
      .map((word) => [word.trim(), screen] as const),
  )
  expect(words.filter(([word, screen]) => screenNamed(word, locale) !== screen)).toEqual([])
})
