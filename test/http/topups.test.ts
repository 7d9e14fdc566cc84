import { decodeFunctionData, parseAbi, parseEther } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { PricingDocument, Topup, TopupDraft } from '../generated/api.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { buyer, draftOf, type PayWorld, payWorld, topupOf } from '../support/pay-world.ts'
import { type Client, request, signIn } from '../support/people.ts'

let world: PayWorld
let alice: Client
let bob: Client

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
  bob = await buyer(world, 'bob')
})
afterAll(() => world.close())

const ROUTER = parseAbi(['function pay(bytes32 handle, address token, uint256 amount)'])
const create = (input: unknown, headers?: Record<string, string>) =>
  alice.request('POST', '/topup', input, headers)

describe('POST /topup', () => {
  test('quotes a token through the router, with everything to sign', async () => {
    const { status, headers, body } = await create({ asset: 'WFLR', credits: 12_000 })
    const { contracts, clock } = world
    expect(status).toBe(201)
    expect(headers['location']).toBe(`/api/x402/topup/${body.handle}`)
    expect(body).toEqual({
      handle: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      status: 'draft',
      wallet: alice.caller.wallet,
      asset: 'WFLR',
      credits: 12_000,
      bonusCredits: 0,
      amount: parseEther('600').toString(),
      decimals: 18,
      payTo: contracts.router,
      destinationTag: null,
      settlement: 'onchain_router_prepaid',
      chainId: 14,
      transaction: { to: contracts.router, value: '0', data: expect.any(String) },
      contractWallet: null,
      approval: {
        token: contracts.wflr,
        spender: contracts.router,
        amount: parseEther('600').toString(),
      },
      then: null,
      page: `http://127.0.0.1:8080/pay/${body.handle}`,
      pageQr: `http://127.0.0.1:8080/pay/${body.handle}`,
      expiresAt: new Date(clock.now().getTime() + 600_000).toISOString(),
      instructions: expect.stringContaining('600'),
    })
    const { args } = decodeFunctionData({ abi: ROUTER, data: body.transaction.data })
    expect(args).toEqual([body.handle, contracts.wflr, parseEther('600')])
  })

  test('quotes the service’s own token when no asset is named, with its bonus', async () => {
    for (const body of [undefined, {}]) {
      expect((await create(body)).body).toMatchObject({
        asset: 'WDG',
        credits: 10_000,
        bonusCredits: 1000,
        amount: parseEther('200').toString(),
      })
    }
  })

  test('quotes FLR as a plain transfer with the handle as data', async () => {
    const { body } = await create({ asset: 'FLR' })
    expect(body).toMatchObject({
      settlement: 'native_transfer_prepaid',
      payTo: world.contracts.payTo,
      approval: null,
      transaction: {
        to: world.contracts.payTo,
        value: parseEther('500').toString(),
        data: body.handle,
      },
      contractWallet: {
        to: world.contracts.router,
        value: parseEther('500').toString(),
        data: `0xefc3d609${body.handle.slice(2)}`,
      },
    })
    expect(body.instructions).toContain(body.handle)
    expect(body.instructions).toContain('Contract wallets (Safe, ERC-4337, multisig)')
    expect(body.instructions).toContain(world.contracts.router)
  })

  test('quotes XRP with a tag of its own and a link for wallets', async () => {
    const drafts: TopupDraft[] = []
    for (let n = 0; n < 5; n += 1) drafts.push(await draftOf(alice, { asset: 'XRP' }))
    const [draft] = drafts
    expect(draft).toMatchObject({
      settlement: 'xrpl_tag_prepaid',
      payTo: world.xrpl.address,
      transaction: null,
      approval: null,
      amount: '4000000',
      decimals: 6,
      page: `http://127.0.0.1:8080/pay/${draft?.handle}`,
    })
    const tags = drafts.map(({ destinationTag }) => destinationTag ?? 0)
    expect(new Set(tags).size).toBe(5)
    for (const tag of tags) {
      expect(Number.isInteger(tag) && tag > 0 && tag < 2 ** 32).toBe(true)
    }
    const link = new URL(draft?.pageQr ?? '')
    expect(link.pathname).toBe(`/detect/request:${world.xrpl.address}`)
    expect(Object.fromEntries(link.searchParams)).toEqual({
      amount: '4',
      network: 'XRPL',
      dt: String(tags[0]),
    })
  })

  test('names the exact amount in the instructions, in the reader’s language', async () => {
    await world.contracts.setFeed('FLR/USD', 300_000n, 7)
    const { body } = await create({ asset: 'FLR' }, { 'accept-language': 'en' })
    expect(body.amount).toBe('333340000000000000000')
    expect(body.instructions).toContain('333.34\u00a0FLR')
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
  })

  test('returns the same quote for a repeated request with the same key', async () => {
    const headers = { 'idempotency-key': 'topup-1' }
    const first = await create({ asset: 'XRP' }, headers)
    const again = await create({ asset: 'XRP' }, headers)
    expect(again.status).toBe(201)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toEqual(first.body)
    expect((await create({ asset: 'FLR' }, headers)).status).toBe(422)
  })

  test.each([
    [{ credits: 9999 }, '/credits', 'too_small'],
    [{ credits: 0 }, '/credits', 'too_small'],
    [{ credits: -10_000 }, '/credits', 'too_small'],
    [{ credits: 10_000.5 }, '/credits', 'integer'],
    [{ credits: '10000' }, '/credits', 'type'],
    [{ credits: null }, '/credits', 'type'],
    [{ credits: 1e12 + 1 }, '/credits', 'too_big'],
    [{ credits: 2 ** 53 - 1 }, '/credits', 'too_big'],
    [{ asset: 'USDT' }, '/asset', 'choice'],
    [{ asset: 'flr' }, '/asset', 'choice'],
    [{ asset: 'service' }, '/asset', 'choice'],
    [{ asset: '' }, '/asset', 'choice'],
    [{ asset: '__proto__' }, '/asset', 'choice'],
    [{ asset: 7 }, '/asset', 'type'],
    [{ asset: 'x'.repeat(33) }, '/asset', 'too_long'],
  ])('refuses %j', async (input, pointer, code) => {
    const { status, body } = await create(input)
    expect([status, body.code]).toEqual([400, 'validation_failed'])
    expect(body.errors).toEqual([expect.objectContaining({ pointer, code })])
  })

  test('reports all errors of a request at once', async () => {
    const { status, body } = await create({ asset: 'USDT', credits: 5, memo: 'x' })
    expect([status, body.code]).toEqual([400, 'validation_failed'])
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted()).toEqual([
      '/asset',
      '/credits',
      '/memo',
    ])
  })

  test('requires acceptance of the terms; an unknown asset is refused before that', async () => {
    const carol = await signIn(world, 'carol')
    expect(await carol.request('POST', '/topup', {})).toMatchObject({
      status: 403,
      body: { code: 'terms_not_accepted' },
    })
    expect((await carol.request('POST', '/topup', { asset: 'USDT' })).status).toBe(400)
  })

  test('responds with 503 while the chain is down, and stores nothing', async () => {
    await world.rpc.down()
    const headers = { 'idempotency-key': 'topup-down' }
    expect(await create({ asset: 'FLR' }, headers)).toMatchObject({
      status: 503,
      body: { code: 'dependency_unavailable' },
    })
    await world.rpc.up()
    expect((await create({ asset: 'FLR' }, headers)).status).toBe(201)
  })
})

