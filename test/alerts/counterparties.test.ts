import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '#src/kernel/units.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** What an alert about a transfer says about the other account. */

const MOVED = 'wallet-balance.moved'
const CAROL = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const DAVE = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

let world: AlertWorld
let watchId: number

beforeAll(async () => {
  world = await alertWorld()
  watchId = await world.watch('Treasury')
})
afterAll(() => world.close())

/** Records transfers of one observation, and returns what their alerts say about the other account. */
async function rolesOf(id: number, ...all: readonly JsonObject[]): Promise<readonly unknown[]> {
  await world.record(id, ...all.map((data) => ({ event: MOVED, data })))
  const { body } = await world.alice.request('GET', `/alerts?limit=${all.length}`)
  return body.data.map(({ data }: { data: JsonObject }) => data['counterpartyRole'])
}

test('an account is new in its first alert, and seen in the next ones of the same watch', async () => {
  expect(await rolesOf(watchId, { counterparty: CAROL })).toEqual(['new'])
  expect(await rolesOf(watchId, { counterparty: CAROL })).toEqual(['seen'])
  expect(await rolesOf(watchId, { counterparty: DAVE })).toEqual(['new'])
  const other = await world.watch('Other')
  expect(await rolesOf(other, { counterparty: CAROL })).toEqual(['new'])
})

test('the wallet of the owner is called so, and several accounts are unknown', async () => {
  const { wallet } = world.alice.caller
  expect(await rolesOf(watchId, { counterparty: wallet })).toEqual(['own-wallet'])
  expect(await rolesOf(watchId, { counterparty: null })).toEqual(['unknown'])
})

test('the address of another watch of the same wallet is watched, that of the watch itself is not', async () => {
  const cold = await world.watch('Cold')
  const address = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
  await world.sql`
    with target as (
      insert into targets (type, key, target, watch_count, must_judge)
      values ('wallet-balance', 'cold', ${world.sql.json({ address, asset: 'FLR' })}, 1, false)
      returning id
    )
    update watches set type = 'wallet-balance', target_id = target.id from target where watches.id = ${cold}`
  expect(await rolesOf(watchId, { counterparty: address })).toEqual(['watched'])
  expect(await rolesOf(cold, { counterparty: address })).toEqual(['new'])
})

test('the message in the chat begins with the watch, and says to whom', async () => {
  await world.deliver()
  world.forgetMessages()
  await world.record(watchId, { event: MOVED, data: { counterparty: DAVE } })
  await world.deliver()
  const [first, , , body, advice] = world.chatTexts()[0]?.split('\n') ?? []
  expect(first).toBe('🟠 Treasury sent 12,500\u00a0FLR')
  expect(body).toContain('secure the wallet now')
  expect(advice).toBe('Sent to 0x90F7…b906, as in an earlier alert of this watch.')
})

test('the payment of a top-up says nothing about the other account', async () => {
  expect(await rolesOf(watchId, { counterparty: CAROL, isTopUp: true })).toEqual([undefined])
})
