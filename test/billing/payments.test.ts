import { parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { recordPayments } from '#src/billing/topups/payments.ts'
import type { Payment } from '#src/chain/chain.ts'
import { transact } from '#src/db/connection.ts'
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

// How payments are found, recorded and credited.

let world: PayWorld
let alice: Client

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
})
afterAll(() => world.close())
afterEach(() => {
  world.errors.length = 0
})

/** Credits that Alice gains during `work`. */
async function gained(work: () => Promise<unknown>): Promise<number> {
  const before = await ledgerOf(alice)
  await work()
  return (await ledgerOf(alice)).balance - before.balance
}

describe('a payment as quoted', () => {
  test.each([
    ['WDG', 11_000],
    ['WFLR', 10_000],
    ['FXRP', 10_000],
    ['FLR', 10_000],
    ['XRP', 10_000],
  ])('in %s is found and credited, although the payer does not confirm it', async (asset, credits) => {
    const draft = await draftOf(alice, { asset })
    const hash = await world.pay(draft)
    const before = await ledgerOf(alice)
    await world.confirmAll()
    const after = await ledgerOf(alice)
    expect(after.balance - before.balance).toBe(credits)
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'credited',
      txHash: hash,
      paidAmount: draft.amount,
      creditedCredits: credits,
      reason: null,
    })
    const added = after.entries.slice(0, after.entries.length - before.entries.length)
    for (const { reference } of added) expect(reference).toContain(`:${draft.handle}:${hash}:`)
    expect(world.errors).toEqual([])
  })

  test('in the service token adds the bonus as a separate ledger entry', async () => {
    const draft = await draftOf(alice, { asset: 'WDG', credits: 12_345 })
    const hash = await world.pay(draft)
    await world.confirmAll()
    const [bonus, topup] = (await ledgerOf(alice)).entries
    expect(topup).toMatchObject({ type: 'topup', deltaCredits: 12_345 })
    expect(topup?.reference).toMatch(new RegExp(`^topup:${draft.handle}:${hash}:\\d+$`))
    expect(bonus).toMatchObject({ type: 'bonus', deltaCredits: 1234 })
    expect(bonus?.reference).toBe(topup?.reference.replace('topup', 'bonus'))
  })

  test('from another wallet is credited to the owner of the top-up', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const carol = world.devnet.people.carol.account.address
    await world.pay(draft, BigInt(draft.amount), carol)
    expect(await gained(() => world.confirmAll())).toBe(10_000)
  })

  test('is credited at the quoted price if the market price changes', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.contracts.setFeed('FLR/USD', 400_000n, 7)
    await world.pay(draft)
    expect(await gained(() => world.confirmAll())).toBe(10_000)
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
  })
})

describe('an amount other than quoted', () => {
  test('is credited at the locked price, whether it is less or more', async () => {
    const less = await draftOf(alice, { asset: 'WFLR', credits: 10_000 })
    await world.pay(less, (BigInt(less.amount) * 3n) / 4n)
    const more = await draftOf(alice, { asset: 'FXRP', credits: 10_000 })
    await world.pay(more, BigInt(more.amount) * 3n)
    await world.confirmAll()
    expect(await topupOf(alice, less)).toMatchObject({ status: 'credited', creditedCredits: 7500 })
    expect(await topupOf(alice, more)).toMatchObject({
      status: 'credited',
      creditedCredits: 30_000,
    })
  })

  test('is rounded down to whole credits', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    // One credit costs 0.05 FLR.
    await world.pay(draft, parseEther('0.05') * 8n - 1n)
    expect(await gained(() => world.confirmAll())).toBe(7)
  })

  test('may be paid in two payments, which are both credited; the top-up shows their sum', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const first = await world.pay(draft, BigInt(draft.amount) / 2n)
    await world.confirmAll()
    await world.pay(draft, BigInt(draft.amount) / 2n)
    expect(await gained(() => world.confirmAll())).toBe(5000)
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'credited',
      txHash: first,
      paidAmount: draft.amount,
      creditedCredits: 10_000,
    })
  })
})

