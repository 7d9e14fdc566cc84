import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findRecipient } from '#src/recipients/service.ts'
import { openBrowser } from '../support/browser.ts'
import { openSite, type Site } from './site.ts'

/** Set to a folder to look at the pages. */
const PICTURES = process.env.SCREENSHOTS

let browser: Browser
let site: Site
let base: string
let context: BrowserContext
let page: Page
let foreign: string[]
let problems: string[]

beforeAll(async () => {
  ;[browser, site] = await Promise.all([openBrowser(), openSite()])
  base = await site.listen()
})
afterAll(async () => {
  await browser.close()
  await site.close()
})
beforeEach(() => open())
afterEach(() => context.close())

async function open(options: { width?: number; dark?: boolean; script?: boolean } = {}) {
  await context?.close()
  context = await browser.newContext({
    viewport: { width: options.width ?? 360, height: 780 },
    colorScheme: options.dark ? 'dark' : 'light',
    javaScriptEnabled: options.script ?? true,
    reducedMotion: 'reduce',
  })
  page = await context.newPage()
  foreign = []
  problems = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== base) foreign.push(request.url())
  })
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
}

async function show(path: string) {
  await page.goto(`${base}${path}`)
}

async function picture(name: string) {
  if (PICTURES === undefined) return
  await mkdir(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
}

const overflow = () =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

async function samples(): Promise<Readonly<Record<string, string>>> {
  const asked = await site.askedMailbox({
    address: `a.rather.long.mailbox.name${tick()}@example.org`,
  })
  const mailbox = await site.mailbox()
  const alert = await site.alert({
    position: tick(),
    watch_label: 'Schatzkammer der Genossenschaft am See',
  })
  const recovered = await site.alert({
    position: tick(),
    severity: 'critical',
    state: 'recovered',
    recovered_at: new Date('2026-11-20T21:17:01.000Z'),
  })
  return {
    home: '/',
    docs: '/docs',
    nowhere: '/nowhere',
    problems: '/problems',
    problem: '/problems/insufficient_scope?ref=01JD-3f9a',
    alert: alert.path,
    recovered: recovered.path,
    confirm: asked.path,
    unsubscribe: mailbox.path,
    gone: '/a/none',
  }
}

let ticks = 0
function tick(): number {
  ticks += 1
  return ticks
}

describe('every page', () => {
  test.each([
    320, 360, 1280,
  ])('fits %i pixels, light and dark, in both directions', async (width) => {
    const pages = await samples()
    for (const dark of [false, true]) {
      await open({ width, dark })
      for (const lang of ['en', 'ar', 'zh']) {
        for (const [name, path] of Object.entries(pages)) {
          await show(`${path}${path.includes('?') ? '&' : '?'}lang=${lang}`)
          expect(await overflow(), `${name} ${lang}`).toBeLessThanOrEqual(0)
          await picture(`${name}-${lang}-${width}${dark ? '-dark' : ''}`)
        }
      }
      expect(foreign).toEqual([])
      expect(problems.filter((text) => !text.includes('404'))).toEqual([])
    }
  }, 120_000)
  test('has controls that a thumb can hit', async () => {
    for (const path of Object.values(await samples())) {
      await show(path)
      await page.locator('summary').click()
      const small = await page.evaluate(() =>
        [...document.querySelectorAll('button, summary, nav a, header a, .button, .languages a')]
          .map((control) => ({ text: control.textContent, box: control.getBoundingClientRect() }))
          .filter(({ box }) => box.height < 44 || box.width < 44)
          .map(({ text }) => text),
      )
      expect(small, path).toEqual([])
    }
  })
})

describe('by keyboard alone and without any script', () => {
  test('a reader confirms', async () => {
    const { path, owner, id } = await site.askedMailbox()
    await open({ script: false })
    await show(path)
    const focused = page.locator(':focus')
    for (let presses = 0; presses < 10; presses += 1) {
      await page.keyboard.press('Tab')
      if ((await focused.textContent()) === 'Yes, send alerts') break
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Confirmed' }).waitFor()
    expect(await findRecipient(site.app, owner, id)).toMatchObject({ status: 'active' })
    await picture('confirmed')
  })
  test('a reader stops mail and takes it back', async () => {
    const { path, owner, id } = await site.mailbox()
    await open({ script: false })
    await show(path)
    await page.getByRole('button', { name: 'Stop all mail' }).press('Enter')
    await page.getByRole('heading', { name: 'No more mail' }).waitFor()
    expect(await findRecipient(site.app, owner, id)).toMatchObject({ status: 'disabled' })
    await picture('stopped')
    await page.getByRole('button', { name: 'Undo' }).press('Space')
    await page.getByRole('heading', { name: 'As it was before' }).waitFor()
    expect(await findRecipient(site.app, owner, id)).toMatchObject({ status: 'active' })
  })
  test('a reader changes the language', async () => {
    await open({ script: false })
    await show('/problems')
    await page.locator('summary').press('Enter')
    await picture('languages')
    await page.getByRole('link', { name: 'العربية' }).press('Enter')
    await page.waitForURL('**/problems?lang=ar')
    expect(await page.evaluate(() => document.documentElement.dir)).toBe('rtl')
    await page.locator('.codes a').first().press('Enter')
    await page.waitForURL('**?lang=ar')
  })
})

test('a page cannot be put into a frame', async () => {
  await page.setContent(`<iframe src="${base}/" title="frame"></iframe>`)
  await expect.poll(() => problems.join(' ')).toContain('frame-ancestors')
})
