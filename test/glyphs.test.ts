import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** Signs that a font may draw as small black text: pictures need U+FE0F behind them. */
const BARE = /(?!\p{Emoji_Presentation})(?=\p{Emoji})\p{Extended_Pictographic}(?!\uFE0F)/gu
/** Signs that are intended as text. */
const TEXT = '©®™↗↔'

function bareIn(text: string): readonly string[] {
  return (text.match(BARE) ?? []).filter((sign) => !TEXT.includes(sign))
}

test('every emoji of screens and texts is drawn in colour', () => {
  const paths = globSync('{src,bot,sandbox,locales}/**/*.{ts,js,json,eta}')
  const found = paths.flatMap((path) =>
    bareIn(readFileSync(path, 'utf8')).map((sign) => `${path}: ${sign}`),
  )
  expect(found).toEqual([])
})

test('an emoji that needs U+FE0F and lacks it is found', () => {
  const ticket = '\u{1f39f}'
  expect(bareIn(`${ticket} 1 slot, ✓, 🔴, ⚠\ufe0f`)).toEqual([ticket])
})
