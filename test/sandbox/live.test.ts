import Fastify, { type FastifyInstance } from 'fastify'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hooksPage } from '#sandbox/chat-hooks/page.ts'
import { type ChatHooks, startChatHooks } from '#sandbox/chat-hooks.ts'
import { serveLayout } from '#sandbox/layout.ts'
import { receiverPage } from '#sandbox/receiver/page.ts'
import { type Receiver, startReceiver } from '#sandbox/receiver.ts'
import { discordBody } from '#src/channels/hooks/discord.ts'
import { slackBody } from '#src/channels/hooks/slack.ts'
import { openBrowser } from '../support/browser.ts'
import { testClock } from '../support/clock.ts'
import { envelopeOf } from '../support/envelopes.ts'

/** More tabs than a browser has connections to one host. */
const TABS = 8
const NOW = '2026-11-20T12:00:00.000Z'

let app: FastifyInstance
let base: string
let browser: Browser
let hooks: ChatHooks
let receiver: Receiver

beforeAll(async () => {
  hooks = await startChatHooks({ clock: testClock(new Date(NOW)) })
  receiver = await startReceiver({ clock: testClock(new Date(NOW)) })
  app = Fastify({ forceCloseConnections: true })
  serveLayout(app, async () => ({ now: new Date(NOW), block: 4711n }))
  await app.register(hooksPage, { hooks })
  await app.register(receiverPage, { receiver })
  base = await app.listen({ host: '127.0.0.1', port: 0 })
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await app.close()
  await Promise.all([hooks.close(), receiver.close()])
})

async function write(url: string, body: string): Promise<number> {
  const path = new URL(url).pathname.replace('/api/', '/api/v10/')
  const { status } = await fetch(new URL(`${path}?wait=true`, url), { method: 'POST', body })
  return status
}

test('any number of tabs gets updates, whatever page they show', async () => {
  const context = await browser.newContext()
  const tabs = []
  for (let tab = 0; tab < TABS; tab++) {
    const page = await context.newPage()
    await page.goto(`${base}/${tab % 2 === 0 ? 'hooks' : 'receiver'}`)
    await page.getByText('12:00:00 UTC · block 4,711').waitFor()
    tabs.push(page)
  }
  await write(hooks.slackUrl(), slackBody(envelopeOf()))
  await fetch(receiver.url(), { method: 'POST', body: '{}' })
  for (const [tab, page] of tabs.entries()) {
    await page.locator(tab % 2 === 0 ? '#message-list li' : '#delivery-list li').waitFor()
  }
  await context.close()
})

test('the page of chats and pagers shows accepted and refused messages', async () => {
  hooks.clear()
  const page = await browser.newPage()
  await page.goto(`${base}/hooks`)
  const urls = await page.locator('dl.facts code').allTextContents()
  expect(urls).toHaveLength(4)
  const [discord = '', slack = ''] = urls
  expect(await write(discord, discordBody(envelopeOf({ locale: 'ar' })))).toBe(200)
  expect(await write(slack, slackBody(envelopeOf()))).toBe(200)
  expect(await write(slack, '{}')).toBe(400)
  await page.locator('#refused p').waitFor()
  expect(await page.locator('#message-list li').count()).toBe(2)
  await page.locator('#message-list a', { hasText: 'Slack' }).click()
  const { message } = envelopeOf()
  const shown = page.locator('#message-place article')
  expect(await shown.textContent()).toContain(message.title)
  expect(await shown.textContent()).toContain(message.body)
  expect(await shown.locator('.block-header').textContent()).toContain(message.title)
  await page.locator('#message-list a', { hasText: 'Discord' }).click()
  expect(await shown.locator('.embed .bar rect').getAttribute('fill')).toMatch(/^#[0-9a-f]{6}$/)
  await page.getByRole('button', { name: 'Delete all' }).click()
  await page.getByText('Nothing written yet.').waitFor()
  await page.close()
})
