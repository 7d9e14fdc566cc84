import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import { type ButtonData, packed } from '#src/actions/codec.ts'
import { createChallenge } from '#src/auth/service.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import {
  claimConnectCode,
  connectScopes,
  createConnectCode,
  peekConnectCode,
} from '#src/recipients/connect.ts'
import { RECIPIENTS_MAX } from '#src/recipients/model.ts'
import { walletCode } from '../chain/contracts.ts'
import { openBrowser } from '../support/browser.ts'
import { testClock } from '../support/clock.ts'
import { hurry } from './hurry.ts'
import { openSite, type Site } from './site.ts'
import { giveWallet, type PageWallet, type WalletOptions } from './wallet.ts'

/** Connecting a chat in a real browser, with a wallet in it that signs. */

const WAIT_MS = 10_000
const BOB = PEOPLE.bob.account.address
const SHORT = '0x7099…79C8'

let browser: Browser
let devnet: Devnet
let rpc: RpcProxy
let site: Site
let base: string
let context: BrowserContext | undefined
let page: Page
let problems: string[]
let chatId = 5000

beforeAll(async () => {
  ;[browser, devnet] = await Promise.all([
    openBrowser(),
    startDevnet({ startsAt: testClock().now() }),
  ])
  rpc = await startRpcProxy(devnet.rpcUrl)
  site = await openSite({ FLARE_RPC_URLS: rpc.url, TRUST_PROXY: '1' })
  base = await site.listen()
})
afterAll(async () => {
  await browser.close()
  await site.close()
  await rpc.close()
  await devnet.close()
})
afterEach(async () => {
  await context?.close()
  context = undefined
})

/** A chat that asks to be connected, and the path of its page. */
async function askedChat(
  over: { spend?: boolean; locale?: 'en' | 'ar'; goesOn?: ButtonData } = {},
) {
  chatId += 1
  const made = await createConnectCode(site.app, {
    chat: { id: chatId, title: 'Ann Lee', username: 'annlee' },
    by: { id: chatId },
    locale: 'en',
    ...over,
  })
  const path = new URL(made.url).pathname
  return { ...made, path, code: path.replace('/connect/', '') }
}

async function open(
  path: string,
  wallet?: WalletOptions,
  { script = true, timezone = 'America/New_York' } = {},
): Promise<PageWallet> {
  context = await browser.newContext({
    javaScriptEnabled: script,
    viewport: { width: 360, height: 780 },
    timezoneId: timezone,
    extraHTTPHeaders: { 'x-forwarded-for': `198.51.100.${chatId % 250}` },
  })
  context.setDefaultTimeout(WAIT_MS)
  page = await context.newPage()
  problems = []
  page.on('pageerror', (error) => problems.push(error.message))
  await hurry(page)
  const none = { asked: [], decline: () => undefined, chain: () => '' }
  const wallets = wallet === undefined ? none : await giveWallet(page, devnet.rpcUrl, wallet)
  await page.goto(base + path)
  return wallets
}

/** Opens a page without a wallet and returns the message for Bob to sign elsewhere. */
async function shownMessage(path: string): Promise<string> {
  await open(path)
  await page.getByText('Sign elsewhere', { exact: true }).click()
  await page.getByLabel('Address of your wallet').fill(BOB)
  await button('Show the message').click()
  return (await page.locator('#text').textContent()) ?? ''
}

async function paste(signature: string): Promise<void> {
  await page.getByLabel('Signature').fill(signature)
  await button('Check the signature').click()
}

/** Claims a code with a signature, on another screen. */
async function claimElsewhere(code: string, name: keyof typeof PEOPLE): Promise<void> {
  const { account } = PEOPLE[name]
  const asked = { wallet: account.address, scopes: [...connectScopes(false)], label: undefined }
  const { message } = await createChallenge(site.app, asked)
  const signature = await account.signMessage({ message })
  await claimConnectCode(site.app, { code, message, signature })
}

const button = (name: RegExp | string) => page.getByRole('button', { name })
const says = (text: string | RegExp) => page.getByText(text).first().waitFor()
const links = () => listChatLinks(site.app, chatId)
const SIGN = 'Yes, sign in with my wallet'

