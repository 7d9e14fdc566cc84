import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { Address } from '#src/kernel/units.ts'
import type { TopupDraft } from '../generated/api.ts'
import { deployContractWallet, execute } from '../support/contract-wallet.ts'
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

/** Payments of FLR from contract wallets, which cannot use plain transfers. */

const bob = PEOPLE.bob.account.address
const TREASURY = '0x00000000000000000000000000000000000f1a02'

describe.each([
  ['another address than plain transfers', {}],
  ['the address of plain transfers', { NATIVE_PAY_TO: TREASURY }],
])('with a router that forwards to %s', (_, over) => {
  let world: PayWorld
  let alice: Client
  let wallet: Address

  beforeAll(async () => {
    world = await payWorld(over)
    alice = await buyer(world, 'alice')
    wallet = await deployContractWallet(world.devnet, bob)
  })
  afterAll(() => world.close())

  /** Pays with the draft's call for contract wallets. */
  function pay({ contractWallet: call }: TopupDraft, value = BigInt(call?.value ?? 0)) {
    if (call === null) throw new Error('a contract wallet cannot pay this draft')
    const { to, data } = call as { to: Address; data: `0x${string}` }
    return execute(world.devnet, { from: bob, wallet, to, value, data })
  }

  test('is credited once without being submitted, and recorded as no other payment', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.settle()
    const { balance: before } = await ledgerOf(alice)
    const txHash = await pay(draft)
    for (let time = 0; time < 3; time += 1) await world.confirmAll()
    expect(await topupOf(alice, draft)).toMatchObject({ status: 'credited', txHash })
    expect((await ledgerOf(alice)).balance - before).toBe(10_000)
    expect(await unmatched(world)).toEqual([])
    expect(world.errors).toEqual([])
  })

  test('is credited once when its transaction is also submitted, several times', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    const { balance: before } = await ledgerOf(alice)
    const txHash = await pay(draft)
    const confirm = async () => {
      const path = `/topup/${draft.handle}/confirm`
      return (await alice.request('POST', path, { txHash })).status
    }
    expect(await confirm()).toBe(202)
    await world.devnet.mine(2, 1)
    await world.sync()
    await Promise.all([confirm(), world.settle(), confirm(), world.settle()])
    await world.confirmAll()
    expect(await confirm()).toBe(200)
    expect((await ledgerOf(alice)).balance - before).toBe(10_000)
    expect(await unmatched(world)).toEqual([])
  })

  test('in part is credited in part, and the remainder can be paid the same way', async () => {
    const draft = await draftOf(alice, { asset: 'FLR' })
    await pay(draft, BigInt(draft.amount) / 4n)
    await world.confirmAll()
    const path = `/pay/${draft.handle}`
    const page = await world.server.inject({ url: path })
    expect(page.body).toContain(draft.contractWallet?.data)
    await pay(draft, (BigInt(draft.amount) * 3n) / 4n)
    await world.confirmAll()
    expect(await topupOf(alice, draft)).toMatchObject({
      creditedCredits: 10_000,
      paidAmount: draft.amount,
    })
  })

  test('is not offered while the router is paused, nor for other assets', async () => {
    for (const asset of ['WFLR', 'XRP']) {
      expect(await draftOf(alice, { asset })).toMatchObject({ contractWallet: null })
    }
    await world.contracts.setPaused(true)
    const draft = await draftOf(alice, { asset: 'FLR' })
    await world.contracts.setPaused(false)
    expect(draft.contractWallet).toBeNull()
    expect(draft.instructions).toContain('cannot pay')
  })
})
