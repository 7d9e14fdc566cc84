import { decodePaymentRequiredHeader } from '@x402/core/http'
import { parsePaymentRequired } from '@x402/core/schemas'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { credit } from '#src/billing/account/service.ts'
import { X402_SCHEME } from '#src/billing/metering/offers.ts'
import { takeFreeCalls } from '#src/billing/metering/store.ts'
import { RESOURCE_PRICES_CREDITS, RESOURCES } from '#src/billing/price-list.ts'
import { createMeter } from '#src/http/meter.ts'
import { ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { Account } from '../generated/api.ts'
import { serviceOnly } from '../support/harness.ts'
import { type PayWorld, payWorld } from '../support/pay-world.ts'
import { type Client, signIn } from '../support/people.ts'

let world: PayWorld
let alice: Client
/** A client without free calls. */
let bob: Client
/** Number of runs of the metered handler. */
let handled = 0
let references = 0

beforeAll(async () => {
  world = await payWorld()
  addRoutes(world)
  alice = await signIn(world, 'alice')
  bob = await signIn(world, 'bob', [])
  await useFreeCalls(bob.caller.wallet, 50)
})
afterAll(() => world.close())

/** Routes behind the gate: one for each resource, and some that fail. */
function addRoutes({ server, app }: Pick<PayWorld, 'server' | 'app'>): void {
  const { meter } = createMeter(server, app)
  for (const resource of RESOURCES) {
    server.get(`/metered/${resource}`, { preHandler: meter(resource) }, async () => {
      handled += 1
      return { ok: true }
    })
  }
  const preHandler = meter('providers-rewards')
  server.get('/metered/throws', { preHandler }, async () => {
    throw new Error('broken')
  })
  server.get('/metered/refuses', { preHandler }, async () => {
    throw Object.assign(new Error('not a destination'), { statusCode: 400 })
  })
  server.get<{ Querystring: { status: string } }>(
    '/metered/answers',
    { preHandler },
    async (request, reply) => reply.code(Number(request.query.status)).send('as asked'),
  )
}

interface Asked {
  readonly token?: string
  readonly from?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function call(path: string, { token, from, headers = {} }: Asked = {}) {
  const response = await world.server.inject({
    url: `/metered/${path}`,
    remoteAddress: from ?? '192.0.2.200',
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
  })
  const isJson = String(response.headers['content-type']).includes('json')
  const { 'x-credits-charged': charged, 'x-credits-balance': balance } = response.headers
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson ? JSON.parse(response.payload) : response.payload,
    notified: [charged, balance, response.headers['x-free-tier-remaining']],
  }
}

async function give(client: Client, amountCredits: number): Promise<void> {
  references += 1
  const reference = `seed:${references}`
  const { wallet } = client.caller
  const at = world.clock.now()
  await credit(world.app.db, { wallet, type: 'topup', amountCredits, reference, at })
}

async function useFreeCalls(subject: string, calls: number): Promise<void> {
  await takeFreeCalls(world.app.db, subject, '2026-11-20', calls)
}

const balanceOf = async (client: Client) =>
  (await client.request<Account>('GET', '/account')).body.balanceCredits

describe('a guarded route', () => {
  test('is free 50 times a day with a token, then costs its price', async () => {
    const { token } = alice
    expect((await call('ftso-analytics', { token })).notified).toEqual(['0', '0', '49'])
    await useFreeCalls(alice.caller.wallet, 48)
    expect((await call('ftso-analytics', { token })).notified).toEqual(['0', '0', '0'])
    expect(await call('ftso-analytics', { token })).toMatchObject({ status: 402 })
    await give(alice, 25)
    expect((await call('rewards-intelligence-reports', { token })).notified).toEqual([
      '10',
      '15',
      '0',
    ])
    expect((await call('providers-rewards', { token })).notified).toEqual(['2', '13', '0'])
    expect((await call('ftso-analytics', { token })).notified).toEqual(['1', '12', '0'])
    const { body } = await alice.request<Account>('GET', '/account')
    expect(body).toMatchObject({ balanceCredits: 12, freeTier: { limit: 50, used: 50 } })
    expect(body.ledger.data.map(({ type, note }) => note ?? type)).toEqual([
      'ftso-analytics',
      'providers-rewards',
      'rewards-intelligence-reports',
      'topup',
    ])
  })

  test('is free 50 times a day without a token, per network, then asks for payment', async () => {
    const from = '2001:db8:1:2::7'
    expect((await call('ftso-analytics', { from })).notified).toEqual(['0', '0', '49'])
    await useFreeCalls('2001:db8:1:2::/64', 48)
    const last = await call('ftso-analytics', { from: '2001:db8:1:2:ffff::1' })
    expect(last).toMatchObject({ status: 200, notified: ['0', '0', '0'] })
    expect(await call('ftso-analytics', { from })).toMatchObject({ status: 402 })
    const neighbour = await call('ftso-analytics', { from: '2001:db8:1:3::7' })
    expect(neighbour.notified).toEqual(['0', '0', '49'])
    expect((await call('ftso-analytics', { from: '192.0.2.1' })).notified).toEqual(['0', '0', '49'])
    expect((await call('ftso-analytics', { from: '::ffff:192.0.2.1' })).notified[2]).toBe('48')
  })

  test('runs no handler before the call is charged', async () => {
    const before = handled
    expect(await call('ftso-analytics', { token: bob.token })).toMatchObject({ status: 402 })
    expect(await call('ftso-analytics', { token: `${bob.token}x` })).toMatchObject({ status: 401 })
    expect(handled).toBe(before)
  })

  test('accepts a token with the scope read', async () => {
    const carol = await signIn(world, 'carol', [])
    expect(await call('ftso-analytics', { token: carol.token })).toMatchObject({ status: 200 })
  })

  const strangers = ['192.0.2.90', '192.0.2.91', '192.0.2.92']
  test.each([
    ['another scheme', 'Basic YTpi'],
    ['no token', 'Bearer'],
    ['a mistyped token', `Bearer fwd_${'x'.repeat(49)}`],
  ])('refuses %s and does not count a free call of the network for it', async (_name, authorization) => {
    const from = strangers.pop() ?? ''
    const answer = await call('ftso-analytics', { from, headers: { authorization } })
    expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"')
    expect(answer.notified).toEqual([undefined, undefined, undefined])
    expect((await call('ftso-analytics', { from })).notified[2]).toBe('49')
  })

  test('refuses a token as soon as it is revoked', async () => {
    const carol = await signIn(world, 'carol', ['write'])
    const { token } = carol
    expect(await call('ftso-analytics', { token })).toMatchObject({ status: 200 })
    const { body } = await carol.request('GET', '/auth/tokens')
    await carol.request('DELETE', `/auth/tokens/${body.data[0].id}`)
    expect(await call('ftso-analytics', { token })).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    })
  })

  test('refuses a token in the URL before it charges anything', async () => {
    const from = '192.0.2.94'
    const answer = await call(`ftso-analytics?access_token=${alice.token}`, { from })
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect((await call('ftso-analytics', { from })).notified[2]).toBe('49')
  })
})

