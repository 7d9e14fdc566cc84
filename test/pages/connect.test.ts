import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { createConnectCode, peekConnectCode } from '#src/recipients/connect.ts'
import { openSite, type Site } from './site.ts'

/** The connect page without a browser: answers and limits. */

const BOB = PEOPLE.bob.account.address

let site: Site
let chatId = 6000

beforeAll(async () => {
  site = await openSite({ TRUST_PROXY: '1' })
})
afterAll(() => site.close())

/** A chat that asks to be connected, and the path of its page. */
async function askedChat() {
  chatId += 1
  const chat = { id: chatId, title: 'Ann Lee', username: 'annlee' }
  const { url } = await createConnectCode(site.app, { chat, by: { id: chatId }, locale: 'en' })
  const path = new URL(url).pathname
  return { path, code: path.replace('/connect/', '') }
}

describe('the connect page', () => {
  test('changes nothing by a visit', async () => {
    const { path, code } = await askedChat()
    await site.get(path)
    await site.get(path)
    expect((await peekConnectCode(site.app, code)).state).toBe('open')
  })

  test.each([
    'none',
    'AAAAAAAAAAAAAAAAAAAAAA',
  ])('of an unknown code says that links work once', async (code) => {
    const { status, headers, text } = await site.get(`/connect/${code}`)
    expect(status).toBe(404)
    expect(headers['cache-control']).toBe('no-store')
    expect(text).toContain('A link works once and expires after 15 minutes.')
  })

  test.each([
    ['0x12', 'An address has 40 characters after 0x; this has 2.'],
    [BOB.replace('d', 'D'), 'One character of this address seems wrong.'],
  ])('says what is wrong with %s, and lets it be mended', async (wallet, text) => {
    const { path } = await askedChat()
    const answer = await site.post(path, `answer=message&wallet=${wallet}`)
    expect(answer.status).toBe(422)
    expect(answer.text).toContain(text)
    expect(answer.html).toContain(`value="${wallet}"`)
  })

  test('gives at most ten messages a minute', async () => {
    const { path } = await askedChat()
    const from = { 'x-forwarded-for': '203.0.113.9', accept: 'application/json' }
    const ask = () => site.post(path, `answer=message&wallet=${BOB}`, from)
    for (let count = 0; count < 10; count += 1) expect((await ask()).status).toBe(200)
    const { status, html } = await ask()
    expect(status).toBe(429)
    expect(JSON.parse(html)).toMatchObject({ code: 'rate_limited' })
  })

  test.each(LOCALES)('reads in %s', async (locale) => {
    const { path } = await askedChat()
    const { html, text } = await site.get(`${path}?lang=${locale}`)
    expect(html).toContain(`<html lang="${locale}"`)
    expect(text).not.toMatch(/\{\{|undefined/)
  })
})
