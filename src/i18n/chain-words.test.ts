import { expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { textsIn } from './catalogue.ts'
import { wordsOfChain } from './chain-words.ts'

const SONGBIRD = { name: 'Songbird', symbol: 'SGB' }

test.each([
  ['Alerts for the Flare network.', 'Alerts for the Songbird network.'],
  ['Für das Flare-Netzwerk: 5\u00a0FLR.', 'Für das Songbird-Netzwerk: 5\u00a0SGB.'],
  ['Flare网络的 WFLR', 'Songbird网络的 WSGB'],
  ['شبكة \u2068Flare\u2069', 'شبكة \u2068Songbird\u2069'],
  ['The feed FLR/USD', 'The feed FLR/USD'],
  [
    'The Flare Data Connector and FlareContractRegistry',
    'The Flare Data Connector and FlareContractRegistry',
  ],
])('on another network “%s” becomes “%s”', (text, named) => {
  expect(wordsOfChain('any', text, SONGBIRD)).toBe(named)
})

test('texts about keys of the API name Flare on every network', () => {
  const text = 'Id of the chain; 14 is Flare.'
  expect(wordsOfChain('meaning.chainId', text, SONGBIRD)).toBe(text)
})

test.each(LOCALES)('on another network no text of %s names Flare or its coin', (locale) => {
  for (const [file, texts] of Object.entries(textsIn(locale))) {
    for (const [key, text] of Object.entries(texts)) {
      if (key.startsWith('meaning.')) continue
      const named = wordsOfChain(key, text, SONGBIRD)
      const rest = named.replace(
        /Flare(?: Systems| Data Connector| Time Series|\w)|FLR\/|\wFLR/g,
        '',
      )
      expect(rest, `${file}:${key}`).not.toMatch(/Flare|FLR/)
    }
  }
})
