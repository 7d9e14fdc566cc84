import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { createConnectCode } from '#src/recipients/connect.ts'
import { findRecipient } from '#src/recipients/service.ts'
import { openBrowser } from '../support/browser.ts'
import { signIn } from '../support/people.ts'
import { openSite, type Site } from './site.ts'

let browser: Browser
let site: Site
let base: string
let context: BrowserContext
let page: Page
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

async function open({ script = true }: { script?: boolean } = {}) {
  await context?.close()
  context = await browser.newContext({
    viewport: { width: 360, height: 780 },
    javaScriptEnabled: script,
    reducedMotion: 'reduce',
  })
  page = await context.newPage()
  problems = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
}

async function show(path: string) {
  await page.goto(`${base}${path}`)
}

describe('by keyboard and without scripts', () => {
  test('a reader confirms a mailbox', async () => {
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
  })
  test('a reader unsubscribes and undoes that', async () => {
    const { path, owner, id } = await site.mailbox()
    await open({ script: false })
    await show(path)
    await page.getByRole('button', { name: 'Stop all e-mails' }).press('Enter')
    await page.getByRole('heading', { name: 'Unsubscribed' }).waitFor()
    expect(await findRecipient(site.app, owner, id)).toMatchObject({ status: 'disabled' })
    await page.getByRole('button', { name: 'Undo' }).press('Space')
    await page.getByRole('heading', { name: 'Alerts restored' }).waitFor()
    expect(await findRecipient(site.app, owner, id)).toMatchObject({ status: 'active' })
  })
  test('a reader connects a chat', async () => {
    const { account } = PEOPLE.bob
    const made = await createConnectCode(site.app, {
      chat: { id: 77, title: 'Ann' },
      by: { id: 77 },
      locale: 'en',
    })
    await open({ script: false })
    await show(new URL(made.url).pathname)
    await page.getByLabel('Address of your wallet').focus()
    await page.keyboard.type(account.address)
    await page.keyboard.press('Enter')
    const message = (await page.locator('#text').textContent()) ?? ''
    const signature = await account.signMessage({ message })
    await page.getByLabel('Signature').focus()
    await page.keyboard.type(signature)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
  })
  test('a reader acknowledges an alert', async () => {
    const { id, owner } = await site.mailbox()
    const { path } = await site.alert({ recipientId: id, wallet: owner.wallet })
    await open({ script: false })
    await show(path)
    await page.getByRole('button', { name: 'Acknowledge' }).press('Enter')
    await page.getByText('✓ Acknowledged').waitFor()
  })
  test('a reader changes the language', async () => {
    await open({ script: false })
    await show('/problems')
    await page.locator('header summary').press('Enter')
    await page.getByRole('link', { name: 'العربية' }).press('Enter')
    await page.waitForURL('**/problems?lang=ar')
    expect(await page.evaluate(() => document.documentElement.dir)).toBe('rtl')
    await page.locator('.codes a').first().press('Enter')
    await page.waitForURL('**?lang=ar')
  })
})

describe('the home page', () => {
  test.each(LOCALES)('in %s fits a phone without scrolling sideways', async (locale) => {
    for (const q of ['', `&q=${PEOPLE.bob.account.address}`, `&q=${'nobody'.repeat(30)}`]) {
      await show(`/?lang=${locale}${q}`)
      const widths = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return [scrollWidth, clientWidth]
      })
      expect(widths, q).toEqual([360, 360])
    }
    expect(problems).toEqual([])
  })
  test.each(
    LOCALES,
  )('in %s has a picture whose texts are neither covered by cells nor cut off', async (locale) => {
    await show(`/?lang=${locale}`)
    const { covered, outside, words } = await page.locator('.found .picture svg').evaluate(overlaps)
    expect(words).toBeGreaterThan(8)
    expect(covered).toEqual([])
    expect(outside).toEqual([])
  })
  test.each([
    'light',
    'dark',
  ] as const)('has texts with enough contrast in %s colours', async (colorScheme) => {
    await page.emulateMedia({ colorScheme })
    await show(`/?lang=en&q=nobody`)
    const contrasts = await page.evaluate(contrastsOfTexts)
    expect(contrasts.length).toBeGreaterThan(50)
    expect(contrasts.filter(({ ratio }) => ratio < 4.5)).toEqual([])
  })
  test('searches by keyboard and without scripts, in the language of the page', async () => {
    await open({ script: false })
    await show('/?lang=de')
    await page.getByLabel('Adresse oder Datenanbieter').fill('niemand')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/?q=niemand&lang=de')
    await page.getByRole('status').getByText('niemand').waitFor()
    expect(await page.getByRole('searchbox').inputValue()).toBe('niemand')
    const languages = page.locator('.tongues').getByRole('link')
    expect(await languages.count()).toBe(LOCALES.length)
    await page.locator('.tongues').getByRole('link', { name: 'Français' }).press('Enter')
    await page.waitForURL('**/?q=niemand&lang=fr')
  })
})