describe('a late payment', () => {
  test('in FLR is credited at the market price when the service sees it', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pass(601)
    expect(await topupOf(alice, draft)).toMatchObject({ status: 'expired', txHash: null })
    await world.contracts.setFeed('FLR/USD', 100_000n, 7)
    await world.pay(draft)
    expect(await gained(() => world.confirmAll())).toBe(5000)
    expect(await topupOf(alice, draft)).toMatchObject({ status: 'credited', creditedCredits: 5000 })
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
  })

  test('in XRP is credited at the market price when the service sees it', async () => {
    const draft = await draftOf(alice, { asset: 'XRP' })
    await world.pass(601)
    await world.contracts.setFeed('XRP/USD', 500_000n, 5)
    await world.pay(draft)
    expect(await gained(() => world.confirmAll())).toBe(20_000)
    await world.contracts.setFeed('XRP/USD', 250_000n, 5)
  })

  test('gets the locked price if it was mined before the quote expired and only found later', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pay(draft)
    await world.pass(3600)
    await world.contracts.setFeed('FLR/USD', 100_000n, 7)
    expect(await gained(() => world.confirmAll())).toBe(10_000)
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
  })

  test('waits while no current price is available, and is credited afterwards', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pass(601)
    await world.pay(draft)
    await world.contracts.setFeed(
      'FLR/USD',
      200_000n,
      7,
      new Date(world.clock.now().getTime() - 660_000),
    )
    expect(await gained(() => world.confirmAll())).toBe(0)
    expect(await topupOf(alice, draft)).toMatchObject({ status: 'confirming' })
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
    expect(await gained(() => world.settle())).toBe(10_000)
  })
})

describe('a payment beyond its quote', () => {
  /** Quotes 10,000 credits, halves the market price, then makes payments of so many quarters of the quote. */
  async function payQuarters(...payments: readonly bigint[]): Promise<number> {
    await world.sync()
    const draft = await draftOf(alice, { asset: 'FLR' })
    const before = await ledgerOf(alice)
    await world.contracts.setFeed('FLR/USD', 100_000n, 7)
    for (const quarters of payments) await world.pay(draft, (BigInt(draft.amount) * quarters) / 4n)
    await world.confirmAll()
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
    return (await ledgerOf(alice)).balance - before.balance
  }

  test('is credited at the locked price up to 1.25 times the quote', async () => {
    expect(await payQuarters(5n)).toBe(12_500)
  })

  test('is credited at the locked price up to the quote and at the current price beyond', async () => {
    expect(await payQuarters(8n)).toBe(10_000 + 5000)
  })

  test('gets the same credits in two transactions as in one', async () => {
    expect(await payQuarters(4n, 4n)).toBe(10_000 + 5000)
  })

  test('waits while no current price is available', async () => {
    await world.sync()
    const draft = await draftOf(alice, { asset: 'FLR' })
    const stale = new Date(world.clock.now().getTime() - 660_000)
    await world.contracts.setFeed('FLR/USD', 200_000n, 7, stale)
    await world.pay(draft, (BigInt(draft.amount) * 3n) / 2n)
    expect(await gained(() => world.confirmAll())).toBe(0)
    expect(await topupOf(alice, draft)).toMatchObject({ status: 'confirming' })
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
    expect(await gained(() => world.settle())).toBe(15_000)
  })
})

