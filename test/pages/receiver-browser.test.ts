import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import { openBrowser } from '../support/browser.ts'
import { testClock } from '../support/clock.ts'
import { hurry } from './hurry.ts'
import { openReachableSite, sendTestTo } from './receiver-world.ts'
import type { Site } from './site.ts'
import { giveWallet, type WalletOptions } from './wallet.ts'

/** The first webhook in a real browser: from the documentation to a delivery whose signature the browser has checked. */

let browser: Browser
let devnet: Devnet
let site: Site
let base: string
let context: BrowserContext | undefined
let page: Page
let seen: { readonly urls: string[]; readonly bodies: string[]; readonly problems: string[] }

beforeAll(async () => {
  ;[browser, devnet] = await Promise.all([
    openBrowser(),
    startDevnet({ startsAt: testClock().now() }),
  ])
  ;({ site, base } = await openReachableSite({ FLARE_RPC_URLS: devnet.rpcUrl }))
})
afterAll(async () => {
  await browser.close()
  await site.close()
  await devnet.close()
})
afterEach(async () => {
  await context?.close()
  context = undefined
  await site.database.sql`delete from tokens`
  await site.database.sql`delete from recipients`
})

async function open(path: string, wallet?: WalletOptions, script = true, isHurried = true) {
  context = await browser.newContext({ javaScriptEnabled: script })
  context.setDefaultTimeout(10_000)
  page = await context.newPage()
  seen = { urls: [], bodies: [], problems: [] }
  page.on('pageerror', (error) => seen.problems.push(error.message))
  page.on('request', (request) => {
    seen.urls.push(request.url())
    seen.bodies.push(request.postData() ?? '')
  })
  if (isHurried) await hurry(page)
  if (wallet !== undefined) await giveWallet(page, devnet.rpcUrl, wallet)
  await page.goto(base + path)
}

const button = (name: RegExp | string) => page.getByRole('button', { name, exact: true })
const verdict = () => page.locator('article [data-verdict]').first()
/** Waits for a sentence about the newest delivery. */
const shown = (text: string) => verdict().filter({ hasText: text }).waitFor()
const secret = () => page.getByLabel('Signing secret of the webhook')

test('from the documentation to a token to a verified webhook: two clicks and a signature, and the secret never leaves the browser', async () => {
  // The printed seconds are those of a reader, so no wait is shortened.
  await open('/docs/webhooks', {}, true, false)
  let clicks = 0
  const press = async (what: ReturnType<typeof button>) => {
    clicks += 1
    await what.click()
  }
  const startedAt = performance.now()
  await press(page.getByRole('link', { name: 'Your first webhook in a minute' }))
  await press(button('Sign in with my wallet'))
  await shown('Signature valid')
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  process.stdout.write(
    `docs → token → verified webhook: ${clicks} clicks, 1 signature, ${seconds} s\n`,
  )
  expect(clicks).toBe(2)

  expect(await page.locator('#made-token').textContent()).toMatch(/fwd_[A-Za-z0-9_-]{20,}/)
  expect(await page.locator('article table').textContent()).toContain('X-Watchdog-Test')
  expect(await page.locator('article pre').textContent()).toContain('"test": true')
  const { data } = (
    await site.server.inject({
      url: '/api/x402/recipients',
      headers: {
        authorization: `Bearer ${(await page.locator('#made-token bdi').textContent()) ?? ''}`,
      },
    })
  ).json()
  expect(data).toMatchObject([{ channel: 'webhook', name: 'First webhook', default: false }])
  const key = await secret().inputValue()
  expect(key).toMatch(/^whsec_/)
  expect([...seen.urls, ...seen.bodies].filter((text) => text.includes(key))).toEqual([])
  expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0)
  expect(await context?.cookies()).toEqual([])
  expect(seen.urls.filter((url) => !url.startsWith(base))).toEqual([])

  // Another secret, then the right one again.
  await secret().fill(`whsec_${'A'.repeat(43)}=`)
  await shown('Signature not valid for this secret')
  await secret().fill(key)
  await shown('Signature valid')

  await button('Send another test').click()
  await page.locator('article').nth(1).waitFor()
  expect(await verdict().textContent()).toContain('Signature valid')
  await button('Delete the webhook').click()
  await page.getByText('The webhook has been deleted').waitFor()
  const [left] = await site.database.sql`select count(*)::int as n from recipients`
  expect(left).toEqual({ n: 0 })
  expect(seen.problems).toEqual([])
})

test('a token that is refused is said to be so, and a signature still leads to one webhook', async () => {
  await open('/receiver', {})
  await page.getByText('I have an API token').click()
  await page.getByLabel('API token', { exact: true }).fill('fwd_nonsense')
  await button('Create the webhook and send a test').click()
  await page.locator('[data-note="told"]').waitFor()
  await button('Sign in with my wallet').click()
  await shown('Signature valid')
  const [count] = await site.database.sql`select count(*)::int as n from recipients`
  expect(count).toEqual({ n: 1 })
})

test('whoever declines the signature creates nothing, and can try again', async () => {
  await open('/receiver', { declines: ['personal_sign'] })
  await button('Sign in with my wallet').click()
  await page.getByText('No token was created').first().waitFor()
  const [count] = await site.database
    .sql`select (select count(*) from tokens)::int + (select count(*) from recipients)::int as n`
  expect(count).toEqual({ n: 0 })
})

test('an answer to the creation that is lost leads to one webhook after another press', async () => {
  await open('/receiver', {})
  let lost = 0
  await page.route('**/api/x402/recipients', async (route) => {
    if (lost > 0) return await route.continue()
    lost += 1
    await route.fetch()
    await route.abort()
  })
  await button('Sign in with my wallet').click()
  await page.getByText('The service cannot be reached').first().waitFor()
  await button('Sign in with my wallet').click()
  await shown('Signature valid')
  const [count] = await site.database.sql`select count(*)::int as n from recipients`
  expect([lost, count]).toEqual([1, { n: 1 }])
})

test('without scripts the page has the address and, after a reload, what arrived', async () => {
  await open('/receiver', undefined, false)
  expect(await page.getByText('Without JavaScript').isVisible()).toBe(true)
  const url = (await page.locator('.value bdi').first().textContent()) ?? ''
  expect(url).toBe(page.url())
  await sendTestTo(site, url)
  await page.reload()
  expect(await page.locator('article').count()).toBe(1)
  expect(await verdict().textContent()).toContain('not checked yet')
})