test('a page cannot be put into a frame', async () => {
  await page.setContent(`<iframe src="${base}/" title="frame"></iframe>`)
  await expect.poll(() => problems.join(' ')).toContain('frame-ancestors')
})

describe('the contents of the docs on a phone', () => {
  test.each([
    'en',
    'ar',
  ] as const)('lead to pages and operations without scripts, in %s', async (locale) => {
    await open({ script: false })
    await show(`/docs/api/watches?lang=${locale}`)
    const t = translator(locale)
    const contents = page.locator('details.contents')
    const operation = contents.locator('a[href="#createWatch"]')
    expect(await operation.isVisible()).toBe(false)
    await contents.getByText(t('pages:docs.contents'), { exact: true }).click()
    await operation.click()
    await page.waitForURL('**/docs/api/watches?lang=*#createWatch')
    await page.locator('#createWatch').waitFor()
    await contents.locator('a[href^="/docs/api/alerts"]').click()
    await page.waitForURL(`**/docs/api/alerts?lang=${locale}`)
    const widths = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return [scrollWidth, clientWidth]
    })
    expect(widths).toEqual([360, 360])
    expect(problems).toEqual([])
  })

  test('are hidden on a wide screen, which has a side list instead', async () => {
    await page.setViewportSize({ width: 1200, height: 800 })
    await show('/docs/api/watches')
    expect(await page.locator('details.contents').isVisible()).toBe(false)
    expect(await page.locator('nav.parts a[href="#createWatch"]').isVisible()).toBe(true)
  })
})

test.each([
  'en',
  'ar',
])('a copy button of the docs in %s is a bar directly above its code, which scrolls below it', async (locale) => {
  await show(`/docs?lang=${locale}`)
  const places = await page.locator('pre:has(> .copy)').evaluateAll((all) =>
    all.map((pre) => {
      const [head, code] = [...pre.children].map((element) => element.getBoundingClientRect())
      const { scrollWidth, clientWidth } = pre
      return {
        gap: head && code && Math.round(code.top - head.bottom),
        isAsWide: Math.abs((head?.width ?? 0) - clientWidth) < 2,
        overflow: scrollWidth - clientWidth,
      }
    }),
  )
  const place = { gap: 0, isAsWide: true, overflow: 0 }
  expect(places).toEqual([place, place, place])
  const code = page.locator('pre.long > code')
  await code.focus()
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => code.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(0)
})

test('the copy button of one line stands beside it', async () => {
  await show('/docs/api/watches')
  const [head, code] = await page
    .locator('#createWatch + div > pre')
    .first()
    .evaluate((pre) => [...pre.children].map((element) => element.getBoundingClientRect().toJSON()))
  expect(head.left).toBeGreaterThanOrEqual(code.right - 1)
  expect(code.height).toBeLessThan(head.height + 4)
})

describe('the search of the docs', () => {
  test('works without scripts', async () => {
    await open({ script: false })
    await show('/docs?lang=de')
    await page.getByRole('searchbox').fill('quittieren')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Alarm quittieren' }).first().click()
    await page.waitForURL('**/docs/api/alerts?lang=de#acknowledge')
  })
  test('shows results while a reader types, and is focused by /', async () => {
    await show('/docs/events')
    await page.keyboard.press('/')
    await page.keyboard.type('create a watch')
    const found = page.locator('.suggestions a').first()
    await found.waitFor()
    expect(await found.getAttribute('href')).toBe('/docs/api/watches#createWatch')
    await page.keyboard.press('Escape')
    await found.waitFor({ state: 'hidden' })
    expect(problems).toEqual([])
  })
})

