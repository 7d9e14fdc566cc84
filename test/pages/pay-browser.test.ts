import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { TopupDraft } from '../generated/api.ts'
import { openBrowser } from '../support/browser.ts'
import { buyer, draftOf, type PayWorld, payWorld, topupOf } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

/** Paying in a real browser, with a wallet in it that signs on the local chain. */

let browser: Browser
let world: PayWorld
let alice: Client
let base: string
let context: BrowserContext
let page: Page
let problems: string[]

beforeAll(async () => {
  ;[browser, world] = await Promise.all([openBrowser(), payWorld()])
  alice = await buyer(world, 'alice')
  base = await world.server.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await browser.close()
  await world.close()
})
afterEach(() => context.close())

/** What a wallet is like. */
interface WalletOptions {
  /** The chain it is on at first. */
  readonly chainId?: string
  /** Chains it knows. */
  readonly knows?: readonly string[]
  /** Methods that its user declines. */
  readonly declines?: readonly string[]
  /** Says its name, as wallets do. */
  readonly name?: string
}

async function open(
  draft: TopupDraft,
  wallet?: WalletOptions,
  { script = true, width = 360 } = {},
): Promise<string[]> {
  context = await browser.newContext({
    javaScriptEnabled: script,
    viewport: { width, height: 780 },
  })
  page = await context.newPage()
  problems = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  const asked = wallet === undefined ? [] : await giveWallet(wallet)
  await page.goto(`${base}/pay/${draft.handle}`)
  return asked
}

/** Puts a wallet of Bob's into the page. @returns what it is asked for, as it happens */
async function giveWallet({
  chainId = '0xe',
  knows = ['0xe'],
  declines = [],
  name,
}: WalletOptions) {
  const asked: string[] = []
  const bob = world.devnet.people.bob.account.address
  let chain = chainId
  const known = new Set(knows)
  const answer = async (method: string, params: readonly unknown[]) => {
    asked.push(method)
    const [first] = params as readonly [{ chainId: string }]
    if (declines.includes(method)) return { error: { code: 4001 } }
    if (method === 'eth_requestAccounts') return { result: [bob] }
    if (method === 'eth_chainId') return { result: chain }
    if (method === 'wallet_switchEthereumChain') {
      if (!known.has(first.chainId)) return { error: { code: 4902 } }
      chain = first.chainId
      return { result: null }
    }
    if (method === 'wallet_addEthereumChain') {
      known.add(first.chainId)
      chain = first.chainId
      return { result: null }
    }
    // Enough gas named by the wallet, so that nobody asks first whether it will fail.
    const sent = method === 'eth_sendTransaction' ? [{ ...first, gas: '0x7a120' }] : params
    const response = await fetch(world.devnet.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: sent }),
    })
    return response.json()
  }
  await page.exposeFunction('askWallet', answer)
  await page.addInitScript((label: string | undefined) => {
    const { askWallet } = window as unknown as {
      askWallet(method: string, params: unknown[]): Promise<{ result: unknown; error?: object }>
    }
    const provider = {
      request: async ({ method, params = [] }: { method: string; params?: unknown[] }) => {
        const { result, error } = await askWallet(method, params)
        if (error !== undefined) throw error
        return result
      },
    }
    if (label === undefined) return Object.assign(window, { ethereum: provider })
    const detail = Object.freeze({ info: { uuid: 'one', name: label }, provider })
    return window.addEventListener('eip6963:requestProvider', () => {
      window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    })
  }, name)
  return asked
}

const button = (name: RegExp | string) => page.getByRole('button', { name })
const says = (text: string | RegExp) => page.getByText(text).waitFor()

