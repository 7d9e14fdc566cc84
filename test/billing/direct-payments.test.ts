import { decodePaymentResponseHeader } from '@x402/core/http'
import { getAddress, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { acceptTerms } from '#src/billing/account/service.ts'
import { transferCall } from '#src/chain/payments/authorizations.ts'
import { MINUTE_SECONDS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { walletCode } from '../chain/contracts.ts'
import {
  type Changes,
  callWith,
  creditedUnits,
  type DirectWorld,
  directOffersOf,
  directWorld,
  newPayer,
  offersOf,
  payingFetch,
  paymentFor,
  received,
} from '../support/x402.ts'

let world: DirectWorld
let payer: PrivateKeyAccount

beforeAll(async () => {
  world = await directWorld({}, 1500)
})
beforeEach(async () => {
  world.answerWith(200)
  // Each payment is of a payer of its own.
  payer = await newPayer(world)
  await world.sync()
})
afterAll(async () => {
  // Whatever happened above: the ledger has what arrived, and nothing else.
  const [ledger, arrived] = [await creditedUnits(world), await received(world)]
  await world.close()
  expect(ledger).toBe(arrived)
  expect(arrived).toBeGreaterThan(0n)
})

const entriesOf = async (wallet: Address) =>
  (
    await world.database.sql`
      select type, delta_credits::int as delta, reference from ledger_entries
      where wallet = ${wallet} order by position`
  ).map(({ type, delta }) => [type, delta])

const sentBySettler = () =>
  world.devnet.client.getTransactionCount({ address: world.settler.address })

test('the official client goes from 402 to 200, and the ledger has the payment and the call', async () => {
  const before = await received(world)
  const answer = await payingFetch(payer)(world.url)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ rewards: 7 })
  const said = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '')
  expect(said).toMatchObject({
    ...{ success: true, payer: payer.address, network: 'eip155:14', amount: '2000' },
  })
  const receipt = await world.devnet.client.getTransactionReceipt({
    hash: said.transaction as `0x${string}`,
  })
  expect(receipt.status).toBe('success')
  expect(answer.headers.get('x-credits-charged')).toBe('2')
  expect(await entriesOf(payer.address)).toEqual([
    ['topup', 2],
    ['usage', -2],
  ])
  expect((await received(world)) - before).toBe(2000n)
  const page = await world.server.inject(`/pay/${String(said.extra?.['topup'])}`)
  expect(page.statusCode).toBe(200)
  expect(page.payload).toContain(said.transaction.slice(0, 10))
})

test('the prepaid offers come first, and the body has only them', async () => {
  const offers = await offersOf(world.url)
  expect(offers.map(({ scheme }) => scheme)).toEqual([
    ...Array.from({ length: 4 }, () => 'flare-watchdog-prepaid'),
    ...['exact', 'exact'],
  ])
  const [call, topup] = await directOffersOf(world.url)
  expect(call).toMatchObject({
    network: 'eip155:14',
    amount: '2000',
    payTo: world.contracts.payTo,
    asset: world.contracts.usdt0,
    extra: { name: 'USD₮0', version: '1', credits: 2, needsTerms: false },
  })
  expect(topup).toMatchObject({ amount: '10000000', extra: { credits: 10_000, needsTerms: true } })
  const body = await (await fetch(world.url)).json()
  expect(body.accepts).toHaveLength(4)
})

test('a payment pays for one call, however often it is sent', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
  const again = await callWith(world.url, header)
  expect(again).toMatchObject({
    ...{ status: 402, code: 'payment_used' },
    settled: { success: false, payer: payer.address },
  })
  expect(await entriesOf(payer.address)).toEqual([
    ['topup', 2],
    ['usage', -2],
  ])
})

test('of two calls at once with one payment one is answered, and one transfer is made', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  const before = await sentBySettler()
  const answers = await Promise.all([callWith(world.url, header), callWith(world.url, header)])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 402])
  expect((await sentBySettler()) - before).toBe(1)
  expect(await entriesOf(payer.address)).toHaveLength(2)
})

