import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Hash } from '#src/kernel/units.ts'
import {
  buyer,
  draftOf,
  ledgerOf,
  type PayWorld,
  payWorld,
  topupOf,
  unmatched,
} from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

let world: PayWorld
let alice: Client
let bob: Client

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
  bob = await buyer(world, 'bob')
})
afterAll(() => world.close())
afterEach(() => {
  world.errors.length = 0
})

interface Handled {
  readonly handle: string
}
const confirm = (client: Client, { handle }: Handled, txHash: unknown) =>
  client.request('POST', `/topup/${handle}/confirm`, { txHash })

async function gained(client: Client, work: () => Promise<unknown>): Promise<number> {
  const before = await ledgerOf(client)
  await work()
  return (await ledgerOf(client)).balance - before.balance
}

const UNKNOWN = `0x${'12'.repeat(32)}`

describe('a transaction that pays', () => {
  test.each([
    'WDG',
    'WFLR',
    'FXRP',
    'FLR',
  ])('in %s gets a 202 until it has enough confirmations, then a 200', async (asset) => {
    const draft = await draftOf(alice, { asset })
    const hash = await world.pay(draft)
    expect(await confirm(alice, draft, hash)).toMatchObject({
      status: 202,
      body: {
        handle: draft.handle,
        status: 'confirming',
        txHash: hash,
        confirmations: 1,
        requiredConfirmations: 2,
        paidAmount: draft.amount,
        creditedCredits: 0,
      },
    })
    await world.devnet.mine()
    expect(
      await gained(alice, async () => {
        expect(await confirm(alice, draft, hash)).toMatchObject({
          status: 200,
          body: {
            status: 'credited',
            confirmations: 2,
            creditedCredits: draft.credits + draft.bonusCredits,
          },
        })
      }),
    ).toBe(draft.credits + draft.bonusCredits)
  })

  test('in XRP gets a 200 at once, because a validated ledger is final', async () => {
    const draft = await draftOf(alice, { asset: 'XRP' })
    const hash = await world.pay(draft)
    expect(await confirm(alice, draft, hash)).toMatchObject({
      status: 200,
      body: { status: 'credited', txHash: hash, confirmations: 1, requiredConfirmations: 1 },
    })
  })

  test('that is confirmed again gets the same response, without a request to the chain', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const hash = await world.pay(draft)
    await world.devnet.mine(3)
    const first = await confirm(alice, draft, hash)
    await world.devnet.mine(5)
    await world.settle()
    world.rpc.resetCounts()
    for (const text of [hash, hash.toUpperCase().replace('0X', '0x'), hash.slice(2)]) {
      const again = await confirm(alice, draft, text)
      expect([again.status, again.body]).toEqual([200, first.body])
    }
    expect(world.rpc.counts()).toEqual({})
  })

  test('that is not mined yet is submitted, and found when it is mined', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const { client, people } = world.devnet
    await client.setAutomine(false)
    const hash = await client.sendTransaction({
      account: people.bob.account.address,
      to: world.contracts.payTo,
      value: BigInt(draft.amount),
      data: draft.handle as Hash,
      gas: 100_000n,
    })
    const waiting = { status: 202, body: { status: 'submitted', txHash: hash, paidAmount: null } }
    expect(await confirm(alice, draft, hash)).toMatchObject(waiting)
    await client.setAutomine(true)
    await world.settle()
    expect((await topupOf(alice, draft)).status).toBe('confirming')
    expect(await gained(alice, () => world.confirmAll())).toBe(10_000)
    expect((await confirm(alice, draft, hash)).status).toBe(200)
  })

  test('is not replaced if an unknown transaction is submitted afterwards', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const hash = await world.pay(draft)
    await world.devnet.mine()
    const { body: credited } = await confirm(alice, draft, hash)
    expect(credited).toMatchObject({ status: 'credited', creditedCredits: 10_000, reason: null })
    expect(await confirm(alice, draft, UNKNOWN)).toMatchObject({
      status: 200,
      body: { ...credited, reason: 'transaction_not_found' },
    })
  })

  test('is credited once by concurrent confirmations and scans', async () => {
    const draft = await draftOf(alice, { asset: 'WDG' })
    const hash = await world.pay(draft)
    await world.devnet.mine()
    const race = async () => {
      const answers = await Promise.all([
        ...Array.from({ length: 20 }, () => confirm(alice, draft, hash)),
        world.settle(),
        world.settle(),
      ])
      const confirmed = answers.filter((answer) => answer !== undefined)
      expect(confirmed.map(({ status }) => status)).toEqual(Array(20).fill(200))
      expect(new Set(confirmed.map(({ text }) => text)).size).toBe(1)
    }
    expect(await gained(alice, race)).toBe(11_000)
    expect(await gained(alice, () => world.confirmAll())).toBe(0)
  })

  test('after the quote expired is credited at the current price', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pass(700)
    const hash = await world.pay(draft)
    await world.contracts.setFeed('FLR/USD', 400_000n, 7)
    await world.sync()
    expect(await confirm(alice, draft, hash)).toMatchObject({
      status: 200,
      body: { status: 'credited', creditedCredits: 20_000 },
    })
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
  })

  test('beside another transaction gets a response of its own', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const first = await world.pay(draft)
    await world.confirmAll()
    const second = await world.pay(draft, BigInt(draft.amount) / 2n)
    expect(await confirm(alice, draft, second)).toMatchObject({
      status: 202,
      body: { status: 'confirming', txHash: second },
    })
    await world.devnet.mine()
    expect(await confirm(alice, draft, second)).toMatchObject({
      status: 200,
      body: { txHash: second, creditedCredits: 5000 },
    })
    expect((await confirm(alice, draft, first)).body.creditedCredits).toBe(10_000)
    expect((await topupOf(alice, draft)).creditedCredits).toBe(15_000)
  })
})

