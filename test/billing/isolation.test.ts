import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendDueReminders } from '#src/billing/subscriptions/reminders.ts'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { settlePayments } from '#src/billing/topups/scan.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import { giveCredits, spendCredits } from '../support/credits.ts'
import { buyer, draftOf, ledgerOf, type PayWorld, payWorld, topupOf } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

/** One wallet or payment that always fails, among others. */

let world: PayWorld
let alice: Client
let bob: Client

const signal = new AbortController().signal

beforeAll(async () => {
  world = await payWorld()
  ;[alice, bob] = await Promise.all([buyer(world, 'alice'), buyer(world, 'bob')])
  await world.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
})
afterAll(() => world.close())

/** The service, with notices that fail for one wallet. */
function failingFor(wallet: Address): PayWorld['app'] {
  const notices = new Proxy(world.app.notices, {
    get: (target, name, receiver) => {
      const notice = Reflect.get(target, name, receiver)
      if (typeof notice !== 'function') return notice
      return (tx: unknown, what: { readonly wallet?: Address }) => {
        if (what.wallet?.toLowerCase() === wallet.toLowerCase())
          throw new Error('this wallet cannot be notified')
        return notice(tx, what)
      }
    },
  })
  return { ...world.app, notices }
}

const quarantined = (kind: string) =>
  world.app.quarantine.read().find((row) => row.kind === kind)?.rows ?? 0

async function buy(client: Client, autoRenew: boolean) {
  const { balance } = await ledgerOf(client)
  if (balance > 0) await spendCredits(world.app, client.caller.wallet, balance)
  await giveCredits(world.app, client.caller.wallet, 500)
  const order = { quantity: 1, periods: 1, autoRenew }
  const { status, body } = await client.request('POST', '/subscriptions', order)
  expect(status).toBe(201)
  return body
}

const statusOf = async (client: Client) =>
  (await client.request('GET', '/subscriptions')).body.data.at(-1).status

test('payments that cannot be settled delay no others, also not behind a full page of them', async () => {
  await world.sync()
  const poor = await draftOf(alice, { asset: 'FLR' })
  const good = await draftOf(bob, { asset: 'FLR' })
  await world.pay(poor)
  await world.pay(good)
  await world.sync()
  await settlePayments(failingFor(alice.caller.wallet), signal)
  const [open] = await world.sql`select * from topup_payments where handle = ${poor.handle}`
  // A page of payments like the one that fails, all seen before the good one.
  for (let n = 0; n < 120; n += 1) {
    await world.sql`insert into topup_payments ${world.sql({
      ...open,
      tx_hash: `0x${n.toString(16).padStart(64, '0')}`,
      seen_at: new Date(0),
    })}`
  }
  const before = await ledgerOf(bob)
  await world.devnet.mine(2, 1)
  await world.sync()
  await settlePayments(failingFor(alice.caller.wallet), signal)
  expect((await ledgerOf(bob)).balance - before.balance).toBe(10_000)
  expect((await topupOf(alice, poor)).status).toBe('confirming')
  expect(quarantined('payment')).toBeGreaterThanOrEqual(100)
  await world.sql`delete from topup_payments where seen_at = ${new Date(0)}`
  await world.settle()
  expect((await topupOf(alice, poor)).status).toBe('credited')
})

test('a wallet whose subscription cannot be renewed, reminded or fitted harms no other wallet', async () => {
  await buy(alice, true)
  const { endsAt } = await buy(bob, true)
  const app = failingFor(alice.caller.wallet)

  world.clock.set(new Date(Date.parse(endsAt) - DAY_MS))
  await sendDueReminders(app, signal)
  expect(quarantined('reminder')).toBe(1)
  const due = () =>
    world.sql`select wallet from subscriptions where remind_at <= ${world.clock.now()}`
  expect(await due()).toEqual([{ wallet: alice.caller.wallet }])

  world.clock.set(new Date(Date.parse(endsAt)))
  await renewDueSubscriptions(app, signal)
  expect([await statusOf(alice), await statusOf(bob)]).toEqual(['active', 'grace'])
  expect(quarantined('renewal')).toBe(1)

  world.clock.set(new Date(Date.parse(endsAt) + 4 * DAY_MS))
  await renewDueSubscriptions(world.app, signal)
  await fitWalletsWithChangedSlots(app, signal)
  const waiting = await world.sql`select distinct wallet from capacity_changes`
  expect(waiting).toEqual([{ wallet: alice.caller.wallet }])
  await fitWalletsWithChangedSlots(world.app, signal)
  expect(await world.sql`select from capacity_changes`).toHaveLength(0)
})

test('a stored time that the rules do not give is put into quarantine, and the pass ends', async () => {
  const { id, endsAt } = await buy(alice, true)
  world.clock.set(new Date(Date.parse(endsAt) - DAY_MS))
  await world.sql`update subscriptions set due_at = ${new Date(0)} where id = ${id}`
  await renewDueSubscriptions(world.app, signal)
  const [row] = await world.sql`select due_at, status from subscriptions where id = ${id}`
  expect(row).toEqual({ due_at: new Date(0), status: 'active' })
  expect(quarantined('renewal')).toBe(1)
})
