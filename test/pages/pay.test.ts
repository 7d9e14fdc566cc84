import { formatUnits, numberToHex } from 'viem/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServer } from '#src/http/server.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { registerPages } from '#src/pages/index.ts'
import type { TopupDraft } from '../generated/api.ts'
import { buyer, draftOf, type PayWorld, payWorld, topupOf } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

let world: PayWorld
let alice: Client

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
})
afterAll(() => world.close())

async function get(path: string) {
  const { statusCode, headers, payload } = await world.server.inject({ method: 'GET', url: path })
  return { status: statusCode, headers, html: payload }
}
const pageOf = ({ handle }: TopupDraft, query = '') => get(`/pay/${handle}${query}`)
/** The visible text in one line. */
function readingOf({ html }: { readonly html: string }) {
  const main = html.replace(/^[\s\S]*<main[^>]*>|<\/main>[\s\S]*$/g, '')
  const bare = main.replace(/<[^>]*>/g, ' ').replace(/[\u2066-\u2069]/g, '')
  return { text: bare.replace(/[\n ]+/g, ' ') }
}
const headingOf = ({ html }: { readonly html: string }) =>
  /<h1>.*?<\/h1>/s
    .exec(html)?.[0]
    .replace(/<span[^>]* hidden>.*?<\/span>|<[^>]*>/g, '')
    .trim()
const statusOf = async ({ handle }: TopupDraft, query = '') => {
  const { status, headers, html } = await get(`/pay/${handle}/status${query}`)
  expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
  return JSON.parse(html)
}

