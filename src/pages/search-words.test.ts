import { expect, test } from 'vitest'
import { fitOf, queryWords, searchable } from './search-words.ts'

test.each([
  ['alerte', 'l’alerte arrive'],
  ["l'alerte", 'une alerte'],
  ['L’alerte', "d'une l'alerte"],
  ['escalade', 'qu’escalade'],
])('the French query %s fits "%s", whatever is elided before a word', (query, text) => {
  const [word = '', ...others] = queryWords(query, 'fr')
  expect(others).toEqual([])
  expect(fitOf(word, searchable(text, 'fr'))).toBe(1)
})
