import { parseEther, parseUnits } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  buyer,
  draftOf,
  ledgerOf,
  type PayWorld,
  payWorld,
  topupOf,
} from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

/** What is paid on the chain and what becomes of it. */

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

const confirm = (client: Client, { handle }: { handle: string }, txHash: string) =>
  client.request('POST', `/topup/${handle}/confirm`, { txHash })

/** How many credits a wallet gains while something happens. */
async function gained(client: Client, work: () => Promise<unknown>): Promise<number> {
  const before = await ledgerOf(client)
  await work()
  return (await ledgerOf(client)).balance - before.balance
}

describe('a payment as quoted', () => {
  test.each([
    ['WDG', 11_000],
    ['WFLR', 10_000],
    ['FXRP', 10_000],
    ['FLR', 10_000],
    ['XRP', 10_000],
  ])('in %s is found by itself and credited', async (asset, credits) => {
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
    expect(added.reduce((sum, { deltaCredits }) => sum + deltaCredits, 0)).toBe(credits)
    expect(added.every(({ reference }) => reference.includes(`:${draft.handle}:${hash}:`))).toBe(
      true,
    )
    expect(world.errors).toEqual([])
  })

  test('brings its bonus as an entry of its own', async () => {
    const draft = await draftOf(alice, { asset: 'WDG', credits: 12_345 })
    const hash = await world.pay(draft)
    await world.confirmAll()
    const { entries } = await ledgerOf(alice)
    const [bonus, topup] = entries
    expect(topup).toMatchObject({ type: 'topup', deltaCredits: 12_345 })
    expect(topup?.reference).toMatch(new RegExp(`^topup:${draft.handle}:${hash}:\\d+$`))
    expect(bonus).toMatchObject({ type: 'bonus', deltaCredits: 1234 })
    expect(bonus?.reference).toBe(topup?.reference.replace('topup', 'bonus'))
  })
})
