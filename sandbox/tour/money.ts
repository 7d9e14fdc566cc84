import { z } from 'zod'
import { Address, Hash } from '#src/kernel/units.ts'
import { type Customer, UnexpectedAnswerError } from '../customer.ts'
import type { World } from '../world.ts'
import { pollUntil } from './poll.ts'

/** Alice's purchases, one function per step. */

const CREDITS = 10_000
/** A thousand credits are one US dollar, and a WFLR is 0.02 US dollars in this world. */
const WFLR_UNITS = 500n * 10n ** 18n
const SLOT_CREDITS = 500
const FREE_CALLS = 50
const CALL_CREDITS = 1
const CALLS_AT_ONCE = 10
const DATA_PATH = '/ftso-analytics/feeds'

const Asset = z.object({ symbol: z.string(), available: z.boolean() })
const Coin = z.object({ available: z.boolean() })
const Pricing = z.object({ assets: z.array(Asset), nativeXrp: Coin, nativeFlr: Coin })
const Draft = z.object({
  handle: Hash,
  status: z.literal('draft'),
  amount: z.literal(`${WFLR_UNITS}`),
  bonusCredits: z.literal(0),
  approval: z.object({ token: Address, spender: Address }),
})
const Topup = z.object({ status: z.string(), creditedCredits: z.int() })
const Quote = z.object({ totalCredits: z.literal(SLOT_CREDITS), shortfallCredits: z.literal(0) })
const Bought = z.object({ quantity: z.literal(1), totalCredits: z.literal(SLOT_CREDITS) })
const Data = z.object({ feeds: z.array(z.object({ name: z.string(), value: z.string() })) })
const AccountAnswer = z.object({
  balanceCredits: z.int(),
  freeTier: z.object({ used: z.int() }),
  slots: z.object({ purchased: z.int() }),
  ledger: z.object({
    data: z.array(
      z.object({ type: z.string(), deltaCredits: z.int(), balanceAfterCredits: z.int() }),
    ),
  }),
})

/** An unpaid top-up. */
export type DraftTopup = z.output<typeof Draft>

/**
 * Checks that every payment asset is available.
 * @throws UnexpectedAnswerError
 */
export async function checkPrices(alice: Customer): Promise<void> {
  const pricing = await alice.call('GET', '/pricing', { status: 200, body: Pricing })
  const { assets, nativeFlr, nativeXrp } = pricing
  const usable = assets.filter(({ available }) => available).map(({ symbol }) => symbol)
  const wanted = ['WDG', 'WFLR', 'FXRP']
  if (usable.join() === wanted.join() && nativeFlr.available && nativeXrp.available) return
  throw new UnexpectedAnswerError('five ways to pay, all available', JSON.stringify(pricing))
}

/** Creates a top-up in WFLR. */
export function draftTopup(alice: Customer): Promise<DraftTopup> {
  const json = { asset: 'WFLR', credits: CREDITS }
  return alice.call('POST', '/topup', { json, status: 201, body: Draft })
}

/**
 * Approves the router and pays through it.
 * @returns hash and block of the payment
 */
export async function payTopup(
  { devnet }: World,
  { handle, approval, amount }: DraftTopup,
): Promise<{ readonly hash: Hash; readonly block: bigint }> {
  const from = devnet.people.alice.account.address
  const { contracts } = devnet
  if (approval.spender !== contracts.router) {
    throw new UnexpectedAnswerError(`an approval of ${contracts.router}`, approval.spender)
  }
  const mined = await contracts.pay(from, handle, approval.token, BigInt(amount))
  if (mined.status !== 'success')
    throw new UnexpectedAnswerError('a payment', `${mined.status} ${mined.hash}`)
  return { hash: mined.hash, block: mined.blockNumber }
}