describe('a transaction that does not pay this top-up', () => {
  const refused = (reason: string, topupStatus = 'rejected') => ({
    status: 409,
    body: { code: 'topup_state', topupStatus, reason },
  })

  test('is refused if it paid another top-up, before and after that is credited', async () => {
    const [paid, other] = [
      await draftOf(alice, { asset: 'FLR' }),
      await draftOf(bob, { asset: 'FLR' }),
    ]
    const hash = await world.pay(paid)
    const used = { status: 409, body: { code: 'tx_already_used' } }
    expect(await confirm(bob, other, hash)).toMatchObject(used)
    expect((await confirm(alice, paid, hash)).status).toBe(202)
    expect(await confirm(bob, other, hash)).toMatchObject(used)
    await world.confirmAll()
    expect(await confirm(bob, other, hash)).toMatchObject(used)
    expect(await topupOf(bob, other)).toMatchObject({ status: 'draft', txHash: null })
    expect((await confirm(alice, paid, hash)).status).toBe(200)
    expect(world.errors).toEqual([])
  })

  test('is refused if it paid another top-up in XRP', async () => {
    const [xrp, xrp2] = [
      await draftOf(alice, { asset: 'XRP' }),
      await draftOf(bob, { asset: 'XRP' }),
    ]
    const hash = await world.pay(xrp)
    expect((await confirm(alice, xrp, hash)).status).toBe(200)
    expect(await confirm(bob, xrp2, hash)).toMatchObject({
      status: 409,
      body: { code: 'tx_already_used' },
    })
  })

  test('is reported as failed if it reverted; another transaction is accepted', async () => {
    const draft = await draftOf(alice, { asset: 'WFLR' })
    await world.contracts.setPaused(true)
    const hash = await world.pay(draft)
    await world.contracts.setPaused(false)
    for (let time = 0; time < 2; time += 1) {
      expect(await confirm(alice, draft, hash)).toMatchObject(
        refused(expect.stringContaining('IsPaused'), 'failed'),
      )
    }
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'failed',
      txHash: hash,
      reason: expect.stringContaining('IsPaused'),
    })
    const second = await world.pay(draft)
    await world.devnet.mine()
    expect((await confirm(alice, draft, second)).status).toBe(200)
    expect((await topupOf(alice, draft)).status).toBe('credited')
  })

  test('is reported as failed if it failed on the XRP Ledger', async () => {
    const draft = await draftOf(alice, { asset: 'XRP' })
    const tag = draft.destinationTag ?? undefined
    const { hash } = world.xrpl.deposit({ tag, drops: 5n, result: 'tecPATH_PARTIAL' })
    expect(await confirm(alice, draft, hash)).toMatchObject(
      refused(expect.stringContaining('tecPATH_PARTIAL'), 'failed'),
    )
  })

  test('is rejected if it paid another address, or without a handle', async () => {
    const { devnet, contracts } = world
    const [bobs, carols] = [devnet.people.bob.account.address, devnet.people.carol.account.address]
    const draft = await draftOf(alice, { asset: 'FLR' })
    const elsewhere = await contracts.sendNative(
      bobs,
      carols,
      BigInt(draft.amount),
      draft.handle as Hash,
    )
    for (let time = 0; time < 2; time += 1) {
      expect(await confirm(alice, draft, elsewhere.hash)).toMatchObject(refused('wrong_recipient'))
    }
    // No payment arrived: a stranger's transaction is not logged as an error.
    expect(world.errors).toEqual([])
    const plain = await contracts.sendNative(bobs, contracts.payTo, BigInt(draft.amount))
    expect(await confirm(alice, draft, plain.hash)).toMatchObject(refused('unknown_reference'))
    expect((await topupOf(alice, draft)).status).toBe('rejected')
    expect(await gained(alice, () => world.confirmAll())).toBe(0)
  })

  test('is rejected if its handle is unknown, and its payment is recorded as unmatched', async () => {
    const { devnet, contracts } = world
    const draft = await draftOf(alice, { asset: 'FLR' })
    const bobs = devnet.people.bob.account.address
    const { hash } = await contracts.sendNative(bobs, contracts.payTo, 5n, UNKNOWN as Hash)
    expect(await confirm(alice, draft, hash)).toMatchObject(refused('unknown_reference'))
    await world.confirmAll()
    expect(await unmatched(world)).toContainEqual(
      expect.objectContaining({ tx_hash: hash, reason: 'unknown_reference' }),
    )
  })

  test.each([
    [
      'wrong_asset',
      'WFLR',
      (w: PayWorld, handle: Hash) =>
        w.contracts.pay(w.devnet.people.bob.account.address, handle, w.contracts.fxrp, 4_000_000n),
    ],
    [
      'over_cap',
      'FXRP',
      (w: PayWorld, handle: Hash) =>
        w.contracts.pay(
          w.devnet.people.bob.account.address,
          handle,
          w.contracts.fxrp,
          1_000_000_001n,
        ),
    ],
    [
      'too_small',
      'FLR',
      (w: PayWorld, handle: Hash) =>
        w.contracts.sendNative(w.devnet.people.bob.account.address, w.contracts.payTo, 1n, handle),
    ],
  ] as const)('is rejected for %s once it is deep enough', async (reason, asset, send) => {
    const draft = await draftOf(alice, { asset })
    const { hash } = await send(world, draft.handle as Hash)
    expect((await confirm(alice, draft, hash)).status).toBe(202)
    await world.devnet.mine()
    for (let time = 0; time < 2; time += 1) {
      expect(await confirm(alice, draft, hash)).toMatchObject(refused(reason))
    }
    expect(world.errors).toHaveLength(1)
  })

  const notFound = { status: 'draft', reason: 'transaction_not_found' }

  test('of another chain is not found; the top-up waits for it, then expires', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const { hash } = world.xrpl.deposit({ tag: 5, drops: 4_000_000n })
    expect(await confirm(alice, draft, hash)).toMatchObject({
      status: 202,
      body: { ...notFound, txHash: `0x${hash.toLowerCase()}` },
    })
    await world.pass(300)
    await world.settle()
    expect(await topupOf(alice, draft)).toMatchObject(notFound)
    await world.pass(301)
    await world.settle()
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'expired',
      reason: 'transaction_not_found',
    })
    expect(await confirm(alice, draft, hash)).toMatchObject({
      status: 202,
      body: { status: 'expired', reason: 'transaction_not_found' },
    })

    const xrp = await draftOf(alice, { asset: 'XRP' })
    const flare = await world.pay(draft)
    expect(await confirm(alice, xrp, flare)).toMatchObject({
      status: 202,
      body: { ...notFound, txHash: flare.slice(2).toUpperCase() },
    })
  })
})