describe('with a wallet', () => {
  test('a reader sees what is allowed and the chat’s code, signs, and the chat is linked', async () => {
    const { path, match } = await askedChat()
    const wallet = await open(path, {})
    await says(/Ann Lee \(@annlee\).?, private/)
    await says('receive alerts, read and manage your watches')
    await page.getByText(match, { exact: true }).waitFor()
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await says(`${SHORT} is now linked to the chat`)
    expect(await links()).toMatchObject([
      { wallet: BOB, scopes: ['read', 'write'], timezone: 'America/New_York', name: 'Ann Lee' },
    ])
    expect(wallet.asked).not.toContain('eth_sendTransaction')
    expect(problems).toEqual([])
  })

  test('that has a name, the reader can allow the chat to spend', async () => {
    const { path } = await askedChat()
    await open(path, { name: 'Test Wallet' })
    await page.getByLabel('Also allow the chat to spend credits').check()
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect((await links())[0]?.scopes).toEqual(['read', 'write', 'spend'])
  })

  test('of two, the reader chooses one', async () => {
    const { path } = await askedChat()
    context = await browser.newContext()
    page = await context.newPage()
    page.setDefaultTimeout(WAIT_MS)
    await giveWallet(page, devnet.rpcUrl, { name: 'First' })
    await page.addInitScript(() => {
      const provider = { request: async () => ['0x0000000000000000000000000000000000000001'] }
      const detail = { info: { uuid: 'two', name: 'Second' }, provider }
      window.addEventListener('eip6963:requestProvider', () => {
        window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
      })
    })
    await page.goto(base + path)
    await button('Second').waitFor()
    await button('First').click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
  })

  test('a chat that may spend keeps that right unless the reader removes it', async () => {
    const { path } = await askedChat()
    await open(path, {})
    await page.getByLabel('Also allow the chat to spend').check()
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()

    const again = async (unticks: boolean) => {
      await context?.close()
      chatId -= 1
      const made = await askedChat()
      await open(made.path, {})
      if (unticks) {
        await page.getByLabel('Also allow the chat to spend').check()
        await page.getByLabel('Also allow the chat to spend').uncheck()
      }
      await button(SIGN).click()
      await page.getByRole('heading', { name: 'Connected' }).waitFor()
      return (await links())[0]?.scopes
    }
    expect(await again(false)).toEqual(['read', 'write', 'spend'])
    expect(await again(true)).toEqual(['read', 'write'])
  })

  test('without scripts a message without the right to spend of the chat says that it is removed', async () => {
    const { path } = await askedChat()
    await open(path, {})
    await page.getByLabel('Also allow the chat to spend').check()
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await context?.close()
    chatId -= 1
    const made = await askedChat()
    await open(made.path, undefined, { script: false })
    await page.getByLabel('Address of your wallet').fill(BOB)
    await button('Show the message').click()
    await page.getByText('This message removes the permission.').waitFor()
    await page.getByLabel('Also allow the chat to spend').check()
    await button('Show the message').click()
    await page.getByRole('heading', { name: 'Sign this message exactly as it is' }).waitFor()
    expect(await page.getByText('This message removes the permission.').count()).toBe(0)
  })

  test('a chat that requests to spend is shown with that request, and the box is not ticked', async () => {
    const { path } = await askedChat({ spend: true })
    await open(path, {})
    expect(await page.getByLabel('Also allow the chat to spend').isChecked()).toBe(false)
    await page.getByText('The chat requests this permission.').waitFor()
  })

  test('a linked chat that requests to spend leads to a page for that right alone, which names its wallet', async () => {
    const { path } = await askedChat()
    await open(path, {})
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await context?.close()
    chatId -= 1
    const made = await askedChat({ spend: true })
    const wallet = await open(made.path, {})
    await page.getByRole('heading', { name: 'Allow spending', level: 1 }).waitFor()
    await page.getByRole('row', { name: `Wallet ${SHORT}` }).waitFor()
    expect(await page.getByText('Connect a wallet').count()).toBe(0)
    await button('Yes, sign with this wallet').click()
    await says('Select the box to allow spending')
    expect(wallet.asked).not.toContain('personal_sign')
    await page.getByLabel('Also allow the chat to spend').check()
    await button('Yes, sign with this wallet').click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect(await links()).toMatchObject([{ wallet: BOB, scopes: ['read', 'write', 'spend'] }])
    expect(problems).toEqual([])
  })

  test('for a purchase shows the order before the button', async () => {
    const { code } = await askedChat()
    await claimElsewhere(code, 'bob')
    chatId -= 1
    const order = { credits: 10_000, quantity: 2, periods: 6, renew: true }
    const bought = await askedChat({
      spend: true,
      goesOn: packed('topup.buy', { asset: 'FLR', ...order }),
    })
    await open(bought.path, {})
    const price = priceSlots(order.quantity, order.periods).totalCredits
    const mainText = async () => (await page.locator('main').innerText()).replaceAll('\u00a0', ' ')
    const text = await mainText()
    for (const part of [
      'Your order',
      '10,000 credits',
      'including 2 slots, 180 days',
      `${price.toLocaleString('en')} credits`,
      '10 USD',
      'You pay in FLR. If the box is selected, your wallet shows the exact amount right after the sign-in, and pays only if you confirm.',
      'Auto-renew is on:',
      'If you select the box below, it can also',
      'buy and renew slots with this wallet’s credits',
      'connect the chat again without selecting the box',
    ]) {
      expect(text).toContain(part)
      expect(text.indexOf(part)).toBeLessThan(text.indexOf('Yes, sign with this wallet'))
    }
    expect(problems).toEqual([])
    await context?.close()
    chatId -= 1
    const { quantity, periods, renew } = order
    const owned = await askedChat({
      spend: true,
      goesOn: packed('slots.quote', { quantity, periods, renew }),
    })
    await open(owned.path, {})
    expect(await mainText()).toContain('Paid with this wallet’s credits. The chat asks once more')
    expect(await mainText()).not.toContain('10,000 credits')
  })

  test('of another account than the linked one is refused, and signs nothing', async () => {
    const { code, path: first } = await askedChat()
    expect(first).toContain(code)
    await claimElsewhere(code, 'carol')
    chatId -= 1
    const { path } = await askedChat({ spend: true })
    const wallet = await open(path, {})
    await page.getByLabel('Also allow the chat to spend').check()
    await button('Yes, sign with this wallet').click()
    await says('Your wallet offers another account.')
    expect(wallet.asked).not.toContain('personal_sign')
  })

  test('on another chain is asked to switch to Flare, and can sign without that', async () => {
    const first = await askedChat()
    const wallet = await open(first.path, { chainId: '0x1', knows: ['0x1'] })
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect(wallet.chain()).toBe('0xe')
    await context?.close()
    const second = await askedChat()
    const other = { chainId: '0x1', declines: ['wallet_switchEthereumChain'] }
    const stays = await open(second.path, other)
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect(stays.chain()).toBe('0x1')
  })

  test.each([
    'eth_requestAccounts',
    'personal_sign',
  ])('whose user declines %s links nothing, and can be asked again', async (method) => {
    const { path } = await askedChat()
    const wallet = await open(path, { declines: [method] })
    await button(SIGN).click()
    await says('You declined the request in your wallet. Nothing was linked.')
    expect(await links()).toEqual([])
    wallet.decline()
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
  })

  test('says to people who hear the page which steps are done, and which one is next', async () => {
    const { path } = await askedChat()
    await open(path, { declines: ['personal_sign'] })
    await button(SIGN).click()
    await says('You declined the request in your wallet. Nothing was linked.')
    const steps = await page
      .getByRole('listitem')
      .filter({ has: page.locator('[data-done]') })
      .all()
    const texts = await Promise.all(steps.map((step) => step.innerText()))
    expect(texts.map((text) => text.endsWith('Done'))).toEqual([true, true, false, false])
    const status = page.locator('body > [role="status"]')
    expect(texts[2]).toContain(await status.textContent())
  })

  test('that signs for another account links nothing', async () => {
    const { path } = await askedChat()
    await open(path, { owner: 'bob', signer: 'carol' })
    await button(SIGN).click()
    await says('This signature is not from the account you chose.')
    expect(await links()).toEqual([])
  })

  test('that signs after five minutes is asked to sign a new message', async () => {
    const { path } = await askedChat()
    await open(path, {})
    // Between the message and the signature six minutes pass.
    await page.exposeFunction('wait', () => site.clock.advance(6 * 60))
    await page.evaluate(() => {
      const { ethereum, wait } = window as unknown as {
        ethereum: { request(call: { method: string }): Promise<unknown> }
        wait(): Promise<void>
      }
      const { request } = ethereum
      let isFirst = true
      ethereum.request = async (call) => {
        if (call.method === 'personal_sign' && isFirst) {
          isFirst = false
          await wait()
        }
        return await request(call)
      }
    })
    await button(SIGN).click()
    await says('The first message was older than 5 minutes. Sign the new message.')
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
  })

  test('that is a contract is checked on the chain, and its signature can be checked again after an outage', async () => {
    const { path } = await askedChat()
    const carol = PEOPLE.carol.account.address
    await devnet.client.setCode({ address: carol, bytecode: walletCode(BOB) })
    await open(path, { owner: 'carol', signer: 'bob' })
    await rpc.down()
    await button(SIGN).click()
    await says('Your contract wallet cannot be checked right now.')
    expect(await links()).toEqual([])
    await rpc.up()
    await button('Check again').click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect((await links())[0]?.wallet).toBe(carol)
  })

  test('while the service is unreachable the page says so, and can send the signature again', async () => {
    const { path } = await askedChat()
    await open(path, {})
    let isUnavailable = true
    await page.route('**/connect/*', (route) => {
      const isClaim = route.request().postData()?.includes('answer=claim') === true
      return isClaim && isUnavailable ? route.abort() : route.continue()
    })
    await button(SIGN).click()
    await says('The service is not responding.')
    isUnavailable = false
    await button('Check again').click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
  })
})