describe('a payment that cannot be credited', () => {
  /** Checks that a payment is recorded as unmatched, and logged as an error. */
  async function expectUnmatched(hash: string, reason: string): Promise<void> {
    expect(await unmatched(world)).toContainEqual(
      expect.objectContaining({ tx_hash: hash, reason }),
    )
    expect(world.errors).toEqual([
      {
        message: 'payment was not credited; an operator must look at it',
        fields: expect.objectContaining({ txHash: hash, reason }),
      },
    ])
  }

  test('in another token is rejected as a whole and recorded as unmatched', async () => {
    const draft = await draftOf(alice, { asset: 'WFLR' })
    const { contracts, devnet } = world
    const bob = devnet.people.bob.account.address
    const { hash } = await contracts.pay(bob, draft.handle as Hash, contracts.fxrp, 5_000_000n)
    expect(await gained(() => world.confirmAll())).toBe(0)
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'rejected',
      reason: 'wrong_asset',
      txHash: hash,
      paidAmount: '5000000',
      creditedCredits: 0,
    })
    await expectUnmatched(hash, 'wrong_asset')
  })

  test('in FLR for a quote in a token is unmatched; a second payment in the token is credited', async () => {
    const draft = await draftOf(alice, { asset: 'WFLR' })
    const { contracts, devnet } = world
    const bob = devnet.people.bob.account.address
    const { hash } = await contracts.sendNative(
      bob,
      contracts.payTo,
      10n ** 18n,
      draft.handle as Hash,
    )
    await world.confirmAll()
    await expectUnmatched(hash, 'wrong_asset')
    await world.pay(draft)
    await world.confirmAll()
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'credited',
      creditedCredits: 10_000,
      paidAmount: draft.amount,
      reason: null,
    })
  })

  test.each([
    'FXRP',
    'XRP',
  ])('above the cap in %s is rejected as a whole and recorded as unmatched', async (asset) => {
    const draft = await draftOf(alice, { asset })
    const hash = await world.pay(draft, 1_000_000_001n)
    expect(await gained(() => world.confirmAll())).toBe(0)
    expect(await topupOf(alice, draft)).toMatchObject({ status: 'rejected', reason: 'over_cap' })
    await expectUnmatched(hash, 'over_cap')
  })

  test('worth less than one credit is recorded as unmatched', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const hash = await world.pay(draft, 1n)
    expect(await gained(() => world.confirmAll())).toBe(0)
    await expectUnmatched(hash, 'too_small')
  })

  test('above the largest amount of credits is recorded as unmatched, with its exact amount', async () => {
    const draft = await draftOf(alice, { asset: 'WDG' })
    const { contracts, devnet, database } = world
    const supply = await devnet.client.readContract({
      address: contracts.serviceToken,
      abi: [
        {
          type: 'function',
          name: 'totalSupply',
          stateMutability: 'view',
          inputs: [],
          outputs: [{ type: 'uint256' }],
        },
      ],
      functionName: 'totalSupply',
    })
    const most = 2n ** 256n - 1n - supply
    const bob = devnet.people.bob.account.address
    await contracts.mint(contracts.serviceToken, bob, most)
    const hash = await world.pay(draft, most)
    expect(await gained(() => world.confirmAll())).toBe(0)
    await expectUnmatched(hash, 'too_large')
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'rejected',
      paidAmount: most.toString(),
    })
    const [row] =
      await database.sql`select amount_units from topup_payments where tx_hash = ${hash}`
    expect(row?.['amount_units']).toBe(most.toString())
  })

  test('with an unknown handle is recorded as unmatched', async () => {
    const { contracts, devnet } = world
    const bob = devnet.people.bob.account.address
    const nobody: Hash = `0x${'ab'.repeat(32)}`
    const { hash } = await contracts.pay(bob, nobody, contracts.wflr, 10n ** 18n)
    await world.confirmAll()
    await expectUnmatched(hash, 'unknown_reference')
    const [row] = await world.database
      .sql`select reference, payer, handle from topup_payments where tx_hash = ${hash}`
    expect(row).toMatchObject({ reference: nobody, payer: bob, handle: null })
  })

  test.each<[string, Hash | undefined]>([
    ['without data', undefined],
    ['with data that is not a handle', '0x1234'],
  ])('in plain FLR %s is recorded as unmatched, and logged as an error', async (_what, data) => {
    const { contracts, devnet } = world
    const bob = devnet.people.bob.account.address
    const { hash } = await contracts.sendNative(bob, contracts.payTo, 3n * 10n ** 18n, data)
    await world.confirmAll()
    await expectUnmatched(hash, 'unknown_reference')
    const [row] = await world.database
      .sql`select way, reference, payer, handle from topup_payments where tx_hash = ${hash}`
    expect(row).toMatchObject({ way: 'native', reference: null, payer: bob, handle: null })
  })

  test.each([
    ['with an unknown destination tag', { tag: 7 }],
    ['without a destination tag', {}],
  ])('in XRP %s is recorded as unmatched', async (_what, tag) => {
    const { hash } = world.xrpl.deposit({ ...tag, drops: 5_000_000n })
    await world.settle()
    await expectUnmatched(hash, 'unknown_reference')
  })
})