test('a mistyped hash leaves the quote open, and the right one is accepted', async () => {
  const draft = await draftOf(alice, { asset: 'FLR' })
  const hash = await world.pay(draft)
  const mistyped = `${hash.slice(0, -1)}${hash.endsWith('0') ? '1' : '0'}`
  expect(await confirm(alice, draft, mistyped)).toMatchObject({
    status: 202,
    body: { status: 'draft', txHash: mistyped, reason: 'transaction_not_found' },
  })
  expect(await confirm(alice, draft, hash)).toMatchObject({ body: { status: 'confirming' } })
  await world.confirmAll()
  expect((await topupOf(alice, draft)).status).toBe('credited')
})

describe('a confirmation', () => {
  test('of a top-up of another wallet, or of an unknown top-up, is not found', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const hash = await world.pay(draft)
    const notFound = { status: 404, body: { code: 'not_found' } }
    expect(await confirm(bob, draft, hash)).toMatchObject(notFound)
    expect(await confirm(bob, { handle: UNKNOWN }, hash)).toMatchObject(notFound)
  })

  test.each([
    '',
    'abc',
    '0x',
    '0x12',
    `0x${'a'.repeat(63)}`,
    `0x${'a'.repeat(65)}`,
    `0x${'g'.repeat(64)}`,
    ` 0x${'a'.repeat(64)}`,
    `0x${'a'.repeat(64)}\n`,
    7,
    null,
    {},
    [UNKNOWN],
  ])('refuses %j as a transaction hash', async (txHash) => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const { status, body } = await confirm(alice, draft, txHash)
    expect([status, body.code]).toEqual([400, 'validation_failed'])
    expect(body.errors[0].pointer).toBe('/txHash')
  })

  test('gets a 503 while the chain is unavailable, and works afterwards', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const hash = await world.pay(draft)
    await world.devnet.mine()
    await world.rpc.down()
    expect(await confirm(alice, draft, hash)).toMatchObject({
      status: 503,
      body: { code: 'dependency_unavailable' },
    })
    await world.rpc.up()
    expect((await confirm(alice, draft, hash)).status).toBe(200)
  })
})