test('a wallet at its limit of recipients sees that limit', async () => {
  for (let count = 0; count < RECIPIENTS_MAX; count += 1) {
    await claimElsewhere((await askedChat()).code, 'alice')
  }
  const { path, code } = await askedChat()
  await open(path, { owner: 'alice' })
  await button(SIGN).click()
  await says('This wallet has the maximum number of recipients.')
  expect(await links()).toEqual([])
  expect((await peekConnectCode(site.app, code)).state).toBe('open')
})

describe('without a wallet in the browser', () => {
  test('the page says so and shows other ways to sign', async () => {
    await open((await askedChat()).path)
    await button(SIGN).click()
    await says('No wallet was found in this browser.')
    expect(await page.getByRole('link', { name: 'MetaMask' }).isVisible()).toBe(true)
    expect(problems).toEqual([])
  })

  test.each([true, false])('a pasted signature links the chat, scripts: %s', async (script) => {
    const { path } = await askedChat()
    await open(path, undefined, { script })
    if (script) await page.getByText('Sign elsewhere', { exact: true }).click()
    await page.getByLabel('Also allow the chat to spend').check()
    await page.getByLabel('Address of your wallet').fill(BOB.toLowerCase())
    await button('Show the message').click()
    const message = (await page.locator('#text').textContent()) ?? ''
    expect(message).toContain('spend')
    await page.getByLabel('Signature').fill('0x12')
    await button('Check the signature').click()
    await says('The signature does not belong to this message and wallet.')
    expect(await links()).toEqual([])
    // The address is still filled in; a message works once.
    await button('Show the message').click()
    const again = (await page.locator('#text').textContent()) ?? ''
    expect(again).not.toBe(message)
    const signature = await PEOPLE.bob.account.signMessage({ message: again })
    await page.getByLabel('Signature').fill(` ${signature}\n`)
    await button('Check the signature').click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    const [link] = await links()
    expect(link).toMatchObject({ wallet: BOB, scopes: ['read', 'write', 'spend'] })
    if (script) expect(link?.timezone).toBe('America/New_York')
  })

  test('a signature of another wallet is refused', async () => {
    const message = await shownMessage((await askedChat()).path)
    await paste(await PEOPLE.carol.account.signMessage({ message }))
    await says('The signature does not belong to this message and wallet.')
    expect(await links()).toEqual([])
  })

  test('a message with more rights than were requested is refused', async () => {
    const message = await shownMessage((await askedChat()).path)
    const more = message.replace('permissions: read, write', 'permissions: read, write, spend')
    expect(more).not.toBe(message)
    await page.locator('textarea[name="message"]').evaluate((field, text) => {
      if (field instanceof HTMLTextAreaElement) field.value = text
    }, more)
    await paste(await PEOPLE.bob.account.signMessage({ message: more }))
    await says('The message must be signed exactly as it was returned.')
    expect(await links()).toEqual([])
  })
})