test('payments of several payers at once are all made', async () => {
  const payers = await Promise.all(Array.from({ length: 4 }, () => newPayer(world)))
  const answers = await Promise.all(payers.map((one) => payingFetch(one)(world.url)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test('a call that fails gives its credits back, and the payment pays for it again', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  world.answerWith(503)
  const failed = await callWith(world.url, header)
  expect(failed).toMatchObject({ status: 503, settled: { success: true } })
  world.answerWith(200)
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
  expect(await callWith(world.url, header)).toMatchObject({ status: 402, code: 'payment_used' })
  expect(await entriesOf(payer.address)).toEqual([
    ['topup', 2],
    ['usage', -2],
    ['refund', 2],
    ['usage', -2],
  ])
})

test('a top-up needs the terms, and leaves its credits to the payer alone', async () => {
  const [, offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  const before = await sentBySettler()
  expect(await callWith(world.url, header)).toMatchObject({
    ...{ status: 403, code: 'terms_not_accepted' },
  })
  expect(await sentBySettler()).toBe(before)
  const caller = { wallet: payer.address, scopes: ['write'], via: 'http' } as const
  const { version } = world.app.billing.terms
  await acceptTerms(world.app, caller, { version })
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
  // The header is public once it is on the chain: it spends nothing more.
  expect(await callWith(world.url, header)).toMatchObject({ status: 402, code: 'payment_used' })
  expect(await entriesOf(payer.address)).toEqual([
    ['topup', 10_000],
    ['usage', -2],
  ])
})

const soon = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds)
const OTHER = '0x00000000000000000000000000000000000000A1'

test.each<[string, string, Changes]>([
  ['another amount', 'invalid_payment_requirements', { accepted: { amount: '1' } }],
  ['another token', 'invalid_payment_requirements', { accepted: { asset: OTHER } }],
  ['another payee', 'invalid_payment_requirements', { accepted: { payTo: OTHER } }],
  ['another network', 'invalid_network', { accepted: { network: 'eip155:1' } }],
  [
    'less than it says',
    'invalid_exact_evm_payload_authorization_value',
    { authorization: { value: '1999' } },
  ],
  [
    'more than it says',
    'invalid_exact_evm_payload_authorization_value',
    { authorization: { value: '2001' } },
  ],
  [
    'a transfer to somebody else',
    'invalid_exact_evm_payload_recipient_mismatch',
    { authorization: { to: OTHER } },
  ],
  [
    'an expired authorization',
    'invalid_exact_evm_payload_authorization_valid_before',
    { authorization: { validBefore: soon(-1) } },
  ],
  [
    'one that is about to expire',
    'invalid_exact_evm_payload_authorization_valid_before',
    { authorization: { validBefore: soon(5) } },
  ],
  [
    'one that is valid for an hour',
    'invalid_exact_evm_payload_authorization_valid_before',
    { authorization: { validBefore: soon(60 * MINUTE_SECONDS) } },
  ],
  [
    'one that is valid later',
    'invalid_exact_evm_payload_authorization_valid_after',
    { authorization: { validAfter: soon(60) } },
  ],
  ['a negative amount', 'invalid_payload', { authorization: { value: '-2000' } }],
  [
    'a nonce of another length',
    'invalid_payload',
    { authorization: { nonce: '0x12' }, signed: { nonce: `0x${'12'.repeat(32)}` } },
  ],
  ['a signature of other fields', 'invalid_exact_evm_payload_signature', { signed: { value: 1n } }],
  [
    'a signature for another chain',
    'invalid_exact_evm_payload_signature',
    { domain: { chainId: 19 } },
  ],
  [
    'a signature for another token',
    'invalid_exact_evm_payload_signature',
    { domain: { verifyingContract: OTHER } },
  ],
  [
    'a signature of somebody else',
    'invalid_exact_evm_payload_signature',
    { authorization: { from: OTHER } },
  ],
])('%s is refused with %s, and nothing is sent', async (_what, reason, changes) => {
  const [offer] = await directOffersOf(world.url)
  const before = await sentBySettler()
  const signed = changes.authorization
    ? { ...changes, signed: sane({ ...changes.authorization, ...changes.signed }) }
    : changes
  const answer = await callWith(world.url, await paymentFor(payer, offer, signed))
  expect(answer).toMatchObject({ status: 402, code: 'payment_invalid', error: reason })
  expect(await sentBySettler()).toBe(before)
  expect(await entriesOf(payer.address)).toEqual([])
})

/** Fields that can be signed at all. */
function sane(fields: Readonly<Record<string, unknown>>): object {
  return { ...fields, ...(fields['value'] === '-2000' && { value: '2000' }) }
}

test.each([
  ['no JSON', 'not base64 at all', 'unsupported_scheme'],
  [
    'the prepaid scheme',
    encoded({ accepted: { scheme: 'flare-watchdog-prepaid' } }),
    'unsupported_scheme',
  ],
  ['a list', encoded([]), 'unsupported_scheme'],
  ['nothing inside', encoded({ x402Version: 2, accepted: { scheme: 'exact' } }), 'invalid_payload'],
  [
    'another version',
    encoded({ x402Version: 1, accepted: { scheme: 'exact' } }),
    'invalid_payload',
  ],
])('a payment with %s is refused', async (_what, header, error) => {
  expect(await callWith(world.url, header)).toMatchObject({ status: 402, error })
})

function encoded(payload: unknown): string {
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

test('a payer without the token is refused before anything is sent', async () => {
  const before = await sentBySettler()
  const poor = await newPayer(world, 1999n)
  const answer = await payingFetch(poor)(world.url)
  expect(answer.status).toBe(402)
  expect((await answer.json()).error).toBe('invalid_transaction_state')
  expect(await sentBySettler()).toBe(before)
})

const CANCEL_ABI = parseAbi(['function cancel(bytes32 nonce)'])

test('a transfer that somebody else sent with the payment counts like any other', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString())
  const { from, to, nonce, ...numbers } = payload.authorization
  const call = transferCall(
    {
      ...{ token: world.contracts.usdt0, from, to, nonce, value: BigInt(numbers.value) },
      ...{ validAfter: BigInt(numbers.validAfter), validBefore: BigInt(numbers.validBefore) },
    },
    payload.signature,
    true,
  )
  const { client } = world.devnet
  const hash = await client.sendTransaction({
    ...{ ...call, account: world.contracts.operator, chain: null, gas: 300_000n },
  })
  await client.waitForTransactionReceipt({ hash })
  const before = await sentBySettler()
  expect(await callWith(world.url, header)).toMatchObject({
    ...{ status: 200, settled: { transaction: hash } },
  })
  expect(await sentBySettler()).toBe(before)
})

test('a contract wallet pays with the signature of its owner', async () => {
  const wallet = getAddress(`0x${'c0de'.repeat(10)}`)
  await world.devnet.client.setCode({ address: wallet, bytecode: walletCode(payer.address) })
  await world.contracts.mint(world.contracts.usdt0, wallet, 5000n)
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer, { authorization: { from: wallet } })
  expect(await callWith(world.url, header)).toMatchObject({
    status: 200,
    settled: { payer: wallet },
  })
  const other = await paymentFor(await newPayer(world), offer, { authorization: { from: wallet } })
  const error = 'invalid_exact_evm_payload_signature'
  expect(await callWith(world.url, other)).toMatchObject({ error })
  // Nor does a nonce that the wallet has used already.
  const { nonce } = JSON.parse(Buffer.from(header, 'base64').toString()).payload.authorization
  await world.database.sql`delete from topups where wallet = ${wallet}`
  const used = { authorization: { from: wallet, nonce } }
  const again = await paymentFor(await newPayer(world), offer, used)
  expect(await callWith(world.url, again)).toMatchObject({ error })
  expect(await entriesOf(wallet)).toHaveLength(2)
})

test('an authorization that the payer canceled is refused', async () => {
  const [offer] = await directOffersOf(world.url)
  const nonce = `0x${'5a'.repeat(32)}` as const
  const { client } = world.devnet
  await world.devnet.setBalance(payer.address, 10n ** 18n)
  await client.waitForTransactionReceipt({
    hash: await client.writeContract({
      ...{ address: world.contracts.usdt0, abi: CANCEL_ABI, functionName: 'cancel' },
      ...{ args: [nonce], account: payer.address, chain: null },
    }),
  })
  const header = await paymentFor(payer, offer, { authorization: { nonce } })
  const before = await sentBySettler()
  expect((await callWith(world.url, header)).status).not.toBe(200)
  expect(await sentBySettler()).toBe(before)
  expect(await entriesOf(payer.address)).toEqual([])
})

test('without gas nothing is sent; with gas the same payment is made', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  const gas = await world.devnet.client.getBalance({ address: world.settler.address })
  await world.devnet.setBalance(world.settler.address, 0n)
  expect(await callWith(world.url, header)).toMatchObject({
    ...{ status: 503, code: 'settlement_unavailable' },
  })
  await world.devnet.setBalance(world.settler.address, gas)
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
  expect(await entriesOf(payer.address)).toHaveLength(2)
})

