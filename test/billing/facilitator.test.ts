import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createFacilitator } from '#src/billing/direct/facilitator.ts'
import { createDirectPayments } from '#src/billing/direct/service.ts'
import type { TransferAuthorization } from '#src/chain/chain.ts'
import { transferCall } from '#src/chain/payments/authorizations.ts'
import { createFacilitatorClient } from '#src/chain/payments/facilitator-client.ts'
import {
  callWith,
  creditedUnits,
  type DirectWorld,
  directOffersOf,
  directWorld,
  newPayer,
  payingFetch,
  paymentFor,
  received,
  setDirectPayments,
} from '../support/x402.ts'

let world: DirectWorld
let payer: PrivateKeyAccount
type Answer = (response: ServerResponse, body: Asked) => void | Promise<void>
interface Asked {
  readonly paymentPayload: {
    readonly payload: {
      readonly signature: `0x${string}`
      readonly authorization: Record<'from' | 'to' | 'nonce', `0x${string}`> &
        Record<'value' | 'validAfter' | 'validBefore', string>
    }
  }
  readonly paymentRequirements: Readonly<Record<string, unknown>>
}
let onVerify: Answer
let onSettle: Answer
const asked: string[] = []

const facilitator = createServer(async (request, response) => {
  asked.push(request.url ?? '')
  const body: Asked = JSON.parse(await text(request))
  await (request.url === '/x402/verify' ? onVerify : onSettle)(response, body)
})

const say = (answer: unknown) => (response: ServerResponse) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
}

/** Sends the transfer from an account of its own. */
async function transfer({ paymentPayload }: Asked): Promise<void> {
  const { signature, authorization: sent } = paymentPayload.payload
  const { usdt0: token, operator: account } = world.contracts
  const authorization: TransferAuthorization = {
    ...{ token, from: sent.from, to: sent.to, nonce: sent.nonce, value: BigInt(sent.value) },
    ...{ validAfter: BigInt(sent.validAfter), validBefore: BigInt(sent.validBefore) },
  }
  const { client } = world.devnet
  const call = {
    ...transferCall(authorization, signature, true),
    account,
    chain: null,
    gas: 300_000n,
  }
  await client.waitForTransactionReceipt({ hash: await client.sendTransaction(call) })
}

beforeAll(async () => {
  await new Promise<void>((resolve) => facilitator.listen(0, '127.0.0.1', resolve))
  const { port } = facilitator.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/x402`
  world = await directWorld({ X402_FACILITATOR_URL: url })
  const { app, contracts } = world
  const settler = createFacilitator({ ...app, ask: createFacilitatorClient(url) })
  const parts = { settler, payTo: contracts.payTo, chainId: 14, waitMs: 1500 }
  setDirectPayments(app, createDirectPayments({ ...app, ...parts }))
})
beforeEach(async () => {
  payer = await newPayer(world)
  await world.sync()
  asked.length = 0
  onVerify = say({ isValid: true, payer: payer.address })
})
afterAll(async () => {
  facilitator.close()
  const [ledger, arrived] = [await creditedUnits(world), await received(world)]
  await world.close()
  expect(ledger).toBe(arrived)
  expect(arrived).toBe(3n * 2000n)
})

test('the official client pays through a facilitator', async () => {
  let requirements: unknown
  onSettle = async (response, body) => {
    requirements = body.paymentRequirements
    await transfer(body)
    say({ success: true, transaction: `0x${'11'.repeat(32)}`, network: 'eip155:14' })(response)
  }
  const answer = await payingFetch(payer)(world.url)
  expect(answer.status).toBe(200)
  expect(asked).toEqual(['/x402/verify', '/x402/settle'])
  expect(requirements).toMatchObject({ scheme: 'exact', network: 'eip155:14', amount: '2000' })
})

test('what it refuses is refused, and settled by nobody', async () => {
  onVerify = say({ isValid: false, invalidReason: 'insufficient_funds' })
  const answer = await payingFetch(payer)(world.url)
  expect(answer.status).toBe(402)
  expect(asked).toEqual(['/x402/verify'])
})

test.each<[string, Answer]>([
  ['says that it settled, and did not', say({ success: true, transaction: '0x12' })],
  ['says nothing that can be read', (response) => void response.end('<html>welcome</html>')],
  ['answers with an error', (response) => void response.writeHead(500).end('{}')],
  ['ends the connection', (response) => void response.destroy()],
  [
    'sends elsewhere',
    (response) => void response.writeHead(302, { location: '/x402/verify' }).end(),
  ],
  ['answers without an end', (response) => void response.end(`"${'x'.repeat(100_000)}"`)],
])('one that %s gets nothing credited', async (_what, answer) => {
  onSettle = answer
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  expect(await callWith(world.url, header)).toMatchObject({ status: 503, code: 'payment_pending' })
  const [entry] = await world.database.sql`
    select from ledger_entries where wallet = ${payer.address}`
  expect(entry).toBeUndefined()
})

test('one that says it failed, and did not, cannot hide the payment', async () => {
  onSettle = async (response, body) => {
    await transfer(body)
    say({ success: false, errorReason: 'unexpected_settle_error' })(response)
  }
  expect((await payingFetch(payer)(world.url)).status).toBe(200)
})

test('one that is slow is waited for on the chain', async () => {
  onSettle = async (response, body) => {
    await transfer(body)
    response.destroy()
  }
  expect((await payingFetch(payer)(world.url)).status).toBe(200)
})

test('one that does not answer at all takes no payments', async () => {
  onVerify = (response) => void response.destroy()
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  expect(await callWith(world.url, header)).toMatchObject({ code: 'settlement_unavailable' })
})
