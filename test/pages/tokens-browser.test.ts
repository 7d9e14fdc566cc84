import { createHash } from 'node:crypto'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import { createChallenge, exchangeToken } from '#src/auth/service.ts'
import { walletCode } from '../chain/contracts.ts'
import { openBrowser } from '../support/browser.ts'
import { testClock } from '../support/clock.ts'
import { hurry } from './hurry.ts'
import { openSite, type Site } from './site.ts'
import { giveWallet, type WalletOptions } from './wallet.ts'

/** Creating, listing and revoking API tokens in a real browser, with a wallet in it that signs. */

const BOB = PEOPLE.bob.account.address
const TOKEN = /fwd_[A-Za-z0-9_-]{20,}/

let browser: Browser
let devnet: Devnet
let site: Site
let base: string
let context: BrowserContext | undefined
let page: Page
/** Everything that the browser requested, and the problems of the page. */
let seen: { readonly urls: string[]; readonly problems: string[] }

beforeAll(async () => {
  ;[browser, devnet] = await Promise.all([
    openBrowser(),
    startDevnet({ startsAt: testClock().now() }),
  ])
  site = await openSite({ FLARE_RPC_URLS: devnet.rpcUrl, TRUST_PROXY: '1' })
  base = await site.listen()
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
})

async function open(path: string, wallet?: WalletOptions, script = true) {
  context = await browser.newContext({ javaScriptEnabled: script })
  context.setDefaultTimeout(10_000)
  page = await context.newPage()
  seen = { urls: [], problems: [] }
  page.on('pageerror', (error) => seen.problems.push(error.message))
  page.on('console', (line) => line.type() === 'error' && seen.problems.push(line.text()))
  page.on('request', (request) => seen.urls.push(request.url()))
  await hurry(page)
  if (wallet !== undefined) await giveWallet(page, devnet.rpcUrl, wallet)
  await page.goto(base + path)
}

const button = (name: RegExp | string) => page.getByRole('button', { name })
const shownToken = async () => (await page.locator('#token').textContent()) ?? ''

async function call(token: string, method: 'GET' | 'DELETE', path: string) {
  const headers = { authorization: `Bearer ${token}` }
  return await site.server.inject({ method, url: `/api/x402${path}`, headers })
}

/** Signs the shown text elsewhere and pastes the signature. */
async function signElsewhere(address: string, sign: (message: string) => Promise<string>) {
  await page.getByLabel('Address of your wallet').fill(address)
  await button('Show the message').click()
  const message = (await page.locator('#text').textContent()) ?? ''
  await page.getByLabel('Signature').fill(await sign(message))
  await button('Check the signature').click()
}

test('from the reference to a call with a new token: three presses and a signature, and the token is nowhere but on the page', async () => {
  await open('/docs/api/watches', {})
  await page.getByRole('link', { name: 'Create an API token with your wallet' }).click()
  await page.getByLabel('Name of the token').fill('deploy script')
  await button('Sign in with my wallet').click()
  const token = await shownToken()
  expect(token).toMatch(TOKEN)
  const used = await call(token, 'GET', '/auth/tokens')
  expect(used.json().data).toMatchObject([
    { label: 'deploy script', scopes: ['read', 'write'], status: 'active' },
  ])
  await page.getByRole('heading', { name: /deploy script · fwd_/ }).waitFor()
  expect(seen.urls.filter((url) => url.includes(token))).toEqual([])
  expect(await context?.cookies()).toEqual([])
  expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0)
  expect(seen.problems).toEqual([])
  // The browser sends the form again; its challenge is used up.
  await page.reload()
  expect(await page.getByText(token).count()).toBe(0)
  await page.getByRole('alert').waitFor()
})

test('a person lets an assistant act: two presses and a signature, and the browser is back with a code for what was ticked', async () => {
  const back = 'https://assistant.example.com/callback'
  const registered = await site.server.inject({
    method: 'POST',
    url: '/oauth/register',
    payload: { redirect_uris: [back], client_name: 'Assistant' },
  })
  const { client_id } = registered.json()
  const verifier = 'v'.repeat(43)
  const query = new URLSearchParams({
    ...{
      response_type: 'code',
      client_id,
      redirect_uri: back,
      state: 's',
      scope: 'read write spend',
    },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  await open(`/oauth/authorize?${query}`, {})
  await page.route(`${back}?*`, (route) => route.fulfill({ body: 'the assistant' }))
  expect(await page.getByLabel('spend credits').isChecked()).toBe(false)
  await page.getByLabel('change watches').uncheck()
  await button('Sign in with my wallet').click()
  await page.getByText('the assistant').waitFor()
  const url = new URL(page.url())
  expect([url.origin + url.pathname, url.searchParams.get('state')]).toEqual([back, 's'])
  const exchanged = await site.server.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id, redirect_uri: back },
      ...{ code: url.searchParams.get('code') ?? '', code_verifier: verifier },
    }).toString(),
  })
  expect(exchanged.json()).toMatchObject({ token_type: 'Bearer', scope: 'read' })
  expect(seen.problems).toEqual([])
})