describe('an asset that cannot be used for payment', () => {
  // Open quotes of other tests would count against the caps.
  beforeEach(() => world.sql`truncate topups, topup_payments`)

  const refusal = async (asset: string, credits = 10_000) => {
    const { status, body } = await create({ asset, credits })
    return [status, body.code]
  }

  test('is refused while its price is older than ten minutes, and offered again afterwards', async () => {
    await world.sync()
    const now = world.clock.now().getTime()
    await world.contracts.setFeed('FLR/USD', 200_000n, 7, new Date(now - 601_000))
    for (const asset of ['FLR', 'WFLR']) {
      expect(await refusal(asset)).toEqual([409, 'asset_unavailable'])
    }
    expect((await create({ asset: 'XRP' })).status).toBe(201)
    await world.contracts.setFeed('FLR/USD', 200_000n, 7, new Date(now - 590_000))
    expect((await create({ asset: 'FLR' })).status).toBe(201)
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
  })

  test('is refused while the router does not accept it, and FLR is quoted instead', async () => {
    const { contracts } = world
    await contracts.setAllowed(contracts.serviceToken, false)
    expect(await refusal('WDG')).toEqual([409, 'asset_unavailable'])
    expect((await create({})).body.asset).toBe('FLR')
    await contracts.setAllowed(contracts.serviceToken, true)
  })

  test('is refused while the router is paused, and FLR is quoted instead', async () => {
    await world.contracts.setPaused(true)
    for (const asset of ['WDG', 'WFLR', 'FXRP']) {
      expect(await refusal(asset)).toEqual([409, 'asset_paused'])
    }
    expect((await create({})).body.asset).toBe('FLR')
    await world.contracts.setPaused(false)
  })

  test.each(['FXRP', 'XRP'])('is refused in %s above the cap of one top-up', async (asset) => {
    // 1000 at 2.50 USD.
    expect((await create({ asset, credits: 2_500_000 })).body.amount).toBe('1000000000')
    expect(await refusal(asset, 2_500_001)).toEqual([409, 'cap_exceeded'])
  })

  test('is refused while open quotes fill the service’s cap, and offered again when they have expired', async () => {
    const most = { asset: 'FXRP', credits: 2_500_000 }
    const drafts: TopupDraft[] = []
    for (let quotes = 0; quotes < 5; quotes += 1) drafts.push((await create(most)).body)
    expect(await refusal('FXRP')).toEqual([409, 'cap_exceeded'])
    expect((await create({ asset: 'XRP' })).status).toBe(201)
    await world.sql`update topups set expires_at = ${world.clock.now()}
      where handle = ${drafts[0]?.handle ?? ''}`
    expect((await create(most)).status).toBe(201)
    expect(await refusal('FXRP')).toEqual([409, 'cap_exceeded'])
  })

  test('stays available to others although one caller asks for many quotes', async () => {
    const most = { asset: 'FXRP', credits: 2_500_000 }
    for (let quotes = 0; quotes < 5; quotes += 1) await create(most)
    for (let quotes = 0; quotes < 4; quotes += 1) {
      expect((await bob.request('POST', '/topup', most)).status).toBe(201)
    }
    expect((await bob.request('POST', '/topup', most)).body.code).toBe('cap_exceeded')
  })

  test('stays available although many wallets that never paid ask for quotes', async () => {
    const most = { asset: 'FXRP', credits: 2_500_000 }
    expect((await bob.request('POST', '/topup', most)).status).toBe(201)
    // Quotes of wallets that never paid.
    await world.sql`
      insert into topups (handle, wallet, asset, token, pay_to, credits, bonus_credits, amount_units,
        price_value, price_decimals, usd_per_1000_credits_micros, created_at, expires_at)
      select overlay(handle placing lpad(to_hex(n), 8, '0') from 3 for 8),
        overlay(wallet placing lpad(to_hex(n), 8, '0') from 3 for 8), asset, token, pay_to, credits,
        bonus_credits, amount_units, price_value, price_decimals, usd_per_1000_credits_micros,
        created_at, expires_at
      from topups, generate_series(1, 50) n where wallet = ${bob.caller.wallet} and asset = 'FXRP'`
    for (let quotes = 0; quotes < 4; quotes += 1) expect((await create(most)).status).toBe(201)
    expect(await refusal('FXRP')).toEqual([409, 'cap_exceeded'])
    // Quotes of wallets that have paid before are reserved in full.
    await world.sql`truncate topups`
    expect((await bob.request('POST', '/topup', most)).status).toBe(201)
    await giveCredits(world.app, bob.caller.wallet, 1)
    expect((await bob.request('POST', '/topup', most)).status).toBe(201)
    for (let quotes = 0; quotes < 4; quotes += 1) expect((await create(most)).status).toBe(201)
    expect(await refusal('FXRP')).toEqual([409, 'cap_exceeded'])
  })

  test('is refused in FXRP as the treasury fills, and paused once it is full', async () => {
    const { contracts } = world
    const fill = (units: bigint) => contracts.mint(contracts.fxrp, contracts.treasury, units)
    await fill(4_995_000_000n)
    expect(await refusal('FXRP', 12_501)).toEqual([409, 'cap_exceeded'])
    expect((await create({ asset: 'FXRP', credits: 12_500 })).status).toBe(201)
    await fill(5_000_000n)
    expect(await refusal('FXRP')).toEqual([409, 'asset_paused'])
  })

  test('is refused in XRP as the deposit address fills, and paused once it is full', async () => {
    // The account holds 10 XRP initially.
    world.xrpl.deposit({ drops: 4_985_000_000n })
    expect(await refusal('XRP', 12_501)).toEqual([409, 'cap_exceeded'])
    expect((await create({ asset: 'XRP', credits: 12_500 })).status).toBe(201)
    world.xrpl.deposit({ drops: 5_000_000n })
    expect(await refusal('XRP')).toEqual([409, 'asset_paused'])
  })
})

