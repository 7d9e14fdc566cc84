import type { Browser, BrowserContext, Page } from 'playwright-core'
import { parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { TopupDraft } from '../generated/api.ts'
import { openBrowser } from '../support/browser.ts'
import { buyer, draftOf, type PayWorld, payWorld, topupOf } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'
import { hurry } from './hurry.ts'
import { giveWallet, type PageWallet, type WalletOptions } from './wallet.ts'

/** Paying in a real browser, with a wallet in it that signs and sends on the local chain. */

const WAIT_MS = 10_000

let browser: Browser
let world: PayWorld
let alice: Client
let base: string
let context: BrowserContext
let page: Page
let problems: string[]
/** All notes that the page has shown, including short ones: it reloads when the payment is seen. */
let notes: string[]

beforeAll(async () => {
  ;[browser, world] = await Promise.all([openBrowser(), payWorld({ TRUST_PROXY: '1' })])
  alice = await buyer(world, 'alice')
  base = await world.server.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await browser.close()
  await world.close()
})
afterEach(() => context.close())

let visitors = 0

/** Runs in the page: reports each shown note to the test. */
function reportNotes(): void {
  const options = { subtree: true, childList: true, attributes: true, attributeFilter: ['hidden'] }
  const shown = new Set<Element>()
  new MutationObserver(() => {
    for (const note of document.querySelectorAll<HTMLElement>('[data-note]')) {
      if (note.hidden) shown.delete(note)
      else if (!shown.has(note)) {
        shown.add(note)
        Reflect.get(window, 'tellTest')(note.dataset.note)
      }
    }
  }).observe(document, options)
}

async function open(
  draft: Pick<TopupDraft, 'handle'>,
  wallet?: WalletOptions,
  { script = true, width = 360, rpcUrl = world.devnet.rpcUrl, hasTouch = false } = {},
): Promise<PageWallet> {
  visitors += 1
  context = await browser.newContext({
    javaScriptEnabled: script,
    hasTouch,
    isMobile: hasTouch,
    viewport: { width, height: 780 },
    extraHTTPHeaders: { 'x-forwarded-for': `192.0.2.${visitors}` },
  })
  context.setDefaultTimeout(WAIT_MS)
  page = await context.newPage()
  problems = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  const none = { asked: [], decline: () => undefined, chain: () => '' }
  notes = []
  await page.exposeFunction('tellTest', (note: string) => notes.push(note))
  await page.addInitScript(reportNotes)
  await hurry(page)
  const wallets = wallet === undefined ? none : await giveWallet(page, rpcUrl, wallet)
  await page.goto(`${base}/pay/${draft.handle}`)
  return wallets
}

const button = (name: RegExp | string) => page.getByRole('button', { name })
const shown = (text: string | RegExp) => page.getByText(text).filter({ visible: true })
const says = (text: string | RegExp) => shown(text).first().waitFor()
const saysSent = () => expect.poll(() => notes, { timeout: WAIT_MS }).toContain('sent')
const sent = ({ asked }: PageWallet) =>
  asked.filter((method) => method === 'eth_sendTransaction').length
const receipts = ({ asked }: PageWallet) =>
  asked.filter((method) => method === 'eth_getTransactionReceipt').length

describe('with a wallet', () => {
  test('a token is approved, paid and credited while the page is open', async () => {
    const draft = await draftOf(alice, { asset: 'WDG' })
    const wallet = await open(draft, {})
    await button(/^Pay 200/).click()
    await saysSent()
    await page.getByRole('heading', { name: 'Payment sent' }).waitFor()
    expect(await page.getByText('The price is locked').isVisible()).toBe(false)
    expect(await page.locator('#countdown').isVisible()).toBe(false)
    await says(/Confirmations: \d of 2/)
    await world.confirmAll()
    await page.getByRole('heading', { name: '11 USD (11,000 credits) added' }).waitFor()
    expect(await page.locator('#wallet').count()).toBe(0)
    expect(sent(wallet)).toBe(2)
    const { paidAmount, txHash } = await topupOf(alice, draft)
    expect(paidAmount).toBe(draft.amount)
    const receipt = page.locator('section', { hasText: 'Receipt' })
    expect(await receipt.textContent()).toContain(txHash)
    expect(problems).toEqual([])
  })

  test('a coin is paid in one step', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const wallet = await open(draft, { name: 'Test Wallet' })
    await button(/^Pay 500/).click()
    await saysSent()
    await world.confirmAll()
    await says(/10\sUSD \(10,000 credits\) added/)
    expect(sent(wallet)).toBe(1)
    expect((await topupOf(alice, draft)).status).toBe('credited')
  })

  test('that is a contract pays through the payment router, or is refused while the router is paused', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const says = { eth_getCode: '0x6001' }
    await open(draft, { says })
    await button(/^Pay 500/).click()
    await saysSent()
    await world.confirmAll()
    const { status, txHash } = await topupOf(alice, draft)
    expect(status).toBe('credited')
    const hash = txHash as `0x${string}`
    const { to } = await world.devnet.client.getTransaction({ hash })
    expect(to).toBe(world.contracts.router.toLowerCase())
    await context.close()

    await world.contracts.setPaused(true)
    const without = await draftOf(alice, { asset: 'FLR' })
    await world.contracts.setPaused(false)
    const wallet = await open(without, { says })
    await button(/^Pay 500/).click()
    await page.locator('[data-note="contract"]').waitFor({ state: 'visible' })
    expect(sent(wallet)).toBe(0)
  })

  test('pays the remainder of a partial payment on the same page, once', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pay(draft, BigInt(draft.amount) / 2n)
    await world.confirmAll()
    const wallet = await open(draft, {})
    await says(/You can pay the remaining 250.FLR the same way/)
    await button(/^Pay 250/).click()
    await saysSent()
    await world.confirmAll()
    await page.getByRole('heading', { name: '10 USD (10,000 credits) added' }).waitFor()
    expect(await page.locator('#wallet').count()).toBe(0)
    expect(sent(wallet)).toBe(1)
    expect((await topupOf(alice, draft)).paidAmount).toBe(draft.amount)
  })

  test('that has approved the amount already is asked for one transaction only', async () => {
    const first = await draftOf(alice, { asset: 'WFLR' })
    const approving = await open(first, { sends: 1 })
    await button(/^Pay 500/).click()
    await says('You declined the request in your wallet. Nothing was paid.')
    expect(sent(approving)).toBe(2)
    await context.close()
    const second = await draftOf(alice, { asset: 'WFLR' })
    const paying = await open(second, {})
    await button(/^Pay 500/).click()
    await saysSent()
    expect(sent(paying)).toBe(1)
    await world.confirmAll()
  })

  test('on another chain is asked to switch, and to add Flare where it is unknown', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const wallet = await open(draft, { chainId: '0x1', knows: ['0x1'], sends: 0 })
    await button(/^Pay 500/).click()
    await says('You declined the request in your wallet. Nothing was paid.')
    expect(wallet.asked).toContain('wallet_addEthereumChain')
    expect(wallet.chain()).toBe('0xe')
  })

  test('that stays on another chain is shown which, and can switch later', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const wallet = await open(draft, { chainId: '0x1', declines: ['wallet_switchEthereumChain'] })
    await button(/^Pay 500/).click()
    await says('Your wallet is on Ethereum. This payment is on Flare.')
    expect(sent(wallet)).toBe(0)
    wallet.decline()
    await button(/^Pay 500/).click()
    await saysSent()
    await world.confirmAll()
  })

  test('is at the step of the button, and at the connection only while it is asked for that', async () => {
    const current = () => page.locator('[aria-current] > span:first-child').allTextContents()
    await open(await draftOf(alice, { asset: 'WDG' }), {})
    await expect.poll(current).toEqual([expect.stringMatching(/^Approve 200/)])
    await context.close()
    const accounts = Promise.withResolvers<readonly string[]>()
    const draft = await draftOf(alice, { asset: 'FLR' })
    await open(draft, { says: { eth_requestAccounts: accounts.promise } })
    await button(/^Pay 500/).waitFor()
    expect(await current()).toEqual(['Pay 500\u00a0FLR'])
    await button(/^Pay 500/).click()
    await expect.poll(current).toEqual(['Connect'])
    accounts.reject({ code: 4001 })
    await says('You declined the request in your wallet. Nothing was paid.')
    expect(await current()).toEqual(['Pay 500\u00a0FLR'])
    expect(await page.locator('[data-step="connect"]').isVisible()).toBe(false)
  })

  test('that declines the connection is asked again', async () => {
    const wallet = await open(await draftOf(alice), { declines: ['eth_requestAccounts'] })
    await button(/^Pay /).click()
    await says('You declined the request in your wallet. Nothing was paid.')
    wallet.decline('eth_sendTransaction')
    await button(/^Pay /).click()
    await expect.poll(() => sent(wallet)).toBe(1)
  })

  test('that is connected already is shown with account and balance, and is not asked to connect', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const wallet = await open(draft, { isConnected: true, sends: 0 })
    await says(/^0x\w{4}…\w{4} · [\d,.]+.FLR$/)
    expect(wallet.asked).not.toContain('eth_requestAccounts')
    await button(/^Pay 500/).click()
    await says('You declined the request in your wallet. Nothing was paid.')
    expect(wallet.asked).not.toContain('eth_requestAccounts')
  })

  test('that is slow to name its accounts is asked to connect once for two presses', async () => {
    const accounts = Promise.withResolvers<readonly string[]>()
    const draft = await draftOf(alice, { asset: 'FLR' })
    const wallet = await open(draft, { says: { eth_accounts: accounts.promise }, sends: 0 })
    await expect.poll(() => wallet.asked).toContain('eth_accounts')
    await button(/^Pay 500/).click()
    await button(/^Pay 500/).click()
    // The page has found its wallets again, for both presses, when a longer timer of it ends.
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 5000)))
    accounts.resolve([])
    await says('You declined the request in your wallet. Nothing was paid.')
    expect(wallet.asked.filter((method) => method === 'eth_requestAccounts')).toHaveLength(1)
  })

  test('that declines has paid nothing, and can be asked again', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const wallet = await open(draft, { declines: ['eth_sendTransaction'] })
    await button(/^Pay 500/).click()
    await says('You declined the request in your wallet. Nothing was paid.')
    expect((await topupOf(alice, draft)).status).toBe('draft')
    wallet.decline()
    await button(/^Pay 500/).click()
    await saysSent()
    await world.confirmAll()
  })

  test('with too little is shown what it needs and has', async () => {
    const draft = await draftOf(alice, { asset: 'FXRP', credits: 1_000_000 })
    await open(draft, { owner: 'carol', says: { eth_call: `0x${'0'.repeat(64)}` } })
    await button(/^Pay /).click()
    await says(/You need [\d,.]+.FXRP and have 0.FXRP\./)
    expect(await button(/^Pay /).count()).toBe(0)
    await context.close()
    const coins = await draftOf(alice, { asset: 'FLR' })
    await open(coins, { says: { eth_getBalance: `0x${parseEther('499.5').toString(16)}` } })
    await button(/^Pay /).click()
    await says(/You need 500.FLR and have 499\.5.FLR\./)
  })

  test('without coins for the fee is refused with that reason', async () => {
    await open(await draftOf(alice, { asset: 'WFLR' }), { says: { eth_getBalance: '0x0' } })
    await button(/^Pay /).click()
    await says(/You need about [\d.]+.FLR for the network fee and have 0.FLR\./)
    expect(await button(/^Pay /).count()).toBe(0)
  })

  test('whose transaction fails is shown the reason, and can pay again', async () => {
    const draft = await draftOf(alice, { asset: 'WFLR' })
    await open(draft, {})
    const read = Promise.withResolvers<void>()
    await page.route('**/confirm', async (route) => {
      await read.promise
      await route.continue()
    })
    await world.contracts.setPaused(true)
    await button(/^Pay 500/).click()
    await says('The transaction failed on the chain. Nothing was paid.')
    await world.contracts.setPaused(false)
    read.resolve()
    await world.pass(15)
    await says('Reason: This payment method is paused')
    notes = []
    await button(/^Pay 500/).click()
    await saysSent()
    await world.confirmAll()
    await says(/10\sUSD \(10,000 credits\) added/)
  })

  test('that has paid is not asked again after a reload', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await open(draft, {})
    // The service is unreachable, so the page cannot name the payment.
    await page.route('**/confirm', (route) => route.abort())
    await button(/^Pay 500/).click()
    await says('Payment sent. You may close this page')
    await page.reload()
    await says('Payment sent. You may close this page')
    expect(await button(/^Pay /).count()).toBe(0)
    await world.confirmAll()
    await says(/10\sUSD \(10,000 credits\) added/)
  })
})

