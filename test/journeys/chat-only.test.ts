import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { ChatMessage } from '#sandbox/telegram/model.ts'
import { plain } from '#sandbox/tour/chat.ts'
import { startWorld, type World } from '#sandbox/world.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { openBrowser } from '../support/browser.ts'

/**
 * Somebody who has Telegram and a wallet, and nothing else: from the first contact to an alert that is
 * acknowledged and recovers. The chat does everything; the wallet signs and pays on the pages that the
 * chat links to.
 */

const WAIT_MS = 30_000
const BOB = PEOPLE.bob.account.address

let browser: Browser
let world: World
let page: Page
let ann: { readonly id: number }
/** Presses of the first watch, in the chat, on the page and in the wallet. */
let taps = 0

beforeAll(async () => {
  ;[browser, world] = await Promise.all([openBrowser(), startWorld({ log: silentLogger, port: 0 })])
  const context = await browser.newContext({ viewport: { width: 360, height: 780 } })
  page = await context.newPage()
  page.setDefaultTimeout(WAIT_MS)
  ann = world.telegram.person({ firstName: 'Ann', languageCode: 'en' })
}, 120_000)
afterAll(async () => {
  await browser.close()
  await world.close()
})

const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })

/** Presses the button with exactly this label, on the newest message that has it, once it is there. */
async function tap(label: string): Promise<void> {
  taps += 1
  const { telegram } = world
  const hasIt = ({ keyboard }: ChatMessage) =>
    keyboard.flat().some(({ text }) => plain(text) === label)
  const message = await telegram.waitFor(() => telegram.messages(ann.id).findLast(hasIt), WAIT_MS)
  const found = message.keyboard.flat().find(({ text }) => plain(text) === label)
  await telegram.press(ann.id, message.id, found?.callback_data ?? '').answer(WAIT_MS)
}

function say(text: string): void {
  world.telegram.send(ann.id, text)
}

async function click(name: string | RegExp): Promise<void> {
  taps += 1
  await button(name).click()
}

/** The newest message of the bot that says this, once it is there. */
async function read(text: string): Promise<ChatMessage> {
  const { telegram } = world
  const said = () => telegram.messages(ann.id).filter(({ from }) => from === telegram.bot.id)
  const find = () => said().findLast((one) => plain(one.text).includes(text))
  try {
    return await telegram.waitFor(find, WAIT_MS)
  } catch {
    const last = said().slice(-4)
    throw new Error(`no “${text}”, but ${last.map((one) => plain(one.text)).join(' | ')}`)
  }
}

/** Opens what a button of a message links to. */
async function open(message: ChatMessage, label: string): Promise<void> {
  const found = message.keyboard.flat().find(({ text }) => text === label)
  if (found?.url === undefined) throw new Error(`no link ${label}`)
  taps += 1
  await page.goto(found.url)
}

/** Signs in on the page, with Bob's account in the sandbox's wallet. */
async function sign(): Promise<void> {
  await click('Yes, sign in with my wallet')
  await page.getByLabel('Account').selectOption(BOB)
  await click('Confirm')
  await page.getByText('Sign this message?').waitFor()
  await click('Confirm')
  await page.getByRole('heading', { name: 'Connected' }).waitFor()
}

/** Buys ten thousand credits for FLR: asked for in the chat, paid on the page, told in the chat. */
async function topUp(balance: string): Promise<void> {
  say('/topup')
  await tap('FLR')
  await tap('10,000 · 10 USD')
  const quote = await read('Waiting for the payment.')
  await open(quote, 'Pay in browser')
  await button(/^Pay /).click()
  await page.getByLabel('Account').selectOption(BOB)
  await button('Confirm').click()
  await page.getByText('Send this transaction?').waitFor()
  await button('Confirm').click()
  await page.getByRole('heading', { name: '10,000 credits added' }).waitFor()
  const credited = await read(`✅ 10,000 credits added Balance: ${balance}`)
  expect(credited.id).toBe(quote.id)
}

describe('a person with Telegram and a wallet', () => {
  test('connects, and has a first watch within ten taps', async () => {
    taps = 1
    say('/start')
    await read('Watchdog watches wallets')
    await tap('Connect wallet')
    await open(await read('Check that the page shows this code'), 'Open the page')
    await sign()
    await read('Connected')
    await tap('Trial: watch my wallet')
    const card = await read('Your trial runs until')
    expect(plain(card.text)).toContain('Alert: a change of 100 FLR or more')
    expect(taps).toBeLessThanOrEqual(10)
  })

  test('pays on the page, and sees the credits come', async () => {
    await topUp('10,000 credits')
  })

  test('sees that the payment left the wallet', async () => {
    await read('500 FLR left the wallet')
  })

  test('without a slot is led to one, and then watches more', async () => {
    say('/new')
    await read('No free slot · 1 of 1 used')
    await tap('Allow spending')
    const connect = await read('also spend credits on slots')
    await open(connect, 'Open the page')
    await page.getByLabel('Also allow the chat to spend').check()
    await sign()
    await read('spend credits on slots.')
    say('/new')
    await tap('1 slot: 500')
    await tap('Buy: 500 credits')
    await read('1 slot until')
    say('/new')
    await tap('💳 My credits')
    say('9,800')
    await tap('Create')
    await read('is now being watched.')
  })

  test('is alerted, acknowledges, pays and gets the recovery', async () => {
    const alert = await read('Only 9,500 credits left')
    await tap('Acknowledge')
    const acknowledged = await read('acknowledged by Ann')
    expect(acknowledged.id).toBe(alert.id)
    await topUp('19,500 credits')
    const recovered = await read('Credits no longer below your limit: 19,500')
    expect(recovered.replyTo).toBe(alert.id)
    await read('🟢')
    say('/status')
    const status = await read('Chain: block')
    expect(plain(status.text)).toContain('🟢 2 watches, all OK')
    expect(plain(status.text)).toContain('💳 19,500 credits · 🎟️ Slots: 2 of 2')
  })

  test('was refused nothing by Telegram but to write faster', () => {
    const refused = world.telegram.calls.flatMap(({ method, refused: one }) =>
      one === undefined ? [] : `${method}: ${one.description}`,
    )
    expect(refused.filter((one) => !/not modified|Too Many Requests/.test(one))).toEqual([])
  })
})