describe('a reader whose chat shows something else', () => {
  test('is advised not to sign, and the link is refused', async () => {
    const { path, code } = await askedChat()
    await open(path, {}, { script: false })
    await button('My chat shows something else').click()
    await says('Do not sign')
    expect((await peekConnectCode(site.app, code)).state).toBe('refused')
    const signing = await site.post(path, `answer=message&wallet=${BOB}`)
    expect(signing.status).toBe(303)
  })
})

describe('a link', () => {
  test('expires after 15 minutes, also while its page is open', async () => {
    const { path } = await askedChat()
    await open(path, {})
    site.clock.advance(15 * 60)
    await button(SIGN).click()
    await says('This link has expired')
    expect(await links()).toEqual([])
  })

  test('that another wallet used meanwhile shows that wallet, and changes nothing', async () => {
    const { path, code } = await askedChat()
    await open(path, {})
    await claimElsewhere(code, 'carol')
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await says(`${shortAddress(PEOPLE.carol.account.address)} is now linked to the chat`)
    expect((await links()).map(({ wallet }) => wallet)).toEqual([PEOPLE.carol.account.address])
  })

  test('that was used shows the linked wallet until it expires', async () => {
    const { path } = await askedChat()
    await open(path, {})
    await button(SIGN).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect((await site.get(path)).text).toContain(`${SHORT} is now linked to the chat`)
    site.clock.advance(15 * 60)
    expect((await site.get(path)).text).not.toContain(SHORT)
  })
})