describe('while the chain does not answer', () => {
  const SILENT = 'The chain cannot be read right now. Your payment is safe'
  /** Interval of the service's search for payments. */
  const LOOK_SECONDS = 15
  afterEach(() => world.rpc.up())

  test('the page says that a payment is safe, and the payment is found after the outage', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await open(draft, {})
    expect(await shown(SILENT).count()).toBe(0)
    await world.rpc.down()
    await world.pass(LOOK_SECONDS)
    await says(SILENT)
    await button(/^Pay 500/).click()
    await saysSent()
    notes = []
    await page.reload()
    await says(SILENT)
    await saysSent()
    expect((await topupOf(alice, draft)).status).toBe('draft')
    await world.rpc.up()
    await world.confirmAll()
    await says(/10\sUSD \(10,000 credits\) added/)
    expect(await shown(SILENT).count()).toBe(0)
  })

  test('the page stops saying that as soon as the chain answers', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.rpc.down()
    await world.pass(LOOK_SECONDS)
    await open(draft)
    await says(SILENT)
    await world.rpc.up()
    await world.pass(LOOK_SECONDS)
    await page.getByText(SILENT).waitFor({ state: 'hidden' })
  })

  test('a wallet that cannot read the chain pays nothing, and can pay later', async () => {
    const draft = await draftOf(alice, { asset: 'WFLR' })
    const wallet = await open(draft, {}, { rpcUrl: world.rpc.url })
    await world.rpc.down()
    await button(/^Pay 500/).click()
    await says('Your wallet cannot read the chain right now. Nothing was paid.')
    expect(sent(wallet)).toBe(0)
    await world.rpc.up()
    await button(/^Pay 500/).click()
    await saysSent()
    await world.confirmAll()
  })

  test('a transaction that was sent before is never reported as unpaid', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const wallet = await open(draft, {}, { rpcUrl: world.rpc.url })
    await page.route('**/confirm', (route) => route.abort())
    const away = { code: -32_000, message: 'header not found' }
    world.rpc.failNext(3, away, 'eth_getTransactionReceipt')
    await button(/^Pay 500/).click()
    await saysSent()
    await expect.poll(() => receipts(wallet)).toBeGreaterThan(3)
    expect(await shown('Nothing was paid').count()).toBe(0)
    await world.confirmAll()
    await says(/10\sUSD \(10,000 credits\) added/)
  })
})

