import { describe, expect, test } from 'vitest'
import { storedAddress } from '#src/kernel/units.ts'
import { type OutgoingMove, paidTopup } from './own-payments.ts'
import type { QuoteWithPayment } from './store.ts'

const WALLET = storedAddress('0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C')
const TOKEN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const PAY_TO = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const ROUTER = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const at = (minutes: number) => new Date(Date.UTC(2026, 10, 20, 12, minutes))

const [HANDLE, OTHER] = [`0x${'1a'.repeat(32)}`, `0x${'2b'.repeat(32)}`] as const

const coins: QuoteWithPayment = {
  handle: HANDLE,
  wallet: WALLET,
  token: null,
  payTo: PAY_TO,
  contractPayTo: ROUTER,
  amountUnits: 500n,
  createdAt: at(0),
  expiresAt: at(10),
  payment: null,
}
const tokens = { ...coins, token: TOKEN, payTo: ROUTER, contractPayTo: null }

function move(over: Partial<OutgoingMove> = {}): OutgoingMove {
  return {
    wallet: WALLET,
    asset: 'FLR',
    units: 501n,
    transactionHash: '0x01',
    counterparty: PAY_TO,
    at: at(1),
    ...over,
  }
}

const paysFor = (moved: OutgoingMove, quote: QuoteWithPayment) =>
  paidTopup(moved, [quote]) !== undefined

describe('an outgoing transfer', () => {
  test('of coins to the address of an open quote pays for it, whatever the fee', () => {
    expect(paysFor(move(), coins)).toBe(true)
    expect(paysFor(move({ counterparty: ROUTER }), coins)).toBe(true)
    expect(paysFor(move({ at: at(60) }), coins)).toBe(true)
  })

  test.each([
    ['to another address', { counterparty: TOKEN }],
    ['to an unknown address', { counterparty: null }],
    ['in another asset', { asset: TOKEN }],
    ['before the quote', { at: at(-6) }],
    ['long after the quote', { at: at(71) }],
  ])('%s does not pay for a quote in coins', (_, over) => {
    expect(paysFor(move(over), coins)).toBe(false)
  })

  test('of tokens pays for a quote of the same amount, whatever the receiver, because the router forwards to the treasury', () => {
    const paid = move({ asset: TOKEN, units: 500n, counterparty: WALLET })
    expect(paysFor(paid, tokens)).toBe(true)
    expect(paysFor({ ...paid, units: 501n }, tokens)).toBe(false)
    expect(paysFor({ ...paid, asset: 'FLR' }, tokens)).toBe(false)
  })

  test('pays for a quote whose recorded payment has its transaction, also late and in another amount', () => {
    const late = move({ asset: TOKEN, units: 7n, at: at(600), counterparty: WALLET })
    const payment = { way: 'router', txHash: '0x01', asset: TOKEN, amountUnits: 7n } as const
    expect(paysFor(late, { ...tokens, payment })).toBe(true)
    expect(paysFor(late, { ...tokens, payment: { ...payment, txHash: '0x02' } })).toBe(false)
    expect(paysFor({ ...late, transactionHash: null }, { ...tokens, payment })).toBe(false)
    const native = { way: 'native', txHash: '0x01', asset: 'FLR', amountUnits: 7n } as const
    expect(paysFor(move({ units: 8n, at: at(600) }), { ...tokens, payment: native })).toBe(true)
  })

  test.each([
    ['of another asset', { asset: WALLET }],
    ['of another amount', { units: 1_000_000n }],
    ['of coins to another address', { asset: 'FLR', counterparty: WALLET }],
  ])('%s in the transaction of a recorded payment does not pay, because anybody may pay', (_, over) => {
    const taken = move({ asset: TOKEN, units: 7n, counterparty: WALLET, ...over })
    const payment = { way: 'router', txHash: '0x01', asset: TOKEN, amountUnits: 7n } as const
    expect(paysFor(taken, { ...tokens, payment })).toBe(false)
    const inCoins = { ...payment, asset: 'FLR' }
    expect(paysFor(taken, { ...tokens, payment: inCoins })).toBe(false)
  })
})

describe('the top-up that was paid for', () => {
  const which = (moved: OutgoingMove, ...quotes: readonly QuoteWithPayment[]) =>
    paidTopup(moved, quotes)?.handle
  const other = { ...coins, handle: OTHER, amountUnits: 900n }

  test('is the only one that fits, also if a part was paid', () => {
    expect(which(move(), coins)).toBe(HANDLE)
    expect(which(move({ units: 100n }), coins)).toBe(HANDLE)
  })

  test('is that whose amount was paid, if several are open', () => {
    expect(which(move(), coins, other)).toBe(HANDLE)
    expect(which(move({ units: 905n }), coins, other)).toBe(OTHER)
  })

  test('is that of the recorded payment, whatever else fits', () => {
    const payment = { way: 'native', txHash: '0x01', asset: 'FLR', amountUnits: 7n } as const
    expect(which(move(), coins, { ...other, payment })).toBe(OTHER)
  })

  test('is not named if it could be one of several', () => {
    const moves = [move({ units: 100n }), move()]
    const twins = [other, { ...coins, amountUnits: 900n }, { ...coins, handle: OTHER }]
    expect(moves.map((moved) => paidTopup(moved, twins))).toEqual([
      { handle: undefined },
      { handle: OTHER },
    ])
  })

  test('has one name for two payments in one transaction', () => {
    const payment = { way: 'native', txHash: '0x01', asset: 'FLR', amountUnits: 7n } as const
    expect(which(move(), { ...coins, payment }, { ...coins, payment })).toBe(HANDLE)
  })
})