describe('a service without payment options', () => {
  test('quotes nothing, and its pricing document shows every asset as unavailable', async () => {
    const service = await serviceOnly()
    const client = await buyer(service, 'alice')
    for (const asset of ['WDG', 'WFLR', 'FXRP', 'FLR', 'XRP']) {
      expect(await client.request('POST', '/topup', { asset })).toMatchObject({
        status: 409,
        body: { code: 'asset_unavailable' },
      })
    }
    expect((await client.request('POST', '/topup')).body.code).toBe('asset_unavailable')
    const { body } = await request<PricingDocument>(service, 'GET', '/pricing')
    for (const asset of [...body.assets, body.nativeFlr, body.nativeXrp]) {
      expect(asset).toMatchObject({ available: false, amountPer1000Credits: '0', paused: false })
    }
    for (const { address, routerAllowlisted } of body.assets) {
      expect([address, routerAllowlisted]).toEqual([`0x${'0'.repeat(40)}`, false])
    }
    await service.close()
  })

  test('quotes nothing with billing off', async () => {
    const { FLARE_RPC_URLS, NATIVE_PAY_TO } = world.environment
    const service = await serviceOnly({ BILLING_ENABLED: 'false', FLARE_RPC_URLS, NATIVE_PAY_TO })
    const client = await buyer(service, 'alice')
    expect((await client.request('POST', '/topup', { asset: 'FLR' })).body.code).toBe(
      'billing_disabled',
    )
    const { body } = await request<PricingDocument>(service, 'GET', '/pricing')
    expect(body).toMatchObject({ enabled: false, nativeFlr: { available: false } })
    await service.close()
  })
})