describe('without a wallet', () => {
  test('the page says so', async () => {
    await open(await draftOf(alice))
    await button(/^Pay /).click()
    await says('No wallet was found in this browser')
    expect(problems).toEqual([])
  })

  test('a phone is offered a wallet app first, and no QR code', async () => {
    const draft = await draftOf(alice)
    await open(draft, undefined, { hasTouch: true })
    const app = page.getByRole('link', { name: 'Open in MetaMask' })
    await app.waitFor()
    expect(await app.getAttribute('class')).toContain('primary')
    expect(await button(/^Pay /).getAttribute('class')).not.toContain('primary')
    expect(await app.getAttribute('href')).toContain(`/pay/${draft.handle}`)
    await page.getByText('In a wallet app or on another phone').click()
    expect(await page.locator('img.qr').isVisible()).toBe(false)
    expect(problems).toEqual([])
  })

  test('a wide screen folds the payment details, and shows a QR code', async () => {
    await open(await draftOf(alice), undefined, { width: 1200 })
    await page.locator('img.qr').waitFor()
    expect(await shown('Transaction data').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Open in MetaMask' }).count()).toBe(0)
    await page.getByText('Payment details').click()
    await says('Transaction data')
  })

  test('a payment from elsewhere is shown at once', async () => {
    const draft = await draftOf(alice, { asset: 'XRP' })
    await open(draft)
    await says('Waiting for the payment.')
    await says('Without the destination tag, the payment cannot be matched.')
    await world.pay(draft)
    await world.settle()
    await says(/10\sUSD \(10,000 credits\) added/)
  })

  test('and without scripts all details are on the page, with a link to refresh it', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await open(draft, undefined, { script: false })
    expect(await page.getByText(draft.handle, { exact: true }).count()).toBeGreaterThan(0)
    expect(await page.locator('#wallet').isVisible()).toBe(false)
    expect(await page.locator('[data-step="connect"]').isVisible()).toBe(false)
    expect(await page.locator('button[data-copy]').first().isVisible()).toBe(false)
    await world.pay(draft)
    await world.confirmAll()
    await page.getByRole('link', { name: 'Refresh' }).click()
    await says(/10\sUSD \(10,000 credits\) added/)
  })
})

