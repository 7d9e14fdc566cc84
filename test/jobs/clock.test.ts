import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendDueReminders } from '#src/billing/subscriptions/reminders.ts'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import { testClock } from '../support/clock.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

/** Money after a start with a clock of the database that was ahead and was set back. */

const signal = new AbortController().signal
const clock = testClock()

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

beforeAll(async () => {
  service = await serviceOnly({}, clock)
  alice = await signIn(service, 'alice')
  await service.sql`update tokens set expires_at = ${new Date('2090-01-01T00:00:00.000Z')}`
  await alice.request('POST', '/account/terms', { version: '2026-11' })
  await giveCredits(service.app, alice.caller.wallet, 10_000_000)
})
afterAll(() => service.close())

const startsAt = clock.now().getTime()
/** Sets the clock to a number of days after the start. */
const setClock = (days: number) => clock.set(new Date(startsAt + days * DAY_MS))

/** Titles of the notices so far, in the history of alerts. */
async function notices(): Promise<readonly string[]> {
  const { body } = await alice.request('GET', '/alerts?limit=100')
  return body.data.map(({ event }: { readonly event: string }) => event).toSorted()
}

test('nothing is charged, reminded of or suspended a second time after the clock was put back', async () => {
  const pass = async () => {
    await sendDueReminders(service.app, signal)
    await renewDueSubscriptions(service.app, signal)
    await fitWalletsWithChangedSlots(service.app, signal)
  }
  const state = async () => {
    const entries = await service.sql`
      select type, delta_credits, position from ledger_entries order by position`
    const { body } = await alice.request('GET', '/watches')
    return { entries: [...entries], watches: body.data, notices: await notices() }
  }
  setClock(0)
  await alice.request('POST', '/subscriptions', { quantity: 1, periods: 1, autoRenew: true })
  setClock(31)
  await pass()
  const before = await state()
  for (const days of [31 - 10 / 1440, 30, 1]) {
    setClock(days)
    await pass()
    expect(await state()).toEqual(before)
  }
  // The next term ends when it would have without that.
  setClock(61)
  await pass()
  expect((await state()).entries.length).toBeGreaterThan(before.entries.length)
})
