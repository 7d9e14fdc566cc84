import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { createConnectCode } from '#src/recipients/connect.ts'
import { findRecipient } from '#src/recipients/service.ts'
import { openBrowser } from '../support/browser.ts'
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
  })
  test('a reader stops mail and takes it back', async () => {
    const { path, owner, id } = await site.mailbox()
    await open({ script: false })
    await show(path)
    await page.getByRole('button', { name: 'Stop all e-mails' }).press('Enter')
    await page.getByRole('heading', { name: 'Unsubscribed' }).waitFor()
    expect(await findRecipient(site.app, owner, id)).toMatchObject({ status: 'disabled' })
    await page.getByRole('button', { name: 'Undo' }).press('Space')
    await page.getByRole('heading', { name: 'Restored' }).waitFor()
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
    await page.locator('summary').press('Enter')
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

describe('the search of the docs', () => {
  test('works without any script', async () => {
    await open({ script: false })
    await show('/docs?lang=de')
    await page.getByRole('searchbox').fill('quittieren')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Alarm quittieren' }).first().click()
    await page.waitForURL('**/docs/api/alerts?lang=de#acknowledge')
  })
  test('shows results while a reader types, and is reached by /', async () => {
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
