import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { createConnectCode } from '#src/recipients/connect.ts'
import { openBrowser } from '../support/browser.ts'
import { SCREEN_LOCALES } from '../support/locales.ts'
import { buyer, draftOf, type PayWorld, payWorld } from '../support/pay-world.ts'
import { openSite, type Site } from './site.ts'
import { giveWallet } from './wallet.ts'

/** Every page in a real browser: no accessibility faults, no foreign resources, no overflow. */

/** Folder for screenshots of the pages, if set. */
const PICTURES = process.env.SCREENSHOTS
const PAGE_BYTES_MAX = 100_000
const WIDTHS = [320, 360, 1280]
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** Rules about names and languages, which differ by locale; structure and colours are the same in all. */
const WORDS = ['cat.name-role-value', 'cat.text-alternatives', 'cat.language', 'cat.forms']
/** Rules that depend on colours only. */
const CONTRAST = ['color-contrast']

let browser: Browser
let site: Site
let world: PayWorld
/** Every page by name. */
let pages: Readonly<Record<string, string>>

beforeAll(async () => {
  ;[browser, site, world] = await Promise.all([openBrowser(), openSite(), payWorld()])
  const base = await site.listen()
  pages = { ...(await readings(base)), ...(await connects(base)), ...(await payments()) }
}, 60_000)
afterAll(async () => {
  await browser.close()
  await site.close()
  await world.close()
})

async function readings(base: string): Promise<Record<string, string>> {
  const address = 'a.rather.long.mailbox.name@example.org'
  const asked = await site.askedMailbox({ address })
  const mailbox = await site.mailbox()
  const alert = await site.alert({
    recipientId: mailbox.id,
    wallet: mailbox.owner.wallet,
    watch_label: 'Schatzkammer der Genossenschaft am See',
  })
  const recovered = await site.alert({
    position: 2,
    severity: 'critical',
    state: 'recovered',
    recovered_at: new Date('2026-11-20T21:17:01.000Z'),
  })
  const paths = {
    home: '/',
    docs: '/docs',
    'docs-api': '/docs/api',
    'docs-watches-api': '/docs/api/watches',
    'docs-webhooks': '/docs/webhooks',
    'docs-types': '/docs/watches',
    'docs-type': '/docs/watches/provider-fsp',
    'docs-signal': '/docs/watches/provider-fsp/ftso-commit',
    'docs-events': '/docs/events',
    'docs-search': '/docs/search?q=balance',
    tokens: '/tokens',
    receiver: '/receiver',
    nowhere: '/nowhere',
    problems: '/problems',
    problem: '/problems/validation_failed?ref=01JD-3f9a',
    alert: alert.path,
    recovered: recovered.path,
    confirm: asked.path,
    unsubscribe: mailbox.path,
    gone: '/a/none',
  }
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, base + path]))
}

async function connects(base: string): Promise<Record<string, string>> {
  const make = async (id: number) => {
    const chat = { id, title: 'سلمى Ann Lee', username: 'annlee' }
    const made = await createConnectCode(site.app, { chat, by: { id }, locale: 'en' })
    return new URL(made.url).pathname
  }
  const elsewhere = await make(2)
  return {
    connect: base + (await make(1)),
    'connect-elsewhere': `${base}${elsewhere}#elsewhere`,
    'connect-over': `${base}/connect/none`,
  }
}

async function payments(): Promise<Record<string, string>> {
  const alice = await buyer(world, 'alice')
  const base = await world.server.listen({ host: '127.0.0.1', port: 0 })
  const expired = await draftOf(alice, { asset: 'FLR' })
  await world.pass(600)
  const credited = await draftOf(alice, { asset: 'WDG' })
  await world.pay(credited, BigInt(credited.amount) / 2n)
  await world.confirmAll()
  const rejected = await draftOf(alice, { asset: 'FLR' })
  await world.pay(rejected, 1n)
  await world.confirmAll()
  const confirming = await draftOf(alice, { asset: 'WFLR' })
  await world.pay(confirming)
  await world.settle()
  const open = await Promise.all(
    ['WDG', 'FLR', 'XRP'].map((asset) => draftOf(alice, { asset, credits: 1_234_567 })),
  )
  const [token, coin, xrp] = open
  const drafts = { token, coin, xrp, expired, credited, rejected, confirming }
  return Object.fromEntries(
    Object.entries(drafts).map(([name, draft]) => [`pay-${name}`, `${base}/pay/${draft?.handle}`]),
  )
}

/**
 * Opens a window of the browser that records requests to other hosts, console errors and responses.
 */
