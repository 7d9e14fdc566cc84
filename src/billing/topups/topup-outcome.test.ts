import { describe, expect, test } from 'vitest'
import { type TopupAttempt, topupOutcomeOf, transactionOutcomeOf } from './topup-outcome.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const LATER = { expiresAt: new Date('2026-11-20T12:00:01Z') }
const OVER = { expiresAt: NOW }

function attempt(state: TopupAttempt['state'], over: Partial<TopupAttempt> = {}): TopupAttempt {
  const nothing = { amountUnits: null, credits: 0, confirmations: 0, reason: null }
  return { txHash: `0x${state}`, state, ...nothing, ...over }
}

describe('a top-up', () => {
  test('waits for its payment until the quote is over', () => {
    expect(topupOutcomeOf([], LATER, NOW)).toEqual({
      status: 'draft',
      txHash: null,
      confirmations: 0,
      paidUnits: null,
      creditedCredits: 0,
      reason: null,
    })
    expect(topupOutcomeOf([], OVER, NOW).status).toBe('expired')
  })

  test('shows the best attempt, in any order', () => {
    const worse = ['unknown', 'failed', 'rejected', 'submitted', 'confirming', 'credited'] as const
    for (const [index, state] of worse.entries()) {
      const tried = worse.slice(0, index + 1).map((state) => attempt(state))
      const expected = state === 'unknown' ? 'expired' : state
      expect(topupOutcomeOf(tried, OVER, NOW).status).toBe(expected)
      expect(topupOutcomeOf(tried.toReversed(), OVER, NOW).status).toBe(expected)
    }
  })

  test('counts all payments that were credited, and names the first', () => {
    const tried = [
      attempt('credited', { txHash: '0x1', amountUnits: 5n, credits: 50, confirmations: 2 }),
      attempt('rejected', { amountUnits: 900n, reason: 'wrong_asset' }),
      attempt('credited', { txHash: '0x2', amountUnits: 7n, credits: 70, confirmations: 3 }),
    ]
    expect(topupOutcomeOf(tried, OVER, NOW)).toEqual({
      status: 'credited',
      txHash: '0x1',
      confirmations: 2,
      paidUnits: 12n,
      creditedCredits: 120,
      reason: null,
    })
  })

  test('stays open while its transactions are unknown, and names the last of them', () => {
    const reason = 'transaction_not_found'
    const tried = [
      attempt('unknown', { txHash: '0x1', reason }),
      attempt('unknown', { txHash: '0x2', reason }),
    ]
    expect(topupOutcomeOf(tried, LATER, NOW)).toMatchObject({
      status: 'draft',
      txHash: '0x2',
      reason: 'transaction_not_found',
    })
  })

  test('keeps its state beside an unknown transaction, with the reason of that one', () => {
    const reason = 'transaction_not_found'
    const paid = attempt('credited', { txHash: '0x1', amountUnits: 5n, credits: 50 })
    const unknown = attempt('unknown', { txHash: '0x2', reason })
    const named = (tried: readonly TopupAttempt[], txHash: string) =>
      transactionOutcomeOf(tried, { txHash, expiresAt: LATER.expiresAt }, NOW)
    expect(named([paid, unknown], '0x2')).toEqual({ ...topupOutcomeOf([paid], LATER, NOW), reason })
    expect(named([paid, unknown], '0x1')).toEqual(topupOutcomeOf([paid], LATER, NOW))
    const refused = attempt('rejected', { txHash: '0x1', reason: 'too_small' })
    expect(named([refused, unknown], '0x2')).toEqual(topupOutcomeOf([unknown], LATER, NOW))
    const second = attempt('confirming', { txHash: '0x3', amountUnits: 7n })
    expect(named([paid, second], '0x3').status).toBe('confirming')
  })
})