describe('an XRP deposit', () => {
  test('is credited by the delivered amount, not by the `Amount` of the transaction', async () => {
    const draft = await draftOf(alice, { asset: 'XRP' })
    const tag = draft.destinationTag ?? undefined
    world.xrpl.deposit({ tag, drops: 40_000n, statedDrops: 999_000_000n })
    expect(await gained(() => world.settle())).toBe(100)
  })

  test('in another asset than XRP is not credited', async () => {
    const draft = await draftOf(alice, { asset: 'XRP' })
    const tag = draft.destinationTag ?? undefined
    const issued = { currency: 'USD', issuer: world.xrpl.address, value: '1000' }
    const { hash } = world.xrpl.deposit({ tag, drops: 0n, issued })
    expect(await gained(() => world.settle())).toBe(0)
    expect(await topupOf(alice, draft)).toMatchObject({ status: 'rejected', reason: 'wrong_asset' })
    expect(await unmatched(world)).toContainEqual(expect.objectContaining({ tx_hash: hash }))
  })

  test('is found once, whichever page of the transaction list it is on', async () => {
    world.xrpl.limitPages(2)
    const drafts = []
    for (let n = 0; n < 5; n += 1) drafts.push(await draftOf(alice, { asset: 'XRP' }))
    for (const draft of drafts) await world.pay(draft)
    expect(await gained(() => world.settle())).toBe(50_000)
    expect(await gained(() => world.settle())).toBe(0)
    world.xrpl.limitPages(400)
  })

  test('is found after an outage of the XRPL server; payments on Flare are not delayed by it', async () => {
    const [xrp, flr] = [
      await draftOf(alice, { asset: 'XRP' }),
      await draftOf(alice, { asset: 'FLR' }),
    ]
    await world.pay(xrp)
    await world.pay(flr)
    await world.xrpl.down()
    await world.devnet.mine(2)
    const pass = () =>
      world.settle().catch((error: { kind: string }) => expect(error.kind).toBe('upstream'))
    expect(await gained(pass)).toBe(10_000)
    expect((await topupOf(alice, xrp)).status).toBe('draft')
    await world.xrpl.up()
    expect(await gained(() => world.settle())).toBe(10_000)
  })
})

describe('a chain reorganization', () => {
  /** A signed transaction with a payment, which can be sent several times. */
  async function signedPayment(amountWei: bigint, handle: string) {
    const { devnet, contracts } = world
    const { account } = devnet.people.bob
    const serialized = await account.signTransaction({
      chainId: 14,
      type: 'eip1559',
      nonce: await devnet.client.getTransactionCount({ address: account.address }),
      to: contracts.payTo,
      value: amountWei,
      data: handle as Hash,
      gas: 100_000n,
      maxFeePerGas: 10n ** 12n,
      maxPriorityFeePerGas: 1n,
    })
    return {
      send: () => devnet.client.sendRawTransaction({ serializedTransaction: serialized }),
    }
  }

  test('removes an uncredited payment, which is credited once its transaction is mined again', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const payment = await signedPayment(BigInt(draft.amount), draft.handle)
    const hash = await payment.send()
    await world.settle()
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'confirming',
      txHash: hash,
      confirmations: 1,
      requiredConfirmations: 2,
    })
    await world.devnet.reorg(1)
    await world.settle()
    expect(await topupOf(alice, draft)).toMatchObject({ status: 'submitted', txHash: hash })
    await world.confirmAll()
    expect((await topupOf(alice, draft)).creditedCredits).toBe(0)

    await payment.send()
    await world.settle()
    expect((await topupOf(alice, draft)).status).toBe('confirming')
    expect(await gained(() => world.confirmAll())).toBe(10_000)
    expect(await gained(() => world.confirmAll())).toBe(0)
    expect(await topupOf(alice, draft)).toMatchObject({ status: 'credited', txHash: hash })
  })

  test('lets the top-up expire if its transaction is not mined again in time', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pay(draft)
    await world.settle()
    await world.devnet.reorg(1)
    await world.settle()
    expect((await topupOf(alice, draft)).status).toBe('submitted')
    // A node may still have the transaction in its pool, so the service waits a day for it.
    await world.pass(2 * 86_400)
    await world.settle()
    expect(await topupOf(alice, draft)).toMatchObject({
      status: 'expired',
      reason: 'transaction_not_found',
      creditedCredits: 0,
    })
  })

  test('that is deeper than the confirmations credits no payment twice', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const payment = await signedPayment(BigInt(draft.amount), draft.handle)
    await payment.send()
    expect(await gained(() => world.confirmAll())).toBe(10_000)
    await world.devnet.reorg(3)
    await world.devnet.mine(2)
    await payment.send()
    expect(await gained(() => world.confirmAll())).toBe(0)
    expect(world.errors).toContainEqual(
      expect.objectContaining({
        message: 'block of a settled payment was replaced; the payment stays settled',
      }),
    )
    expect((await topupOf(alice, draft)).creditedCredits).toBe(10_000)
  })
})