describe('the pay page', () => {
  test('shows approval, transaction and QR code of a payment in a token', async () => {
    const draft = await draftOf(alice, { asset: 'WFLR', credits: 12_345 })
    const { status, headers, html } = await pageOf(draft)
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
    expect(html).toContain('Pay 617.25\u00a0WFLR')
    const { approval, transaction } = draft
    for (const value of [
      approval?.token,
      approval?.spender,
      approval?.amount,
      transaction?.data,
      draft.handle,
    ]) {
      expect(html).toContain(`<bdi dir="ltr">${value}</bdi>`)
    }
    expect(html).toMatch(/<img class="qr" src="data:image\/svg\+xml;base64,[\w+/=]+"/)
    expect(html).toContain('12,345 credits')
    expect(html).toContain('12.35\u00a0USD')
  })

  test('shows the exact amount and the data of a plain transfer', async () => {
    await world.contracts.setFeed('FLR/USD', 300_000n, 7)
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
    const { html } = await pageOf(draft)
    expect(html).toContain('333.34\u00a0FLR')
    expect(html).toContain(`data-copy="${draft.handle}"`)
    expect(html).toContain(`<bdi dir="ltr">${world.contracts.payTo}</bdi>`)
  })

  test('shows address, tag and wallet link of XRP, and no wallet of the browser', async () => {
    const draft = await draftOf(alice, { asset: 'XRP' })
    const { html } = await pageOf(draft)
    expect(html).toContain(`<code class="tag"><bdi dir="ltr">${draft.destinationTag}</bdi></code>`)
    expect(html).toContain(`href="${draft.pageQr.replaceAll('&', '&amp;')}"`)
    expect(html).not.toContain('data-wallet=')
  })

  test('shows the way to pay XRP before its details', async () => {
    const { html } = await pageOf(await draftOf(alice, { asset: 'XRP' }))
    expect(html.indexOf('Open Xaman')).toBeGreaterThan(0)
    expect(html.indexOf('Open Xaman')).toBeLessThan(html.indexOf('Waiting for the payment.'))
    expect(html.indexOf('class="qr"')).toBeLessThan(html.indexOf('class="tag"'))
  })

  test('sums up the order in credits and dollars, with the slots that are bought', async () => {
    const body = { asset: 'WDG', then: { slots: 2, periods: 1 } }
    const { text } = readingOf(await pageOf(await draftOf(alice, body)))
    expect(text).toContain('10,000 credits 10\u00a0USD')
    expect(text).toContain('plus a bonus 1\u00a0USD (1,000 credits)')
    expect(text).toContain('including 2 slots, 30 days 1\u00a0USD (1,000 credits)')
    expect(text).toContain('Total 200\u00a0WDG')
    expect(text).toContain('Smallest payment: 10\u00a0USD (10,000 credits).')
  })

  test.each([
    ['is larger', { credits: 20_000 }],
    ['is for credits alone', { credits: 10_000 }],
    ['leaves no credits over', { then: { slots: 4, periods: 5 } }],
  ])('says nothing of the smallest top-up if it %s', async (_what, body) => {
    const draft = await draftOf(alice, { asset: 'FLR', ...body })
    expect(readingOf(await pageOf(draft)).text).not.toContain('Smallest payment')
  })

  test('says of a refused payment where people reach the operator', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pay(draft, 1n)
    await world.confirmAll()
    const app = { ...world.app, supportUrl: 'mailto:help@example.org' }
    const server = createServer(app, { trustProxy: 0, upstreams: {} })
    await server.register(registerPages, { app })
    const { payload } = await server.inject(`/pay/${draft.handle}`)
    await server.close()
    const [main] = payload.split('</main>')
    expect(main).toContain('Contact the operator of this service')
    expect(main).toContain('<a class="button" href="mailto:help@example.org" rel="noreferrer">')
  })

  test('folds what is needed only for a payment by hand', async () => {
    const { html } = await pageOf(await draftOf(alice, { asset: 'WFLR' }))
    const folded = html.split('<details class="more">').slice(1).join('')
    expect(folded).toContain('Transaction data')
    expect(html).not.toMatch(/<details[^>]* open/)
    expect(html.indexOf('Total')).toBeLessThan(html.indexOf('id="send"'))
    expect(html.indexOf('id="send"')).toBeLessThan(html.indexOf('Transaction data'))
  })

  test('is a receipt with dollars and payer once it is paid', async () => {
    const draft = await draftOf(alice, { asset: 'WDG' })
    await world.pay(draft)
    await world.confirmAll()
    const answer = await pageOf(draft)
    const { text } = readingOf(answer)
    expect(text).toMatch(/Receipt Date \w+ \d+, 2026/)
    expect(text).toContain('Paid from 0x7099…79C8')
    expect(text).toContain('Added 11\u00a0USD (11,000 credits)')
    expect(text).toContain('Paid 200\u00a0WDG · 10\u00a0USD')
    expect(text).not.toContain('Your order')
    expect(answer.html).not.toContain('id="send"')
  })

  test('says which slots the credits bought, and how many credits are left', async () => {
    const draft = await draftOf(alice, { asset: 'FLR', then: { slots: 1, periods: 1 } })
    await world.pay(draft)
    await world.confirmAll()
    const { text } = readingOf(await pageOf(draft))
    expect(text).toContain('Spent: 1 slot, 30 days 0.50\u00a0USD (500 credits)')
    expect(text).toContain('Remaining from the top-up 9.50\u00a0USD (9,500 credits)')
  })

  test('shows times in the time zone of its link, and keeps it in the link to a wallet app', async () => {
    const draft = await draftOf(alice)
    expect((await pageOf(draft)).html).toMatch(/locked until [^<]*UTC/)
    const { html } = await pageOf(draft, '?lang=de&tz=Asia%2FKolkata')
    expect(html).toContain('UTC+5:30')
    expect(html).toContain(`/pay/${draft.handle}?lang=de&amp;tz=Asia%2FKolkata"`)
    expect((await pageOf(draft, '?tz=nowhere')).html).toMatch(/locked until [^<]*UTC/)
  })

  test('has no inline scripts and loads nothing from other hosts', async () => {
    const { headers, html } = await pageOf(await draftOf(alice))
    expect(headers['content-security-policy']).toContain("script-src 'self'")
    expect(html).not.toMatch(
      /<script(?![^>]* src="\/scripts\/)|<style|\sstyle=|\son\w+=|javascript:/i,
    )
    expect(html).not.toMatch(/(?:src|<link[^>]*href)="(?:https?:)?\/\//)
    for (const script of ['/scripts/pay.js', '/scripts/pay-wallet.js']) {
      const file = await get(script)
      expect(file.headers['content-type']).toContain('javascript')
    }
    expect((await get('/scripts/')).status).toBe(404)
  })

  test('shows only the short address of the wallet', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const { html } = await pageOf(draft)
    expect(html).not.toContain(draft.wallet)
    expect(Object.keys(await statusOf(draft)).toSorted()).toEqual(
      [
        'amount',
        'asset',
        'bonusCredits',
        'chainAnswers',
        'confirmations',
        'creditedCredits',
        'credits',
        'decimals',
        'expiresAt',
        'paidAmount',
        'reason',
        'requiredConfirmations',
        'status',
        'step',
        'text',
        'txHash',
      ].toSorted(),
    )
  })

  test.each(LOCALES)('reads in %s, in every state of it', async (locale) => {
    const drafts = [await draftOf(alice), await draftOf(alice, { asset: 'XRP' })]
    for (const draft of drafts) {
      const { html } = await pageOf(draft, `?lang=${locale}`)
      expect(html).toContain(`<html lang="${locale}"`)
      expect(html).not.toMatch(/\{\{|undefined/)
    }
  })

  test.each([
    'none',
    '0x12',
    `0x${'0'.repeat(64)}`,
    `0x${'z'.repeat(64)}`,
  ])('does not open %s', async (handle) => {
    const { status, html } = await get(`/pay/${handle}`)
    expect(status).toBe(404)
    expect(html).toContain('This link does not open a payment')
    expect((await get(`/pay/${handle}/status`)).status).toBe(404)
  })
})

describe('the status', () => {
  test('follows a payment from the quote to the credits', async () => {
    const draft = await draftOf(alice, { asset: 'WDG' })
    expect(await statusOf(draft)).toMatchObject({
      status: 'draft',
      text: 'Waiting for the payment.',
      amount: draft.amount,
      txHash: null,
    })
    const txHash = await world.pay(draft)
    await world.settle()
    expect(await statusOf(draft)).toMatchObject({
      status: 'confirming',
      text: 'Payment detected: 200\u00a0WDG. Confirmations: 1 of 2.',
      txHash,
    })
    const waiting = await pageOf(draft)
    expect(waiting.html).not.toContain('data-wallet=')
    expect(waiting.html).toContain('<h1>Payment sent</h1>')
    expect(waiting.html).not.toContain('The price is locked')
    await world.confirmAll()
    const { status, text } = await statusOf(draft)
    expect(status).toBe('credited')
    expect(text).toMatch(
      /^11\u00a0USD \(11,000 credits\) added to 0xf39F…2266\. Paid: 200\u00a0WDG\.$/,
    )
    expect((await statusOf(draft, '?lang=de')).text).toContain('11.000')
    const steps = (await pageOf(draft)).html.match(/<li data-step.*?<\/li>/gs) ?? []
    expect(steps).toHaveLength(3)
    for (const step of steps) expect(step).toMatch(/data-done> Done<\/span>/)
    // The words of a receipt have the reader's direction.
    const { html } = await pageOf(draft, '?lang=ar')
    expect(html).not.toMatch(/<bdi dir="ltr">[^<]*\p{Script=Arabic}/u)
  })

  test.each([
    'WFLR',
    'FLR',
    'XRP',
  ])('of a partial payment in %s offers to pay the remainder while the quote is valid', async (asset) => {
    const draft = await draftOf(alice, { asset })
    const rest = BigInt(draft.amount) / 4n
    await world.pay(draft, BigInt(draft.amount) - rest)
    await world.confirmAll()
    const offer = 'the same way, at this price, until'
    const { html } = await pageOf(draft)
    expect(html).toContain('You can pay the remaining ')
    expect(html).toContain(offer)
    const unit = asset === 'XRP' ? 6 : 18
    expect(html).toContain(`${formatUnits(rest, unit)}\u00a0${asset}`)
    expect(html).toContain(asset === 'XRP' ? `dt=${draft.destinationTag}` : numberToHex(rest))
    await world.pay(draft, rest)
    if (asset !== 'XRP') {
      await world.settle()
      expect((await pageOf(draft)).html).not.toContain(offer)
    }
    await world.confirmAll()
    expect((await topupOf(alice, draft)).creditedCredits).toBe(draft.credits)
    expect((await pageOf(draft)).html).not.toContain(offer)
    const late = await draftOf(alice, { asset })
    await world.pay(late, BigInt(late.amount) - rest)
    await world.confirmAll()
    await world.pass(600)
    expect((await pageOf(late)).html).not.toContain(offer)
  })

  test('of a partial payment names what is still to pay where a whole order has its total', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    expect(readingOf(await pageOf(draft)).text).toMatch(/ Total 500\u00a0FLR /)
    await world.pay(draft, (BigInt(draft.amount) * 3n) / 4n)
    await world.confirmAll()
    const { text } = readingOf(await pageOf(draft))
    expect(text).toMatch(/ Paid 375\u00a0FLR Still to pay 125\u00a0FLR /)
    expect(text).not.toContain(' Total ')
  })

  test('of an expired quote says so first, and asks nobody to pay', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    expect(headingOf(await pageOf(draft))).toBe('Pay 500\u00a0FLR')
    await world.pass(601)
    expect(headingOf(await pageOf(draft))).toBe('This quote has expired')
    expect(headingOf(await pageOf(draft, '?lang=de'))).toBe('Dieses Preisangebot ist abgelaufen')
    const { html } = await pageOf(draft)
    expect(html).not.toContain('Pay 500')
    expect(html).not.toContain('data-wallet=')
  })

  test('says why a payment was not credited, with its reference', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pay(draft, 1n)
    await world.confirmAll()
    expect((await statusOf(draft)).text).toContain('worth less than one credit')
    const { text } = readingOf(await pageOf(draft))
    expect(text).toMatch(/Not credited\. .*worth less than one credit\./)
    expect(text).toContain(`Reference: ${draft.handle.slice(0, 6)}…${draft.handle.slice(-4)}`)
    expect(text).toContain('The payment is recorded under this reference.')
    expect(text).not.toContain('Still to pay')
    await world.pass(601)
    expect(headingOf(await pageOf(draft))).toBe('This quote has expired')
  })

  test('of a transaction that paid another address says that no payment arrived', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const { bob, carol } = world.devnet.people
    const [from, to] = [bob.account.address, carol.account.address]
    const { hash: txHash } = await world.contracts.sendNative(from, to, 1n)
    await alice.request('POST', `/topup/${draft.handle}/confirm`, { txHash })
    const { html } = await pageOf(draft)
    expect(html).toContain('The transaction contains no payment to this service.')
    expect(html).toContain('No payment has arrived here')
    expect(html).not.toContain('recorded')
  })

  test('says why a transaction failed, and offers to pay again', async () => {
    const draft = await draftOf(alice, { asset: 'WFLR' })
    await world.contracts.setPaused(true)
    const txHash = await world.pay(draft)
    await world.contracts.setPaused(false)
    await alice.request('POST', `/topup/${draft.handle}/confirm`, { txHash })
    expect((await statusOf(draft)).text).toContain('Reason: This payment method is paused.')
    expect((await pageOf(draft)).html).toContain('data-wallet=')
  })

  test('of an unknown transaction keeps all ways to pay', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const txHash = `0x${'1f'.repeat(32)}`
    await alice.request('POST', `/topup/${draft.handle}/confirm`, { txHash })
    expect(await statusOf(draft)).toMatchObject({
      status: 'draft',
      text: expect.stringContaining('Transaction 0x1f1f…1f1f has not been found yet.'),
    })
    const { html } = await pageOf(draft)
    expect(html).toContain('data-wallet=')
    expect(html).not.toContain(txHash)
    await world.pass(600)
    await world.settle()
    const shortened = '<span class="whole">0x1f1f…1f1f</span> has not been found yet.'
    expect((await pageOf(draft)).html).toContain(shortened)
  })

  test('says when the quote has expired, and the page offers no payment', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pass(600)
    expect((await statusOf(draft)).text).toContain('nothing is lost')
    const { html } = await pageOf(draft)
    expect(html).not.toContain('data-wallet=')
    expect(html).not.toContain('<img class="qr"')
  })

  test('offers other assets when its own has no price', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pass(600)
    const stale = new Date(world.clock.now().getTime() - 601_000)
    await world.contracts.setFeed('FLR/USD', 200_000n, 7, stale)
    world.clock.advance(16)
    const { html } = await pageOf(draft)
    expect(html).toContain('Payment in FLR is not possible right now. Get a new quote in:')
    const others = [...html.matchAll(/name="asset" value="(\w+)"/g)].map(([, asset]) => asset)
    expect(others).toEqual(['WDG', 'FXRP', 'XRP'])
    const post = (payload: string) =>
      world.server.inject({
        method: 'POST',
        url: `/pay/${draft.handle}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload,
      })
    for (const refused of ['', 'asset=WFLR', 'asset=DOGE']) {
      expect((await post(refused)).statusCode).toBe(409)
    }
    const { statusCode, headers } = await post('asset=WDG')
    expect(statusCode).toBe(303)
    expect((await get(String(headers.location))).html).toContain('Pay 200\u00a0WDG')
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
  })
})

test('an unknown link says that it belongs to no payment', async () => {
  for (const handle of [`0x${'ab'.repeat(32)}`, '0xab']) {
    const { status, html } = await get(`/pay/${handle}`)
    expect(status).toBe(404)
    expect(html).toContain('The link is incomplete or belongs to no payment.')
  }
})

test('the page of a paused asset says not to pay', async () => {
  const draft = await draftOf(alice, { asset: 'WFLR' })
  await world.contracts.setPaused(true)
  world.clock.advance(15)
  const { html } = await pageOf(draft)
  expect(html).toContain('Payments in WFLR are paused right now. Do not pay.')
  expect(html).not.toContain('data-wallet=')
  await world.contracts.setPaused(false)
})

test('a chain that does not answer is named on the pages of all its assets', async () => {
  const silent = 'The chain cannot be read right now. Your payment is safe'
  const drafts = [await draftOf(alice, { asset: 'FLR' }), await draftOf(alice, { asset: 'WDG' })]
  const ledger = await draftOf(alice, { asset: 'XRP' })
  await world.rpc.down()
  world.clock.advance(15)
  for (const draft of drafts) {
    expect(await statusOf(draft)).toMatchObject({ status: 'draft', chainAnswers: false })
    const { status, html } = await pageOf(draft)
    expect([status, isShown(html, silent)]).toEqual([200, true])
  }
  expect(await statusOf(ledger)).toMatchObject({ chainAnswers: true })
  await world.rpc.up()
  world.clock.advance(15)
  for (const draft of [...drafts, ledger]) {
    expect(await statusOf(draft)).toMatchObject({ chainAnswers: true })
    expect(isShown((await pageOf(draft)).html, silent)).toBe(false)
  }
})

/** Whether a sentence is on the page and not hidden. */
function isShown(html: string, sentence: string): boolean {
  const [before = ''] = html.split(sentence, 1)
  return before !== html && !/<[^>]* hidden>$/.test(before)
}

test('the home page names the assets that can be used now', async () => {
  world.clock.advance(15)
  const { html } = await get('/')
  expect(html).toContain('Pay with WDG (+10%), WFLR, FXRP, FLR, and XRP.')
})