describe('a handler that fails', () => {
  beforeAll(() => give(bob, 20))

  test.each([
    ['throws', 500],
    ['refuses', 400],
    ['answers?status=500', 500],
    ['answers?status=503', 503],
  ])('gets its price refunded: %s', async (path, status) => {
    const before = await balanceOf(bob)
    const answer = await call(path, { token: bob.token })
    expect(answer).toMatchObject({ status, notified: ['0', String(before), '0'] })
    const { body } = await bob.request<Account>('GET', '/account?limit=2')
    const [refund, usage] = body.ledger.data
    expect(refund).toMatchObject({ type: 'refund', deltaCredits: 2, balanceAfterCredits: before })
    expect(usage).toMatchObject({ type: 'usage', deltaCredits: -2 })
    expect(refund?.reference).toBe(`refund:${usage?.reference}`)
  })

  test('gets its free call refunded, with and without a token', async () => {
    const from = '192.0.2.93'
    expect(await call('throws', { from })).toMatchObject({
      status: 500,
      notified: ['0', '0', '50'],
    })
    expect((await call('ftso-analytics', { from })).notified).toEqual(['0', '0', '49'])
  })

  test.each([
    'answers?status=404',
    'answers?status=429',
    'answers?status=301',
  ])('is charged if it responds: %s', async (path) => {
    const answer = await call(path, { token: bob.token })
    expect(answer.notified[0]).toBe('2')
    const { body } = await bob.request<Account>('GET', '/account?limit=1')
    expect(body.ledger.data).toMatchObject([{ type: 'usage', deltaCredits: -2 }])
  })
})