describe('a transaction with several payments', () => {
  const hashOf = (digit: string): Hash => `0x${digit.repeat(64)}`
  const at = new Date('2026-11-20T12:00:00.000Z')

  test.each([
    ['of different top-ups', [0, 1]],
    ['of different top-ups, in another order', [1, 0]],
    ['of one top-up, with equal amounts', [0, 0]],
  ])('keeps both payments if it is mined again in another block after one was credited: %s', async (_, order) => {
    const drafts = [await draftOf(alice, { asset: 'FLR' }), await draftOf(alice, { asset: 'FLR' })]
    const txHash = hashOf(String(3 + (order[0] ?? 0) * 2 + (order[1] ?? 0)))
    const inBlock = (number: number, hash: Hash, firstLog: number, of: readonly number[]) =>
      of.map((which, index): Payment => {
        const draft = drafts[which]
        return {
          ...{
            txHash,
            logIndex: firstLog + index,
            way: 'router',
            tag: null,
            payer: world.contracts.payTo,
          },
          ...{
            handle: draft?.handle as Hash,
            asset: 'FLR',
            amountUnits: BigInt(draft?.amount ?? 0),
          },
          block: { number, hash, at },
        }
      })
    const record = (found: readonly Payment[]) =>
      transact(world.app.db, (tx) => recordPayments(world.app, tx, found, at))
    await record(inBlock(5, hashOf('a'), 0, [order[0] ?? 0, order[1] ?? 0]))
    await world.sql`update topup_payments set settled_at = ${at} where tx_hash = ${txHash} and log_index = 0`
    const moved = order[0] === order[1] ? order : order.toReversed()
    for (let time = 0; time < 2; time += 1) await record(inBlock(6, hashOf('b'), 7, moved))
    const rows =
      await world.sql`select handle, settled_at is not null as settled, block_hash from topup_payments
      where tx_hash = ${txHash} order by settled_at nulls last`
    expect(rows).toEqual([
      { handle: drafts[order[0] ?? 0]?.handle, settled: true, block_hash: hashOf('a') },
      { handle: drafts[order[1] ?? 0]?.handle, settled: false, block_hash: hashOf('b') },
    ])
    await world.sql`delete from topup_payments where tx_hash = ${txHash}`
  })
})

describe('the scan', () => {
  test('continues where it stopped, also 300 blocks later', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.pay(draft)
    await world.devnet.mine(300)
    expect(await gained(() => world.settle())).toBe(10_000)
  }, 60_000)

  test('stops at a block that no endpoint returns, and continues when an endpoint returns it', async () => {
    const [before, after] = [await draftOf(alice, { asset: 'FLR' }), await draftOf(alice)]
    await world.pay(before)
    await world.devnet.mine(40)
    const missing = await world.devnet.client.getBlockNumber({ cacheTime: 0 })
    await world.devnet.mine(10)
    await world.pay(after)
    await world.devnet.mine(2)
    world.rpc.rewrite('eth_getBlockByNumber', (block) =>
      Number(Object(block).number) === Number(missing) ? null : block,
    )
    const look = () =>
      world.settle().catch(({ code }) => expect(code).toBe('dependency_unavailable'))
    expect(await gained(look)).toBe(10_000)
    expect(await gained(look)).toBe(0)
    expect((await topupOf(alice, after)).status).toBe('draft')
    await world.rpc.up()
    expect(await gained(() => world.settle())).toBe(11_000)
  }, 60_000)

  test('credits a payment once if eight scans run at the same time', async () => {
    const draft = await draftOf(alice, { asset: 'WDG' })
    await world.pay(draft)
    await world.devnet.mine(2)
    expect(await gained(() => Promise.all(Array.from({ length: 8 }, () => world.settle())))).toBe(
      11_000,
    )
  })

  test('makes at most six requests while there is no new block', async () => {
    await world.confirmAll()
    world.rpc.resetCounts()
    await world.settle()
    const calls = Object.values(world.rpc.counts()).reduce((sum, count) => sum + count, 0)
    expect(calls).toBeLessThanOrEqual(6)
  })
})
