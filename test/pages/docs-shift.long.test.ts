import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../support/browser.ts'
import { openSite, type Site } from './site.ts'

/** What Google calls good. */
const SHIFT_MAX = 0.1
const PHONE = { width: 412, height: 892 }

let browser: Browser
let site: Site
let base: string

beforeAll(async () => {
  ;[browser, site] = await Promise.all([openBrowser(), openSite()])
  base = await site.listen()
})
afterAll(async () => {
  await browser.close()
  await site.close()
})

/** Every page of the docs that links lead to from the first one. */
async function docsPaths(): Promise<readonly string[]> {
  const found = new Set(['/docs'])
  for (const path of found) {
    const { html } = await site.get(path, {}, '192.0.2.1')
    const links = [...html.matchAll(/href="(\/docs[^"#?]*)/g)].flatMap(([, link]) => link ?? [])
    for (const link of links) found.add(link)
  }
  return [...found, '/docs/search?q=mute']
}

test('no page of the docs moves on a phone while it loads', async () => {
  const context = await browser.newContext({ viewport: PHONE })
  const page = await context.newPage()
  await page.addInitScript(() => {
    const shifts: number[] = []
    Object.assign(window, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push(Object(entry).value)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  const paths = await docsPaths()
  expect(paths.length).toBeGreaterThan(30)
  const moving: string[] = []
  for (const path of paths) {
    await page.goto(base + path, { waitUntil: 'load' })
    const shift = await page.evaluate(async () => {
      // Shifts are reported after the frame in which they happened.
      for (let frame = 0; frame < 3; frame += 1) {
        await new Promise((resolve) => requestAnimationFrame(resolve))
      }
      const shifts: number[] = Reflect.get(window, 'shifts')
      return shifts.reduce((sum, value) => sum + value, 0)
    })
    if (shift >= SHIFT_MAX) moving.push(`${path}: ${shift}`)
  }
  await context.close()
  expect(moving).toEqual([])
})

test.each([
  [true, 'shows'],
  [false, 'hides'],
])('with scripts %s the reference %s what needs them', async (javaScriptEnabled) => {
  const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled })
  const page = await context.newPage()
  await page.goto(`${base}/docs/api/watches`)
  for (const place of ['.token', '.console', '.reading pre > .copy']) {
    expect([place, await page.locator(place).first().isVisible()]).toEqual([
      place,
      javaScriptEnabled,
    ])
  }
  expect(await page.locator('.reading pre code').first().isVisible()).toBe(true)
  await context.close()
})