test('a price of gas that would empty the account is not paid', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  world.rpc.rewrite('eth_gasPrice', () => '0xde0b6b3a7640000')
  expect(await callWith(world.url, header)).toMatchObject({ code: 'settlement_unavailable' })
  await world.rpc.up()
})

test('what an endpoint says of a transfer is no proof', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  // It takes the transaction, and sends none.
  world.rpc.rewrite('eth_sendRawTransaction', (hash) => hash)
  // It hides the events, and says that the transfer failed.
  world.rpc.emptyLogs()
  world.rpc.rewrite('eth_getBlockReceipts', (receipts) =>
    (receipts as { status: string }[]).map((receipt) => ({ ...receipt, status: '0x0' })),
  )
  world.rpc.rewrite('eth_getTransactionReceipt', (receipt) => ({
    ...(receipt as object),
    status: '0x0',
  }))
  expect(await callWith(world.url, header)).toMatchObject({ status: 503, code: 'payment_pending' })
  expect(await entriesOf(payer.address)).toEqual([])
  await world.rpc.up()
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
  expect(await entriesOf(payer.address)).toEqual([
    ['topup', 2],
    ['usage', -2],
  ])
})

test('without receipts nothing is credited', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  world.rpc.rewrite('eth_getBlockReceipts', () => null)
  world.rpc.rewrite('eth_getTransactionReceipt', () => null)
  expect(await callWith(world.url, header)).toMatchObject({ status: 503, code: 'payment_pending' })
  expect(await entriesOf(payer.address)).toEqual([])
  await world.rpc.up()
  // The watcher goes on without the request.
  await world.pass(61)
  await world.settle()
  expect(await entriesOf(payer.address)).toEqual([['topup', 2]])
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
})

