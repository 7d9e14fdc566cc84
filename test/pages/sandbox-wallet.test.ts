import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { World } from '#sandbox/world.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { openBrowser } from '../support/browser.ts'
import { startSandboxWorld } from '../support/sandbox-world.ts'
import { openSite } from './site.ts'

/** The sandbox's own wallet: a chat is connected and a top-up paid in a browser without an extension. */

const WAIT_MS = 20_000

describe('the wallet in a sandbox', () => {
  let browser: Browser
  let world: World
  let page: Page

  beforeAll(async () => {
    ;[browser, world] = await Promise.all([openBrowser(), startSandboxWorld(silentLogger)])
    const context = await browser.newContext({ viewport: { width: 360, height: 780 } })
    page = await context.newPage()
    page.setDefaultTimeout(WAIT_MS)
  }, 60_000)
  afterAll(async () => {
    await browser.close()
    await world.close()
  })

  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })

  test('signs for a chat, which is linked', async () => {
    const ann = world.telegram.person({ firstName: 'Ann', languageCode: 'en' })
    const last = () => world.telegram.messages(ann.id).at(-1)
    world.telegram.send(ann.id, '/connect')
    const url = await world.telegram.waitFor(() => last()?.keyboard[0]?.[0]?.url)
    await page.goto(url)
    await button('Yes, sign in with my wallet').click()
    await page.getByRole('dialog', { name: 'Sandbox wallet' }).waitFor()
    await page.getByLabel('Account').selectOption(PEOPLE.bob.account.address)
    await button('Decline').click()
    await page.getByText('You declined the request in your wallet. Nothing was linked.').waitFor()
    await button('Yes, sign in with my wallet').click()
    await page.getByLabel('Account').selectOption(PEOPLE.bob.account.address)
    await page.getByLabel('Network').selectOption('0x1')
    await button('Confirm').click()
    await page.getByText('Switch to Flare').waitFor()
    await button('Confirm').click()
    await page.getByText('Sign this message?').waitFor()
    await button('Confirm').click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    const text = await world.telegram.waitFor(() => {
      const lastText = last()?.text
      return lastText?.includes('Connected') ? lastText : undefined
    })
    expect(text).toContain(PEOPLE.bob.account.address)
  }, 60_000)

  test('stays connected in its tab, and pays a top-up', async () => {
    await page.goto(await topupPage())
    await button(/^Pay /).click()
    await page.getByText('Send this transaction?').waitFor()
    await button('Confirm').click()
    await page.getByRole('heading', { name: '10 USD (10,000 credits) added' }).waitFor()
  }, 60_000)

  /** A quote of Carol's, and the page to pay it on. */
  async function topupPage(): Promise<string> {
    const { account } = PEOPLE.carol
    const api = `${world.service.publicUrl}/api/x402`
    let token: string | undefined
    const ask = async (method: string, path: string, body?: object) => {
      const response = await fetch(api + path, {
        method,
        headers: {
          ...(body && { 'content-type': 'application/json' }),
          ...(token && { authorization: `Bearer ${token}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return await response.json()
    }
    const asked = { wallet: account.address, scopes: ['write'] }
    const { message } = await ask('POST', '/auth/challenge', asked)
    const signature = await account.signMessage({ message })
    const issued = await ask('POST', '/auth/token', { message, signature })
    token = issued.token
    const { currentVersion: version } = await ask('GET', '/account/terms')
    await ask('POST', '/account/terms', { version })
    const draft = await ask('POST', '/topup', { asset: 'FLR' })
    return draft.page
  }
})

test('a service outside of a sandbox has no wallet', async () => {
  const site = await openSite()
  for (const path of ['/sandbox/wallet.js', '/sandbox/wallet.css', '/sandbox/wallet/people']) {
    expect((await site.get(path)).status, path).toBe(404)
  }
  const { status } = await site.post('/sandbox/wallet', 'method=eth_accounts')
  expect([404, 405, 415]).toContain(status)
  await site.close()
})
