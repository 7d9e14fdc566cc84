import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES, localeName } from '#src/kernel/locale.ts'
import { openBrowser } from '../support/browser.ts'
import { openSite, type Site } from './site.ts'

/** The menu in the head of every page. */

let browser: Browser
let site: Site
let base: string
let context: BrowserContext
let page: Page

beforeAll(async () => {
  ;[browser, site] = await Promise.all([openBrowser(), openSite()])
  base = await site.listen()
})
afterAll(async () => {
  await browser.close()
  await site.close()
})
afterEach(() => context.close())

/** Opens a page without scripts. */
async function open(path: string, width: number) {
  context = await browser.newContext({
    viewport: { width, height: 640 },
    javaScriptEnabled: false,
    reducedMotion: 'reduce',
  })
  page = await context.newPage()
  await page.goto(`${base}${path}`)
}

const menu = () => page.locator('header .folded')

describe('on a phone', () => {
  test.each([
    [320, 'en'],
    [360, 'de'],
    [360, 'ar'],
  ] as const)('of %i pixels the menu in %s has every link and language, inside the screen', async (width, locale) => {
    const t = translator(locale)
    await open(`/problems?lang=${locale}`, width)
    const links = menu().getByRole('link')
    expect(await links.first().isVisible()).toBe(false)
    await menu().getByText(t('pages:frame.menu'), { exact: true }).click()
    expect(await links.allTextContents()).toEqual([
      t('pages:frame.docs'),
      t('pages:frame.providers'),
      t('pages:frame.prices'),
      ...LOCALES.map(localeName),
    ])
    const { left, right, bottom, scrolled } = await page
      .locator('header .folded .opened')
      .evaluate((box) => {
        const { left, right, bottom } = box.getBoundingClientRect()
        return { left, right, bottom, scrolled: document.documentElement.scrollWidth }
      })
    // Every name begins at the same side, that of the page's direction.
    const starts = await links.evaluateAll((all) =>
      all.map((link) => {
        const { left, right } = (link.firstElementChild ?? link).getBoundingClientRect()
        return Math.round(getComputedStyle(link).direction === 'rtl' ? right : left)
      }),
    )
    expect(new Set(starts.slice(3)).size).toBe(1)
    expect(left).toBeGreaterThanOrEqual(0)
    expect(right).toBeLessThanOrEqual(width)
    expect(bottom).toBeLessThanOrEqual(640)
    expect(scrolled).toBe(width)
  })

  test('the menu is opened, used and closed by keyboard', async () => {
    await open('/problems?lang=ar', 360)
    const focused = page.locator(':focus')
    for (const _ of ['the link past the menu', 'the name', 'the menu']) {
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await focused.textContent()).toBe(translator('ar')('pages:frame.docs'))
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Space')
    expect(await menu().getByRole('link').first().isVisible()).toBe(false)
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/providers?lang=ar')
  })
})

test.each([
  ['en', 1],
  ['ar', -1],
] as const)('in %s the buttons of the example stand in the order of the chat, each on one line', async (locale, order) => {
  await open(`/?lang=${locale}`, 1200)
  const rows = await page
    .locator('.keys > div')
    .evaluateAll((all) =>
      all.map((row) => [...row.children].map((key) => key.getBoundingClientRect())),
    )
  expect(rows.some((row) => row.length > 1)).toBe(true)
  for (const row of rows) {
    for (const [index, { left }] of row.entries()) {
      const before = row[index - 1]?.left ?? left - order
      expect(Math.sign(left - before)).toBe(order)
    }
    for (const { height } of row) expect(height).toBeLessThanOrEqual(42)
  }
})

test('on a wide screen the links stand beside the languages, without a menu', async () => {
  await open('/problems', 1200)
  const t = translator('en')
  expect(await menu().getByText(t('pages:frame.menu'), { exact: true }).isVisible()).toBe(false)
  await page
    .locator('header nav.menu')
    .getByRole('link', { name: t('pages:frame.prices') })
    .click()
  await page.waitForURL('**/#prices')
  await menu().locator('summary').click()
  const links = menu().getByRole('link')
  expect(await links.count()).toBe(LOCALES.length)
  await links.getByText('Deutsch').click()
  await page.waitForURL('**/?lang=de')
})

test.each([
  'en',
  'ar',
  'zh',
])('in %s the gaps between the links of head and footer are equal', async (lang) => {
  await open(`/problems?lang=${lang}`, 1200)
  for (const links of ['header nav.menu a', 'footer nav a']) {
    const gaps = await page.locator(links).evaluateAll((anchors) => {
      const words = anchors.map((anchor) => {
        const range = document.createRange()
        range.selectNodeContents(anchor)
        return range.getBoundingClientRect()
      })
      const sorted = words.toSorted((a, b) => a.left - b.left)
      return sorted
        .slice(1)
        .map(({ left }, index) => Math.round(left - (sorted[index]?.right ?? 0)))
    })
    expect(gaps.length, links).toBeGreaterThan(1)
    expect(Math.max(...gaps) - Math.min(...gaps), links).toBeLessThanOrEqual(1)
  }
})