describe('with a wallet', () => {
  test('a token is approved, paid and credited before the reader’s eyes', async () => {
    const draft = await draftOf(alice, { asset: 'WDG' })
    const asked = await open(draft, {})
    await button('Connect wallet').click()
    await button(/^Approve 200/).click()
    await button(/^Pay 200/).click()
    await says('Sent. You may close this page')
    await world.confirmAll()
    await says(/11,000 credits added/)
    expect(await page.locator('#wallet').count()).toBe(0)
    expect(asked.filter((method) => method === 'eth_sendTransaction')).toHaveLength(2)
    expect((await topupOf(alice, draft)).paidAmount).toBe(draft.amount)
    expect(problems).toEqual([])
  })

  test('a coin is paid in one step', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await open(draft, { name: 'Test Wallet' })
    await button('Test Wallet').click()
    expect(await button(/^Approve/).count()).toBe(0)
    await button(/^Pay 500/).click()
    await says('Sent. You may close this page')
    await world.confirmAll()
    await says(/10,000 credits added/)
    expect((await topupOf(alice, draft)).status).toBe('credited')
  })

  test('on another chain is asked to switch, and told of Flare where it does not know it', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const asked = await open(draft, { chainId: '0x1', knows: ['0x1'] })
    await button('Connect wallet').click()
    await button(/^Pay 500/).waitFor()
    expect(asked).toContain('wallet_addEthereumChain')
  })

  test('that declines has paid nothing, and can be asked again', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await open(draft, { declines: ['eth_sendTransaction'] })
    await button('Connect wallet').click()
    await button(/^Pay 500/).click()
    await says('You declined in your wallet. Nothing was paid.')
    expect(await button(/^Pay 500/).isEnabled()).toBe(true)
    expect((await topupOf(alice, draft)).status).toBe('draft')
  })

  test('whose transaction fails is told so, and offers to pay again', async () => {
    const draft = await draftOf(alice, { asset: 'WFLR' })
    await open(draft, {})
    await button('Connect wallet').click()
    await button(/^Approve 500/).click()
    await button(/^Pay 500/).waitFor()
    await world.contracts.setPaused(true)
    await button(/^Pay 500/).click()
    await says('The transaction failed on the chain. Nothing was paid.')
    await world.contracts.setPaused(false)
    await button(/^Pay 500/).click()
    await says('Sent. You may close this page')
  })

  test('that has paid is not asked again after a reload', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await open(draft, {})
    await button('Connect wallet').click()
    await button(/^Pay 500/).click()
    await says('Sent. You may close this page')
    await page.reload()
    await says('Sent. You may close this page')
    expect(await button('Connect wallet').isVisible()).toBe(false)
    await world.confirmAll()
  })
})

describe('without a wallet', () => {
  test('the page says so', async () => {
    await open(await draftOf(alice))
    await button('Connect wallet').click()
    await says('No wallet found in this browser')
    expect(problems).toEqual([])
  })

  test('a payment from elsewhere is seen at once', async () => {
    const draft = await draftOf(alice, { asset: 'XRP' })
    await open(draft)
    await says('Waiting for the payment.')
    await world.pay(draft)
    await world.settle()
    await says(/10,000 credits added/)
  })

  test('and without any script everything is on the page, with a link to look again', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await open(draft, undefined, { script: false })
    expect(await page.getByText(draft.handle, { exact: true }).count()).toBeGreaterThan(0)
    expect(await page.locator('#wallet').isVisible()).toBe(false)
    expect(await page.locator('button[data-copy]').first().isVisible()).toBe(false)
    await world.pay(draft)
    await world.confirmAll()
    await page.getByRole('link', { name: 'Refresh' }).click()
    await says(/10,000 credits added/)
  })
})

test('the page fits a small screen', async () => {
  for (const asset of ['WDG', 'FLR', 'XRP']) {
    const draft = await draftOf(alice, { asset })
    for (const width of [320, 360, 1280]) {
      await open(draft, undefined, { width })
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      expect([asset, width, overflow]).toEqual([asset, width, 0])
      const small = await page.evaluate(() =>
        [...document.querySelectorAll('button, .button')]
          .map((control) => control.getBoundingClientRect())
          .filter((box) => box.width > 0 && (box.height < 44 || box.width < 44)),
      )
      expect(small).toEqual([])
      await context.close()
    }
  }
  await open(await draftOf(alice))
})