test.each([
  'en',
  'ar',
  'zh',
])('the longest host and state of a program fit a phone: %s', async (lang) => {
  const back = `https://${Array.from({ length: 3 }, () => 'a'.repeat(60)).join('.')}.example.com/x`
  const registered = await site.server.inject({
    method: 'POST',
    url: '/oauth/register',
    payload: { redirect_uris: [back] },
  })
  const asked = {
    ...{ response_type: 'code', client_id: registered.json().client_id, redirect_uri: back },
    ...{ code_challenge: 'c'.repeat(43), state: 's'.repeat(3000), lang },
  }
  for (const method of ['S256', 'plain']) {
    const query = new URLSearchParams({ ...asked, code_challenge_method: method })
    await open(`/oauth/authorize?${query}`)
    await page.setViewportSize({ width: 360, height: 800 })
    const widths = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return [scrollWidth, clientWidth]
    })
    expect([method, ...widths]).toEqual([method, 360, 360])
    await context?.close()
  }
})

test('the ticks are the scopes: nothing but what the reader chose is signed', async () => {
  await open('/tokens', {})
  await page.getByLabel('change watches').uncheck()
  await button('Sign in with my wallet').click()
  const token = await shownToken()
  const { data } = (await call(token, 'GET', '/auth/tokens')).json()
  expect(data).toMatchObject([{ label: null, scopes: ['read'] }])
  // A signature without the right to change anything opens no list that can be changed.
  expect(await button(/^Revoke/).count()).toBe(0)
  expect((await call(token, 'DELETE', `/auth/tokens/${data[0].id}`)).statusCode).toBe(403)
})

test('a reader shows the tokens without a new one, and revokes one of them, which ends at once', async () => {
  const { message } = await createChallenge(site.app, {
    wallet: BOB,
    scopes: ['read'],
    label: 'old',
  })
  const signature = await PEOPLE.bob.account.signMessage({ message })
  const { token } = await exchangeToken(site.app, { message, signature })
  await open('/tokens', {})
  await page.getByLabel('Show and revoke my tokens').check()
  expect(await page.getByLabel('Name of the token').isVisible()).toBe(false)
  await button('Sign in with my wallet').click()
  await button(/^Revoke old/).click()
  await page.getByText(`The token ${token.slice(0, 8)}`).waitFor()
  expect((await call(token, 'GET', '/auth/tokens')).statusCode).toBe(401)
  expect(await page.getByRole('heading', { name: /fwd_/ }).count()).toBe(1)
})

test('a declined signature, a foreign wallet and a garbled signature create nothing, and say so', async () => {
  await open('/tokens', { declines: ['personal_sign'] })
  await button('Sign in with my wallet').click()
  await page.getByText('No token was created').first().waitFor()
  await context?.close()
  await open('/tokens', { signer: 'carol' })
  await button('Sign in with my wallet').click()
  await page.getByRole('alert').waitFor()
  await context?.close()
  await open('/tokens')
  await page.getByText('Sign elsewhere', { exact: true }).click()
  await signElsewhere(BOB, async () => 'no signature')
  await page.getByRole('alert').waitFor()
  const [count] = await site.database.sql`select count(*)::int as n from tokens`
  expect(count).toEqual({ n: 0 })
})

test.each([
  true,
  false,
])('a contract wallet signs elsewhere (ERC-1271), scripts: %s', async (script) => {
  const safe = PEOPLE.carol.account.address
  await devnet.client.setCode({ address: safe, bytecode: walletCode(BOB) })
  await open('/tokens', undefined, script)
  if (script) await page.getByText('Sign elsewhere', { exact: true }).click()
  await signElsewhere(safe, (message) => PEOPLE.bob.account.signMessage({ message }))
  const token = await shownToken()
  expect((await call(token, 'GET', '/auth/tokens')).statusCode).toBe(200)
})

test('the code of the page ends after ten minutes, and one that was made up opens nothing', async () => {
  await open('/tokens', {})
  await button('Sign in with my wallet').click()
  const code = (await page.locator('input[name="code"]').first().getAttribute('value')) ?? ''
  const id = (await page.locator('input[name="id"]').first().getAttribute('value')) ?? ''
  const revoke = (used: string) => site.post('/tokens', `answer=revoke&id=${id}&code=${used}`)
  const altered = `${code.startsWith('A') ? 'B' : 'A'}${code.slice(1)}`
  expect((await revoke(altered)).status).toBe(422)
  site.clock.advance(10 * 60)
  expect((await revoke(code)).status).toBe(422)
  const [token] = await site.database.sql`select revoked_at from tokens`
  expect(token).toEqual({ revoked_at: null })
})
