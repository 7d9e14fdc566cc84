import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Settler } from '#src/billing/direct/model.ts'
import { createDirectPayments } from '#src/billing/direct/service.ts'
import { forgetInBooks } from '#src/billing/forget.ts'
import { transferCall } from '#src/chain/payments/authorizations.ts'
import { transact } from '#src/db/connection.ts'
import {
  callWith,
  creditedUnits,
  type DirectWorld,
  directOffersOf,
  directWorld,
  newPayer,
  paymentFor,
  received,
} from '../support/x402.ts'

/** What somebody can try who reads the payments of others on the chain, or who wants the service to pay gas. */

let world: DirectWorld
let payer: PrivateKeyAccount

beforeAll(async () => {
  world = await directWorld({}, 1500)
})
beforeEach(async () => {
  world.answerWith(200)
  payer = await newPayer(world)
  await world.sync()
})
afterAll(async () => {
  const [ledger, arrived] = [await creditedUnits(world), await received(world)]
  await world.close()
  expect(ledger).toBe(arrived)
  expect(arrived).toBeGreaterThan(0n)
})

const setAutomine = (isOn: boolean) =>
  world.devnet.client.request({ method: 'evm_setAutomine', params: [isOn] } as never)

/** Lets the watcher take over from the requests, as it does after a minute. */
async function settleLater(): Promise<void> {
  await world.database.sql`
    update topups set created_at = created_at - interval '2 minutes' where authorization_block is not null`
  await world.sync()
  await world.settle()
}

interface HeaderPayment {
  readonly payload: { readonly signature: string; readonly authorization: object }
}

/** The same payment, written in another way. */
function rewritten(header: string, change: (payload: HeaderPayment['payload']) => object): string {
  const payment: HeaderPayment = JSON.parse(Buffer.from(header, 'base64').toString())
  const payload = { ...payment.payload, ...change(payment.payload) }
  return Buffer.from(JSON.stringify({ ...payment, payload })).toString('base64')
}

test('a payment whose signature is written in several ways is sent once', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  const upper = rewritten(header, ({ signature }) => ({
    signature: `0x${signature.slice(2).toUpperCase()}`,
  }))
  await setAutomine(false)
  world.rpc.resetCounts()
  await Promise.all([header, upper].map((one) => callWith(world.url, one)))
  // Of a second transfer the chain takes the gas, and refuses it.
  expect(world.rpc.count('eth_estimateGas')).toBe(1)
  await world.devnet.mine(1, 1)
  await setAutomine(true)
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
})

test('a payment on the chain is good for no longer than its payer signed', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  world.answerWith(503)
  expect(await callWith(world.url, header)).toMatchObject({ status: 503 })
  world.answerWith(200)
  const later = rewritten(header, ({ authorization }) => ({
    authorization: {
      ...authorization,
      validBefore: String(Math.floor(Date.now() / 1000) + 400),
    },
    signature: `0x${'11'.repeat(65)}`,
  }))
  expect(await callWith(world.url, later)).toMatchObject({ status: 402, code: 'payment_invalid' })
  // Its payer still gets the call.
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
})

/** Neither refuses nor sends anything. */
const idle: Settler = { check: async () => undefined, settle: async () => undefined }

/** Reads a payment for the paid route as another process would. */
function otherProcess(header: string) {
  const { app, contracts } = world
  const parts = { settler: idle, payTo: contracts.payTo, chainId: 14, waitMs: 1500 }
  const direct = createDirectPayments({ ...app, ...parts })
  const payment = direct.read(header, 'providers-rewards')
  if (payment === undefined || 'reason' in payment) throw new Error('the payment is refused')
  return () => direct.settle(payment)
}