test('a transaction that no endpoint passes on is sent again with the same payment', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  await world.devnet.client.request({ method: 'evm_setAutomine', params: [false] } as never)
  expect(await callWith(world.url, header)).toMatchObject({ status: 503, code: 'payment_pending' })
  await world.devnet.client.request({ method: 'anvil_dropAllTransactions', params: [] } as never)
  await world.devnet.client.request({ method: 'evm_setAutomine', params: [true] } as never)
  expect(await callWith(world.url, header)).toMatchObject({ status: 200 })
  expect(await entriesOf(payer.address)).toHaveLength(2)
})

test('a payment that is never made ends with its authorization', async () => {
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  await world.devnet.client.request({ method: 'evm_setAutomine', params: [false] } as never)
  expect(await callWith(world.url, header)).toMatchObject({ status: 503, code: 'payment_pending' })
  await world.devnet.client.request({ method: 'anvil_dropAllTransactions', params: [] } as never)
  await world.devnet.client.request({ method: 'evm_setAutomine', params: [true] } as never)
  await world.pass(301)
  await world.settle()
  const open = await world.database.sql`
    select from topups where wallet = ${payer.address} and authorization_block is not null`
  expect(open).toHaveLength(0)
  expect(await entriesOf(payer.address)).toEqual([])
})