describe('402', () => {
  const poor = { from: '198.51.100.7' }
  beforeAll(() => useFreeCalls(poor.from, 50))

  test('is a problem in the caller’s language', async () => {
    const headers = { 'accept-language': 'de' }
    const answer = await call('rewards-intelligence-reports', { ...poor, headers })
    expect(answer.status).toBe(402)
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(answer.headers['content-language']).toBe('de')
    expect(answer.body).toMatchObject({
      type: `${world.app.publicUrl}/problems/payment_required`,
      status: 402,
      code: 'payment_required',
      requestId: answer.headers['x-request-id'],
      error: 'payment_required',
      priceCredits: 10,
      balanceCredits: 0,
      freeTier: { limit: 50, used: 50, resetsAt: '2026-11-21T00:00:00.000Z' },
    })
  })

  test('has the credits of the wallet and the price of the call', async () => {
    const has = await balanceOf(bob)
    for (let left = has; left >= 10; left -= 10) {
      await call('rewards-intelligence-reports', { token: bob.token })
    }
    const answer = await call('rewards-intelligence-reports', { token: bob.token })
    expect(answer.body).toMatchObject({ priceCredits: 10, balanceCredits: has % 10 })
  })

  test('offers every way to pay on the chain, as x402 version 1 in its body', async () => {
    const { body } = await call('providers-rewards', poor)
    const parsed = parsePaymentRequired(body)
    expect(parsed.error).toBeUndefined()
    expect(body).toMatchObject({
      resource: 'providers-rewards',
      description: body.accepts[0].description,
      priceCredits: 2,
    })
    const { contracts } = world
    const router = { settlement: 'onchain_router_prepaid', payTo: contracts.router }
    const ways = body.accepts.map(({ asset, payTo, extra }: Offer) => {
      const { settlement, assetSymbol, assetDecimals, bonusBps } = extra
      return { asset, payTo, settlement, assetSymbol, assetDecimals, bonusBps }
    })
    const token = { ...router, assetDecimals: 18, bonusBps: 0 }
    expect(ways).toEqual([
      { ...token, asset: contracts.serviceToken, assetSymbol: 'WDG', bonusBps: 1000 },
      { ...token, asset: contracts.wflr, assetSymbol: 'WFLR' },
      { ...token, asset: contracts.fxrp, assetSymbol: 'FXRP', assetDecimals: 6 },
      {
        settlement: 'native_transfer_prepaid',
        payTo: contracts.payTo,
        asset: ZERO_ADDRESS,
        assetSymbol: 'FLR',
        assetDecimals: 18,
        bonusBps: 0,
      },
    ])
    expect(body.accepts[0]).toEqual({
      scheme: X402_SCHEME,
      network: 'flare',
      maxAmountRequired: '0',
      resource: `${world.app.publicUrl}/api/x402/pricing#providers-rewards`,
      description: expect.stringMatching(/./),
      mimeType: 'application/json',
      payTo: contracts.router,
      asset: contracts.serviceToken,
      maxTimeoutSeconds: 600,
      extra: {
        settlement: 'onchain_router_prepaid',
        docs: '/docs',
        chainId: 14,
        assetSymbol: 'WDG',
        assetDecimals: 18,
        bonusBps: 1000,
        priceCredits: 2,
        usdPer1000CreditsMicros: '1000000',
        minTopupCredits: 10000,
        authEndpoint: '/api/x402/auth/challenge',
        tokenEndpoint: '/api/x402/auth/token',
        topupEndpoint: '/api/x402/topup',
        accountEndpoint: '/api/x402/account',
        pricingEndpoint: '/api/x402/pricing',
        flow: expect.stringMatching(/./),
      },
    })
  })

  test.each(RESOURCES)('offers %s as x402 version 2 in its header', async (resource) => {
    const { body, headers } = await call(resource, poor)
    const header = String(headers['payment-required'])
    const decoded = decodePaymentRequiredHeader(header)
    expect(parsePaymentRequired(decoded)).toMatchObject({ success: true })
    expect(decoded).toEqual({
      x402Version: 2,
      error: 'payment_required',
      resource: {
        url: `${world.app.publicUrl}/data/${resource}`,
        description: body.accepts[0].description,
        mimeType: 'application/json',
      },
      accepts: body.accepts.map((offer: Offer) => ({
        scheme: X402_SCHEME,
        network: 'eip155:14',
        amount: '0',
        asset: offer.asset,
        payTo: offer.payTo,
        maxTimeoutSeconds: 600,
        extra: offer.extra,
      })),
    })
    expect(body.accepts[0].extra.priceCredits).toBe(RESOURCE_PRICES_CREDITS[resource])
    // Proxies in front of the service accept headers of this size.
    expect(header.length).toBeLessThan(8000)
  })

  test('has a body in the reader’s language', async () => {
    const { body, headers } = await call('providers-rewards', {
      ...poor,
      headers: { 'accept-language': 'de-AT,de;q=0.9' },
    })
    const german = 'Belohnungen der Datenanbieter, nach Anbieter und Belohnungsepoche.'
    for (const { description, extra } of body.accepts) {
      expect(description).toBe(german)
      expect(extra.flow).toContain('Für ein API-Token mit einer Wallet anmelden')
    }
    expect(headers['content-language']).toBe('de')
    expect(parsePaymentRequired(body).success).toBe(true)
  })

  test('leaves out a way to pay that is paused', async () => {
    await world.contracts.setPaused(true)
    world.clock.advance(16)
    const { body } = await call('ftso-analytics', poor)
    expect(body.accepts.map(({ extra }: Offer) => extra.assetSymbol)).toEqual(['FLR'])
    await world.contracts.setPaused(false)
    world.clock.advance(16)
  })

  const ofScheme = (scheme: string) => JSON.stringify({ x402Version: 1, scheme })
  test.each([
    ['that is no base64', 'x-payment', 'not base64 at all'],
    ['of another scheme', 'x-payment', Buffer.from(ofScheme('exact')).toString('base64')],
    ['of our scheme', 'x-payment', Buffer.from(ofScheme(X402_SCHEME)).toString('base64')],
    ['that is empty', 'x-payment', ''],
    ['that is long and not ASCII', 'x-payment', '\u00ff'.repeat(3000)],
    ['of version 2', 'payment-signature', 'e30='],
  ])('is the response to a call with a payment %s, and nothing is charged', async (_name, name, value) => {
    const { token } = alice
    const before = await balanceOf(alice)
    const answer = await call('ftso-analytics', { token, headers: { [name]: value } })
    expect(answer).toMatchObject({
      status: 402,
      body: {
        code: 'payment_required',
        x402Version: 1,
        error: 'unsupported_scheme',
        priceCredits: 1,
        balanceCredits: before,
      },
    })
    expect(decodePaymentRequiredHeader(String(answer.headers['payment-required']))).toMatchObject({
      error: 'unsupported_scheme',
    })
    expect(await balanceOf(alice)).toBe(before)
  })

  test('with a payment and an invalid token is a 401 instead', async () => {
    const headers = { 'x-payment': 'e30=' }
    const token = `fwd_${'x'.repeat(49)}`
    expect(await call('ftso-analytics', { token, headers })).toMatchObject({ status: 401 })
  })

  test('with a payment counts no free call', async () => {
    const from = '198.51.100.8'
    const answer = await call('ftso-analytics', { from, headers: { 'x-payment': 'e30=' } })
    expect(answer.body.freeTier).toMatchObject({ used: 0 })
    expect((await call('ftso-analytics', { from })).notified[2]).toBe('49')
  })
})

interface Offer {
  readonly asset: string
  readonly payTo: string
  readonly extra: Readonly<Record<string, unknown>>
}

describe('with billing off', () => {
  test('calls are free, with any token or none', async () => {
    const free = await serviceOnly({ BILLING_ENABLED: 'false' })
    addRoutes(free)
    for (const headers of [{}, { authorization: 'Bearer nonsense' }, { 'x-payment': 'e30=' }]) {
      const answer = await free.server.inject({ url: '/metered/ftso-analytics', headers })
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['x-credits-charged']).toBeUndefined()
    }
    await free.close()
  })
})
