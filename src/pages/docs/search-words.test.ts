import { expect, test } from 'vitest'
import type { Locale } from '#src/kernel/locale.ts'
import { indexedWords, queriedWord, queryWords, writtenWords } from './search-words.ts'

/** Whether the index of a text has every word of a query. */
function fits(query: string, text: string, locale: Locale): boolean {
  const index = writtenWords(text, locale).flatMap((word) => indexedWords(word, locale))
  const words = queryWords(query, locale).map((word) => queriedWord(word, locale))
  return words.length > 0 && words.every((word) => index.includes(word))
}

test.each([
  ['alerte', 'l’alerte arrive'],
  ["l'alerte", 'une alerte'],
  ['L’alerte', "d'une l'alerte"],
  ['escalade', 'qu’escalade'],
])('the French query %s fits "%s", whatever is elided before a word', (query, text) => {
  expect(queryWords(query, 'fr')).toHaveLength(1)
  expect(fits(query, text, 'fr')).toBe(true)
})

test.each([
  ['升级通知', '设置升级通知的时间', true],
  ['知', '升级通知', true],
  ['级', '升级通知', false],
  ['通知升级', '升级通知', false],
  ['API 密钥', '使用API密钥', true],
])('the Chinese query %s fits "%s": %s', (query, text, isFit) => {
  expect(fits(query, text, 'zh')).toBe(isFit)
})

test.each([
  ['free slot', 'no_free_slot', 'en'],
  ['NO_FREE_SLOT', 'no_free_slot', 'en'],
  ['uberwacht', 'Überwacht', 'de'],
  ['strasse', 'Straße', 'de'],
  ['تَذكير', 'والتذكير', 'ar'],
] as const)('the query %s fits "%s", folded and by its parts', (query, text, locale) => {
  expect(fits(query, text, locale)).toBe(true)
})