describe('GET /topup/{handle}', () => {
  test('shows the top-up and its status to its owner only', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    expect(await topupOf(alice, draft)).toEqual({
      ...draft,
      txHash: null,
      confirmations: 0,
      requiredConfirmations: 2,
      paidAmount: null,
      creditedCredits: 0,
      reason: null,
    })
    const others = [`/topup/${draft.handle}`, `/topup/0x${'0'.repeat(64)}`]
    for (const path of others) {
      expect(await bob.request('GET', path)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      })
    }
  })

  test.each([
    'abc',
    '0x',
    `0x${'a'.repeat(63)}`,
    `0x${'a'.repeat(65)}`,
    `0x${'g'.repeat(64)}`,
    'a'.repeat(64),
  ])('refuses a malformed handle: %s', async (handle) => {
    const { status, body } = await alice.request('GET', `/topup/${handle}`)
    expect([status, body.errors?.[0]?.pointer]).toEqual([400, '/handle'])
  })

  test('finds a handle in upper or lower case', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const upper = `0x${draft.handle.slice(2).toUpperCase()}`
    expect((await topupOf(alice, { handle: upper })).handle).toBe(draft.handle)
  })

  test('shows the quote as expired, to the second', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const expiresAt = new Date(draft.expiresAt).getTime()
    const at = async (offsetMs: number): Promise<Topup['status']> => {
      world.clock.set(new Date(expiresAt + offsetMs))
      return (await topupOf(alice, draft)).status
    }
    expect(await at(-1)).toBe('draft')
    expect(await at(0)).toBe('expired')
  })
})