describe('the time of a quote', () => {
  test('is counted on the page, and the page changes at its end', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pass(597)
    await open(draft, {})
    await says(/^0:0\d$/)
    await world.pass(10)
    await says('This quote has expired')
    expect(await button(/^Pay /).count()).toBe(0)
  })

  test('expired, a new quote for the same can be made by one press, three times', async () => {
    const draft = await draftOf(alice, { asset: 'FLR', credits: 20_000 })
    await world.pass(600)
    await open(draft, undefined, { script: false })
    for (const left of [2, 1, 0]) {
      const before = page.url()
      await button('New quote').click()
      await says('Waiting for the payment.')
      expect(page.url(), `${left} left`).not.toBe(before)
      await page.getByRole('heading', { name: 'Pay 1,000' }).waitFor()
      await world.pass(600)
      await page.reload()
    }
    await says('This quote has expired')
    expect(await button('New quote').count()).toBe(0)
  })

  test('expired, there is no new quote before new terms are accepted', async () => {
    const carol = await buyer(world, 'carol')
    const draft = await draftOf(carol, { asset: 'FLR' })
    await world.pass(600)
    const { address } = world.devnet.people.carol.account
    await world.database.sql`update accounts set terms_version = 'old' where wallet = ${address}`
    await open(draft)
    await button('New quote').click()
    await says(/The current terms \(version .+\) must be accepted first\./)
    expect(new URL(page.url()).pathname).toBe(`/pay/${draft.handle}`)
  })

  test('expired, a payment still counts and the page says how', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pass(600)
    await open(draft)
    await world.pay(draft, BigInt(draft.amount) / 2n)
    await world.confirmAll()
    await says('You paid 250\u00a0FLR of 500\u00a0FLR')
    await says('The payment arrived after the quote had expired')
  })
})

test.each([
  'WDG',
  'FLR',
  'XRP',
])('in %s, payment details fit on a wide screen, and are folded where a wallet pays', async (asset) => {
  await open(await draftOf(alice, { asset }), {}, { width: 1280 })
  const folded = page.locator('details.more:not([open])')
  expect(await folded.count()).toBe(asset === 'XRP' ? 0 : 2)
  for (const summary of await page.locator('details.more > summary').all()) await summary.click()
  expect(await folded.count()).toBe(0)
  const { overflow, small } = await page.evaluate(() => ({
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    small: [...document.querySelectorAll('button, .button')]
      .map((control) => control.getBoundingClientRect())
      .filter((box) => box.width > 0 && (box.height < 44 || box.width < 44)),
  }))
  expect([overflow, small]).toEqual([0, []])
})