/** Names the payment and waits until it is credited, once and in full. */
export async function confirmTopup(
  alice: Customer,
  { handle }: DraftTopup,
  txHash: Hash,
): Promise<void> {
  const path = `/topup/${handle}/confirm`
  await alice.call('POST', path, { json: { txHash }, status: [200, 202], body: Topup })
  const { creditedCredits } = await pollUntil(
    'the top-up to be credited',
    () => alice.call('GET', `/topup/${handle}`, { status: 200, body: Topup }),
    ({ status }) => status === 'credited',
  )
  if (creditedCredits !== CREDITS) {
    throw new UnexpectedAnswerError(`${CREDITS} credits`, `${creditedCredits} credits`)
  }
  await checkAccount(alice, { purchased: 0, used: 0, ledger: [['topup', CREDITS]] })
}

/** Reads the price of a slot for one period and buys it at that price, with auto-renew. */
export async function buySlot(alice: Customer): Promise<void> {
  const slots = 'quantity=1&periods=1'
  const { totalCredits: expectedCredits } = await alice.call(
    'GET',
    `/subscriptions/quote?${slots}`,
    { status: 200, body: Quote },
  )
  const json = { quantity: 1, periods: 1, expectedCredits, autoRenew: true }
  await alice.call('POST', '/subscriptions', { json, status: 201, body: Bought })
  await checkAccount(alice, {
    purchased: 1,
    used: 0,
    ledger: [
      ['subscription', -SLOT_CREDITS],
      ['topup', CREDITS],
    ],
  })
}

/** Calls data until the free calls are used up. */
export async function useFreeCalls(alice: Customer): Promise<void> {
  const left: number[] = []
  while (left.length < FREE_CALLS) {
    const calls = Array.from({ length: CALLS_AT_ONCE }, () => callForData(alice))
    for (const { charged, freeLeft } of await Promise.all(calls)) {
      if (charged !== 0)
        throw new UnexpectedAnswerError('a free call', `one for ${charged} credits`)
      left.push(freeLeft)
    }
  }
  const distinct = new Set(left)
  if (distinct.size === FREE_CALLS && distinct.has(0)) return
  throw new UnexpectedAnswerError('each free call to be counted once', left.join(' '))
}

/** Calls once more, for one credit. */
export async function makePaidCall(alice: Customer): Promise<void> {
  const balance = CREDITS - SLOT_CREDITS - CALL_CREDITS
  const call = await callForData(alice)
  if (call.charged !== CALL_CREDITS || call.balance !== balance) {
    throw new UnexpectedAnswerError(`1 credit charged, ${balance} left`, JSON.stringify(call))
  }
  await checkAccount(alice, {
    purchased: 1,
    used: FREE_CALLS,
    ledger: [
      ['usage', -CALL_CREDITS],
      ['subscription', -SLOT_CREDITS],
      ['topup', CREDITS],
    ],
  })
}

async function callForData(alice: Customer) {
  const { data, ...call } = await alice.callForData(DATA_PATH)
  if (!Data.safeParse(data).success) throw new UnexpectedAnswerError('feeds', JSON.stringify(data))
  return call
}

/**
 * Checks that balance and ledger, newest first, are exactly these.
 * @throws UnexpectedAnswerError
 */
async function checkAccount(
  alice: Customer,
  wanted: {
    readonly purchased: number
    readonly used: number
    readonly ledger: readonly (readonly [string, number])[]
  },
): Promise<void> {
  const account = await alice.call('GET', '/account', { status: 200, body: AccountAnswer })
  const entries = wanted.ledger.map(([type, deltaCredits], at) => ({
    type,
    deltaCredits,
    balanceAfterCredits: wanted.ledger.slice(at).reduce((sum, [, delta]) => sum + delta, 0),
  }))
  const expected = {
    balanceCredits: entries[0]?.balanceAfterCredits ?? 0,
    freeTier: { used: wanted.used },
    slots: { purchased: wanted.purchased },
    ledger: { data: entries },
  }
  const [came, due] = [JSON.stringify(account), JSON.stringify(expected)]
  if (came !== due) throw new UnexpectedAnswerError(`the account ${due}`, came)
}
