import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { openBrowser } from '../support/browser.ts'
import { openSite, type Site } from './site.ts'

/** The API from a page of another origin, in a real browser. */

let browser: Browser
let site: Site
let api: string
let other: Server
let origin: string

beforeAll(async () => {
  ;[browser, site] = await Promise.all([openBrowser(), openSite()])
  api = `${await site.listen()}/api/x402`
  other = createServer((_request, response) => response.end('<!doctype html><title>Other</title>'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
})
afterAll(async () => {
  await browser.close()
  await site.close()
  other.close()
})

test('signs in, calls with its token, and reads the headers of answers and refusals', async () => {
  const page = await browser.newPage()
  await page.goto(origin)
  const { account } = PEOPLE.alice
  await page.exposeFunction('sign', (message: string) => account.signMessage({ message }))
  const got = await page.evaluate(
    async ({ api, wallet }) => {
      const json = { 'content-type': 'application/json' }
      const post = async (path: string, body: object) => {
        const init = { method: 'POST', headers: json, body: JSON.stringify(body) }
        return await (await fetch(api + path, init)).json()
      }
      const { message } = await post('/auth/challenge', { wallet })
      const sign = (globalThis as unknown as { sign(text: string): Promise<string> }).sign
      const { token } = await post('/auth/token', { message, signature: await sign(message) })
      const headers = { authorization: `Bearer ${token}` }
      const settings = await fetch(`${api}/settings`, { headers })
      const refused = await fetch(`${api}/watches/999`, {
        method: 'PATCH',
        headers: { ...headers, ...json, 'if-match': '"1"', 'accept-language': 'de' },
        body: '{"label":"x"}',
      })
      const agent = await fetch(api.replace('/api/x402', '/mcp'), {
        method: 'POST',
        headers: { ...headers, ...json, 'mcp-protocol-version': '2025-06-18' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      })
      return {
        settings: settings.status,
        etag: settings.headers.get('etag'),
        ratelimit: settings.headers.get('ratelimit'),
        refused: refused.status,
        agent: agent.status,
      }
    },
    { api, wallet: account.address },
  )
  expect(got).toEqual({
    settings: 200,
    etag: expect.stringMatching(/^"/),
    ratelimit: expect.stringContaining('read'),
    refused: 403,
    agent: 200,
  })
})
