import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { readCatalogue } from './locales/sources.ts'
import { openBrowser } from './support/browser.ts'

/** Fonts of the test browser, whatever the machine has. */
const FONTS = [
  ['Latin', /^DejaVu /],
  ['Arabic', /^DejaVu /],
  ['Bengali', /^Noto Sans Bengali/],
  ['Devanagari', /^Noto Sans Devanagari/],
  ['Han', /^Noto Sans SC/],
] as const

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

const texts = LOCALES.map((locale) => JSON.stringify(readCatalogue(locale))).join('')

test.each(
  FONTS,
)('the test browser draws every %s letter of the texts in a font from npm', async (script, family) => {
  const letters = new Set(texts.match(new RegExp(`\\p{Script=${script}}`, 'gu')))
  expect(letters.size).toBeGreaterThan(25)
  const page = await browser.newPage()
  await page.setContent(`<p>${[...letters].join(' ')}</p>`)
  const session = await page.context().newCDPSession(page)
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument')
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector: 'p' })
  const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId })
  const drawn = fonts.filter(({ familyName }) => family.test(familyName))
  const glyphs = drawn.reduce((sum, { glyphCount }) => sum + glyphCount, 0)
  expect(glyphs).toBeGreaterThanOrEqual(letters.size)
  await page.close()
})