async function openWindow({ wallet = false } = {}) {
  const context = await browser.newContext({
    viewport: { width: 360, height: 780 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  // Sent to the browser once, and not for each page; blank pages do not run it.
  await context.addInitScript(`if (location.protocol !== 'about:') { ${axe.source} }`)
  const page = await context.newPage()
  const origins = new Set(Object.values(pages).map((url) => new URL(url).origin))
  let troubles: string[] = []
  let bodies: Promise<number>[] = []
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && !origins.has(origin)) troubles.push(request.url())
  })
  page.on('response', (response) => {
    bodies.push(
      response
        .request()
        .sizes()
        .then(
          ({ responseBodySize }) => responseBodySize,
          () => 0,
        ),
    )
  })
  page.on('console', (message) => {
    const isMissing = message.text().includes('404')
    if (message.type() === 'error' && !isMissing) troubles.push(message.text())
  })
  page.on('pageerror', (error) => troubles.push(error.message))
  if (wallet) await giveWallet(page, world.devnet.rpcUrl, { name: 'Test Wallet', sends: 0 })
  return {
    page,
    close: () => context.close(),
    /**
     * Opens a URL as if for the first time, even if it differs from the last one in its fragment
     * only. The browser stays in one process as long as it need not leave the site.
     */
    go: async (url: string) => {
      if (page.url().split('#')[0] === url.split('#')[0]) await page.goto('about:blank')
      troubles = []
      bodies = []
      await page.goto(url)
    },
    troubles: () => troubles,
    bytes: async () => (await Promise.all(bodies)).reduce((sum, bytes) => sum + bytes, 0),
  }
}

function inLocale(url: string, locale: Locale): string {
  const place = new URL(url)
  place.searchParams.set('lang', locale)
  return place.href
}

const GRAVE = ['serious', 'critical']

/** Accessibility faults, as rules and places: the grave ones, and two menus of one name. */
async function stumbles(page: Page, runOnly: readonly string[]): Promise<readonly string[]> {
  const { violations } = await page.evaluate(
    (runOnly) =>
      (window as unknown as { axe: typeof axe }).axe.run(document, {
        runOnly,
        resultTypes: ['violations'],
      }),
    [...runOnly],
  )
  return violations
    .filter(({ id, impact }) => GRAVE.includes(String(impact)) || id === 'landmark-unique')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return
  await mkdir(PICTURES, { recursive: true })
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
}

/** By how many pixels a page is wider than the window, and which controls are too small for a thumb. */
const measured = (page: Page) =>
  page.evaluate(() => ({
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    small: [...document.querySelectorAll('button, summary, nav a, header a, .button, input')]
      .map((control) => ({ text: control.textContent, box: control.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.height < 44 || box.width < 44))
      .map(({ text }) => text)
      .filter((text) => text !== ''),
  }))

const unfold = (page: Page) =>
  page.evaluate(() => {
    for (const element of document.querySelectorAll('details.more'))
      element.setAttribute('open', '')
  })

/** The locales of every test; for pictures also Chinese, whose lines are the shortest. */
const LOOKED_AT: readonly Locale[] =
  PICTURES === undefined ? SCREEN_LOCALES : [...SCREEN_LOCALES, 'zh']

describe.each(LOOKED_AT)('in %s', (locale) => {
  test('every page fits, is small, and passes the accessibility rules', async () => {
    const { page, go, troubles, bytes, close } = await openWindow()
    for (const [name, url] of Object.entries(pages)) {
      await page.emulateMedia({ colorScheme: 'light' })
      await go(inLocale(url, locale))
      expect(await bytes(), `bytes of ${name}`).toBeLessThan(PAGE_BYTES_MAX)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 780 })
        await picture(page, `${name}-${locale}-${width}`)
        const fitting = { overflow: 0, small: [] }
        expect([name, width, await measured(page)]).toEqual([name, width, fitting])
      }
      await page.setViewportSize({ width: 360, height: 780 })
      await unfold(page)
      const isFirst = locale === LOOKED_AT[0]
      expect([name, await stumbles(page, isFirst ? RULES : WORDS)]).toEqual([name, []])
      if (isFirst) {
        await page.emulateMedia({ colorScheme: 'dark' })
        await picture(page, `${name}-${locale}-360-dark`)
        expect([name, 'dark', await stumbles(page, CONTRAST)]).toEqual([name, 'dark', []])
      }
      expect(troubles(), name).toEqual([])
    }
    await close()
  }, 180_000)
})

test('pages with a wallet fit and pass the accessibility rules', async () => {
  const { page, go, troubles, close } = await openWindow({ wallet: true })
  const ofWallet = Object.entries(pages).filter(([name]) => /^(?:pay|connect)/.test(name))
  for (const [name, url] of ofWallet) {
    await go(url)
    if (name === 'pay-token') {
      await page.getByRole('button', { name: /^Pay / }).click()
      await page.locator('[data-note]:visible').waitFor()
    }
    if (name === 'connect-elsewhere') {
      await page.getByLabel('Address of your wallet').fill(PEOPLE.bob.account.address)
      await page.getByRole('button', { name: 'Show the message' }).click()
      await page.getByLabel('Signature').waitFor()
    }
    expect([name, (await measured(page)).overflow]).toEqual([name, 0])
    await picture(page, `${name}-en-360-wallet`)
    expect([name, await stumbles(page, RULES)]).toEqual([name, []])
    expect(troubles(), name).toEqual([])
  }
  await close()
}, 120_000)
