import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { parseAbi, parseUnits } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { USDT0 } from '#src/billing/direct/model.ts'
import { createOwnSettler } from '#src/billing/direct/own-settler.ts'
import { createDirectPayments } from '#src/billing/direct/service.ts'
import { utcDay } from '#src/billing/metering/rules.ts'
import { takeFreeCalls } from '#src/billing/metering/store.ts'
import { createSettlementAccount } from '#src/chain/payments/settlement-account.ts'
import { createMeter } from '#src/http/meter.ts'
import type { App } from '#src/operations/define.ts'
import { testClock } from './clock.ts'
import { type PayWorld, payWorld } from './pay-world.ts'

/**
 * A world whose service takes payments with calls, listens, and has no free calls for this machine.
 *
 * @param waitMs longest wait for the confirmations of a payment
 */
export async function directWorld(over: Readonly<Record<string, string>> = {}, waitMs?: number) {
  const key = generatePrivateKey()
  // The official client reads the clock of the machine.
  const clock = testClock(new Date())
  const settings = 'X402_FACILITATOR_URL' in over ? {} : { X402_SETTLEMENT_KEY: key }
  const world = await payWorld({ CONFIRMATIONS: '1', ...settings, ...over }, clock)
  const { app, devnet, contracts } = world
  if (waitMs !== undefined && !('X402_FACILITATOR_URL' in over)) {
    const { chain, log } = app
    const account = createSettlementAccount({ endpoints: chain.access.endpoints, key, chainId: 14 })
    const settler = createOwnSettler({ account, log })
    const parts = { settler, payTo: contracts.payTo, chainId: 14, waitMs }
    setDirectPayments(app, createDirectPayments({ ...app, ...parts }))
  }
  const settler = privateKeyToAccount(key)
  await devnet.setBalance(settler.address, parseUnits('1', 18))
  await takeFreeCalls(app.db, '127.0.0.1', utcDay(clock.now()), 50)
  const { meter } = createMeter(world.server, app)
  let status = 200
  world.server.get('/paid', { preHandler: meter('providers-rewards') }, async (_request, reply) =>
    reply.code(status).send({ rewards: 7 }),
  )
  const url = await world.server.listen({ port: 0, host: '127.0.0.1' })
  return {
    ...world,
    key,
    url: `${url}/paid`,
    settler,
    /** Sets the status with which the paid route answers. */
    answerWith: (next: number) => {
      status = next
    },
  }
}

export type DirectWorld = Awaited<ReturnType<typeof directWorld>>

/** Replaces the direct payments of a service, before it gets any. */
export function setDirectPayments(app: App, directPayments: App['directPayments']): void {
  Object.assign(app, { directPayments })
}

/** A new account, with 100 USD₮0. */
export async function newPayer(
  { contracts }: Pick<PayWorld, 'contracts'>,
  units = 100_000_000n,
): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  if (units > 0n) await contracts.mint(contracts.usdt0, account.address, units)
  return account
}

/** The official client of x402 with its scheme `exact`, as its documentation sets it up. */
export function payingFetch(account: PrivateKeyAccount, send: typeof fetch = fetch): typeof fetch {
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
  return wrapFetchWithPayment(send, client) as typeof fetch
}

/** An offer as a client reads it. */
export interface Offer {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** The offers of a call that is not paid: the prepaid ones, the one for this call, and the one for a top-up. */
export async function offersOf(url: string): Promise<readonly Offer[]> {
  const answer = await fetch(url)
  const header = answer.headers.get('payment-required') ?? ''
  return JSON.parse(Buffer.from(header, 'base64').toString()).accepts
}

/** The direct offers: for this call, and for a top-up. */
export async function directOffersOf(url: string): Promise<readonly [Offer, Offer]> {
  const [call, topup] = (await offersOf(url)).filter(({ scheme }) => scheme === 'exact')
  if (call === undefined || topup === undefined) throw new Error('no direct offers')
  return [call, topup]
}

/** What a payment has that an honest client would have otherwise. */
export interface Changes {
  readonly accepted?: object
  readonly authorization?: object
  /** Signed, in place of the authorization that is sent. */
  readonly signed?: object
  readonly domain?: object
}

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** The header of a payment for an offer, signed by an account. */
export async function paymentFor(
  account: PrivateKeyAccount,
  offer: Offer,
  { accepted, authorization: other, signed, domain }: Changes = {},
): Promise<string> {
  const authorization = {
    from: account.address,
    to: offer.payTo,
    value: offer.amount,
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + 300),
    nonce: generatePrivateKey(),
    ...other,
  }
  const signature = await account.signTypedData({
    domain: {
      name: USDT0.name,
      version: USDT0.version,
      chainId: 14,
      verifyingContract: USDT0.address,
      ...domain,
    },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { ...authorization, ...signed } as never,
  })
  const payload = { signature, authorization }
  const payment = { x402Version: 2, accepted: { ...offer, ...accepted }, payload }
  return Buffer.from(JSON.stringify(payment)).toString('base64')
}

/** Calls with the header of a payment. */
export async function callWith(url: string, header: string) {
  const answer = await fetch(url, { headers: { 'payment-signature': header } })
  const response = answer.headers.get('payment-response')
  const body = JSON.parse(await answer.text())
  return {
    status: answer.status,
    body,
    code: body.code as string | undefined,
    error: body.error as string | undefined,
    settled: response === null ? undefined : JSON.parse(Buffer.from(response, 'base64').toString()),
  }
}

const BALANCE_ABI = parseAbi(['function balanceOf(address) view returns (uint256)'])

/** What the service has received, in the smallest unit. */
export function received({
  devnet,
  contracts,
}: Pick<PayWorld, 'devnet' | 'contracts'>): Promise<bigint> {
  return devnet.client.readContract({
    address: contracts.usdt0,
    abi: BALANCE_ABI,
    functionName: 'balanceOf',
    args: [contracts.payTo],
  })
}

/** What the ledger says was received: the credits of all top-ups as units of the token. */
export async function creditedUnits({ database }: Pick<PayWorld, 'database'>): Promise<bigint> {
  const [row] = await database.sql`
    select coalesce(sum(delta_credits), 0)::text as credits from ledger_entries where type = 'topup'`
  return BigInt(row?.['credits']) * 1000n
}
