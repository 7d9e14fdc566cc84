import { expect, test } from 'vitest'
import { DAY_MS } from '#src/kernel/durations.ts'
import { whenOut } from './running-out.ts'
import { priceSlots } from './subscriptions/rules.ts'

const now = new Date('2026-11-20T08:00:00Z')
const after = (days: number) => new Date(now.getTime() + days * DAY_MS)
const wallet = '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'
const price = priceSlots(1, 1).totalCredits
const renewal = (days: number) => ({ at: after(days), quantity: 1, periods: 1 })
const out = (
  balanceCredits: number,
  usedCredits: number,
  ...renewals: readonly ReturnType<typeof renewal>[]
) => whenOut({ wallet, balanceCredits, usedCredits, renewals }, { now, until: after(14) })

test('a wallet runs out when calls use up what renewals leave, or a renewal is not covered', () => {
  expect(out(100, 0)).toBeUndefined()
  expect(out(100, 70)).toMatchObject({ at: after(10), cause: 'calls', creditsPerDay: 10 })
  expect(out(1000, 70)).toBeUndefined()
  expect(out(price, 0, renewal(3))).toBeUndefined()
  expect(out(price - 1, 0, renewal(3))).toMatchObject({
    at: after(3),
    cause: 'renewal',
    missingCredits: 1,
  })
  expect(out(price, 70, renewal(3))).toMatchObject({ cause: 'renewal', missingCredits: 30 })
  expect(out(2 * price - 5, 0, renewal(3), renewal(9))).toMatchObject({
    at: after(9),
    missingCredits: 5,
  })
  expect(out(20, 70, renewal(3))).toMatchObject({ at: after(2), cause: 'calls' })
})