test('while its payer waits, nobody gets the call at another process with the same payment', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  const settleElsewhere = otherProcess(header)
  await setAutomine(false)
  const call = callWith(world.url, header)
  await expect
    .poll(() => world.database.sql`select from topups where wallet = ${payer.address}`)
    .toHaveLength(1)
  const elsewhere = settleElsewhere().catch((error: unknown) => error)
  await setAutomine(true)
  await world.devnet.mine(1, 1)
  expect(await elsewhere).toMatchObject({ code: 'payment_pending' })
  expect(await call).toMatchObject({ status: 200 })
  // Now that the call is charged, the payment says only that it was used.
  expect(await settleElsewhere()).toMatchObject({ wallet: payer.address, credits: 2 })
})

/** Sends the transfer of a payment from the account of somebody else. */
async function sendBySomebody(header: string): Promise<void> {
  const { devnet, contracts, app } = world
  const payment = app.directPayments?.read(header, 'providers-rewards')
  if (payment === undefined || 'reason' in payment) throw new Error('the payment is refused')
  const call = transferCall(payment.authorization, payment.signature, true)
  const hash = await devnet.client.sendTransaction({
    ...{ ...call, account: contracts.operator, chain: null, gas: 300_000n },
  })
  await devnet.client.waitForTransactionReceipt({ hash })
}

test('an authorization is credited once, even if its transfer moves into the transaction of somebody else', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
  const [paid] = await world.database.sql`
    select block_number from topup_payments where payer = ${payer.address}`
  await world.devnet.reorg(1)
  await world.devnet.mine(1, 1)
  await sendBySomebody(header)
  // A process that read the payment before it was credited still looks for it.
  await world.database.sql`
    update topups set authorization_block = ${paid?.['block_number']} where wallet = ${payer.address}`
  await settleLater()
  expect(await typesOf(payer)).toEqual(['topup', 'usage'])
})

test('a transfer that arrives after its payer deleted the account is credited', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  await setAutomine(false)
  expect(await callWith(world.url, header)).toMatchObject({ status: 503, code: 'payment_pending' })
  await transact(world.app.db, (tx) => forgetInBooks(tx, payer.address))
  await setAutomine(true)
  await world.devnet.mine(1, 1)
  await settleLater()
  expect(await typesOf(payer)).toEqual(['topup'])
})

async function typesOf({ address }: PrivateKeyAccount): Promise<readonly string[]> {
  const rows = await world.database.sql`
    select type from ledger_entries where wallet = ${address} order by position`
  return rows.map(({ type }) => type)
}

test('a payer who can pay one call makes the service send a few transfers only', async () => {
  const poor = await newPayer(world, 2000n)
  const [offer] = await directOffersOf(world.url)
  const headers = await Promise.all(Array.from({ length: 12 }, () => paymentFor(poor, offer)))
  await setAutomine(false)
  const answers = await Promise.all(headers.map((header) => callWith(world.url, header)))
  await world.devnet.mine(1, 1)
  await setAutomine(true)
  expect(answers.filter(({ code }) => code === 'rate_limited')).toHaveLength(4)
  await settleLater()
  expect(await typesOf(poor)).toEqual(['topup'])
})

test('a payment that somebody else sent is found for as long as it is valid, with blocks of one second', async () => {
  const { devnet, contracts } = world
  const [offer] = await directOffersOf(world.url)
  const validBefore = String(Math.floor(world.app.clock.now().getTime() / 1000) + 590)
  const header = await paymentFor(payer, offer, { authorization: { validBefore } })
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString())
  const { value, validAfter, ...same } = payload.authorization
  const numbers = { value: BigInt(value), validAfter: 0n, validBefore: BigInt(validBefore) }
  const authorization = { ...same, ...numbers, token: contracts.usdt0 }
  const call = transferCall(authorization, payload.signature, true)
  const hash = await devnet.client.sendTransaction({
    ...{ ...call, account: contracts.operator, chain: null, gas: 300_000n },
  })
  await devnet.client.waitForTransactionReceipt({ hash })
  await devnet.mine(540, 1)
  await world.sync()
  // While the blocks are read, the answer says so.
  const answer = () => callWith(world.url, header)
  const paid = { status: 200, settled: { transaction: hash } }
  await expect.poll(answer, { timeout: 20_000 }).toMatchObject(paid)
})