describe('the console of the API reference', () => {
  const consoleOf = async (heading: string) => {
    const section = page.locator('section.operation').filter({
      has: page.getByRole('heading', { name: heading, exact: true }),
    })
    const place = section.locator('.console')
    await place.locator('summary').click()
    return {
      section: place,
      send: place.getByRole('button', { name: 'Send', exact: true }),
      sure: place.getByRole('checkbox'),
      status: place.locator('[data-status]'),
      answer: place.locator('[role="status"] code'),
    }
  }
  const sentTo = (path: string) => {
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().startsWith(`${base}${path}`)) sent.push(request.method())
    })
    return sent
  }

  test('sends calls with a token that only the page remembers', async () => {
    const { token } = await signIn(site, 'alice')
    await show('/docs/api/account')
    await page.getByLabel('API token').fill(token)
    const terms = await consoleOf('Accept the terms')
    await terms.send.click()
    await expect.poll(() => terms.status.textContent()).toBe('200')
    const account = await consoleOf('Get balance, slots and ledger')
    await account.section.getByLabel('limit').fill('1')
    await account.send.click()
    await expect.poll(() => account.answer.textContent()).toContain('"balanceCredits": 0')
    const kept = await page.evaluate(() => [localStorage.length, sessionStorage.length])
    expect([...kept, (await context.cookies()).length]).toEqual([0, 0, 0])
    await page.reload()
    expect(await page.getByLabel('API token').inputValue()).toBe('')
    expect(problems).toEqual([])
  })

  test('shows a refusal in the reader’s language', async () => {
    await show('/docs/api/account?lang=de')
    await page.locator('.console summary').first().click()
    await page.locator('.console button').first().click()
    await page.getByText('"code": "missing_token"').waitFor()
    const shown = await page.locator('.console [role="status"] code').first().textContent()
    expect(shown).toContain(translator('de')('errors:missing_token.title'))
  })

  test('sends no body that is not JSON', async () => {
    await show('/docs/api/auth')
    const sent = sentTo('/api/')
    const challenge = await consoleOf('Create a sign-in message')
    await challenge.section.locator('textarea').fill('{')
    await challenge.send.click()
    await expect.poll(() => challenge.status.textContent()).toBe('The body is not valid JSON.')
    expect(sent).toEqual([])
  })

  test('asks before each call that spends or deletes', async () => {
    const { token } = await signIn(site, 'alice')
    await show('/docs/api/subscriptions')
    await page.getByLabel('API token').fill(token)
    const sent = sentTo('/api/x402/subscriptions')
    const buy = await consoleOf('Buy slots')
    await buy.send.click()
    expect(await buy.sure.evaluate((box: HTMLInputElement) => box.validity.valueMissing)).toBe(true)
    expect(sent).toEqual([])
    await buy.sure.check()
    await buy.send.click()
    await expect.poll(() => buy.status.textContent()).toMatch(/^40\d$/)
    expect(sent).toEqual(['POST'])
    expect(await buy.sure.isChecked()).toBe(false)
    await show('/docs/api/watches')
    expect(await page.locator('.console input[type="checkbox"]').count()).toBe(1)
  })

  test('is not shown without scripts', async () => {
    await open({ script: false })
    await show('/docs/api/watches')
    expect(await page.locator('.console:visible, .token:visible').count()).toBe(0)
  })
})

/** Contrast of each text with what is behind it, by WCAG 2. Drawings are left out. Runs in the page. */
function contrastsOfTexts() {
  const channels = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
      const share = value / 255
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const behind = (element: Element | null): string => {
    if (element === null) return 'rgb(255, 255, 255)'
    const { backgroundColor } = getComputedStyle(element)
    return channels(backgroundColor)[3] === 0 ? behind(element.parentElement) : backgroundColor
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const found: { readonly text: string; readonly ratio: number }[] = []
  while (walker.nextNode()) {
    const { parentElement: parent, textContent } = walker.currentNode
    const text = textContent?.trim() ?? ''
    if (parent === null || text === '' || parent.closest('svg') !== null) continue
    const [dark = 0, light = 0] = [
      luminance(getComputedStyle(parent).color),
      luminance(behind(parent)),
    ].toSorted((a, b) => a - b)
    found.push({ text, ratio: (light + 0.05) / (dark + 0.05) })
  }
  return found
}

/**
 * Texts of a picture that a cell covers or touches, texts that leave the picture on the left or right, and the
 * number of texts. Runs in the page.
 */
function overlaps(picture: Element) {
  const frame = picture.getBoundingClientRect()
  const cells = [...picture.querySelectorAll('rect')].map((element) =>
    element.getBoundingClientRect(),
  )
  const texts = [...picture.querySelectorAll('text')]
  const covered = texts.filter((text) => {
    const box = text.getBoundingClientRect()
    const middle = (box.top + box.bottom) / 2
    return cells.some(
      ({ left, right, top, bottom }) =>
        middle > top && middle < bottom && left - 2 < box.right && right + 2 > box.left,
    )
  })
  const outside = texts.filter((text) => {
    const { left, right } = text.getBoundingClientRect()
    return left < frame.left - 1 || right > frame.right + 1
  })
  const wordsOf = (all: readonly Element[]) => all.map(({ textContent }) => textContent)
  return { covered: wordsOf(covered), outside: wordsOf(outside), words: texts.length }
}
