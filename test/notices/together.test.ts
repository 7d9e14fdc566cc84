import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendSummaries } from '#src/alerts/summaries/summaries.ts'
import { replaceSettings } from '#src/recipients/settings.ts'
import { giveCredits } from '../support/credits.ts'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { chatOf, mailboxOf, notices } from './notified.ts'

/** Several notices to one reader within ten minutes are one message after the first. */

let world: World
let alice: Client
let term = 0

const NOON = new Date('2026-11-20T12:00:00.000Z')
const minutes = (count: number) => world.clock.advance(count * 60)
const run = () => sendSummaries(world.app, new AbortController().signal)

beforeAll(async () => {
  world = await harness()
  alice = await signIn(world, 'alice')
  await giveCredits(world.app, alice.caller.wallet, 10_000)
})
beforeEach(async () => {
  await world.sql`truncate recipients, delivery_queue, delivery_log, notices`
  await world.sql`delete from notification_settings`
  world.clock.set(NOON)
})
afterAll(() => world.close())

/** Notifies of a new renewal of the wallet's slots. */
async function renewed(quantity: number): Promise<void> {
  term += 1
  const about = { wallet: alice.caller.wallet, id: 7, term, credits: 500, balanceCredits: 10_000 }
  const endsAt = new Date('2026-12-20T12:00:00.000Z')
  await world.app.db.transaction((tx) =>
    world.app.notices.renewed(tx, { ...about, quantity, endsAt }),
  )
}

/** Notifies of watches that run again. */
async function resumed(): Promise<void> {
  const at = world.clock.now()
  await world.app.db.transaction((tx) =>
    world.app.notices.fitted(tx, {
      wallet: alice.caller.wallet,
      suspended: [],
      resumed: ['Alpha'],
      capacity: 5,
      trialEndedAt: undefined,
      at,
    }),
  )
}

/** Notices that are sent at once: not deferred, and not part of another message. */
async function sent(): Promise<{ readonly title: string; readonly body: string }[]> {
  return (await notices(world)).filter(({ status }) => status !== 'held')
}

describe('notices within ten minutes', () => {
  test('are sent in one message, except the first notice, which is sent at once', async () => {
    await chatOf(world, alice)
    await renewed(1)
    expect((await sent()).map(({ title }) => title)).toEqual([
      '1 slot renewed until Dec 20, 2026 · 0.50\u00a0USD (500 credits)',
    ])
    minutes(3)
    await renewed(2)
    minutes(4)
    await resumed()
    await run()
    expect(await sent()).toHaveLength(1)
    minutes(3)
    await run()
    const [, together, ...others] = await sent()
    expect(others).toEqual([])
    expect(together?.title).toBe(
      '2 slots renewed until Dec 20, 2026 · 0.50\u00a0USD (500 credits) · 1 more message',
    )
    expect(together?.body).toContain(
      '▪️ 2 slots renewed until Dec 20, 2026 · 0.50\u00a0USD (500 credits)\nLeft: ',
    )
    expect(together?.body).toContain('▪️ 1 watch resumed\n')
    expect(together?.body).toContain('Resumed: \u2068Alpha\u2069.')
    minutes(1)
    await run()
    expect(await sent()).toHaveLength(2)
  })

  test('that follow such a message wait for the next message', async () => {
    await chatOf(world, alice)
    await renewed(1)
    minutes(1)
    await renewed(2)
    minutes(9)
    await run()
    minutes(5)
    await renewed(3)
    await run()
    expect(await sent()).toHaveLength(2)
    minutes(5)
    await run()
    expect((await sent()).at(-1)?.title).toBe(
      '3 slots renewed until Dec 20, 2026 · 0.50\u00a0USD (500 credits)',
    )
  })

  test('are sent at once again after ten quiet minutes', async () => {
    await chatOf(world, alice)
    await renewed(1)
    minutes(10)
    await renewed(2)
    expect(await sent()).toHaveLength(2)
  })

  test('begin with the most severe, and have each button whose meaning is unambiguous', async () => {
    await chatOf(world, alice)
    await renewed(1)
    await resumed()
    await world.app.db.transaction((tx) =>
      world.app.notices.fitted(tx, {
        wallet: alice.caller.wallet,
        suspended: ['Beta', 'Gamma'],
        resumed: [],
        capacity: 1,
        trialEndedAt: undefined,
        at: world.clock.now(),
      }),
    )
    minutes(10)
    await run()
    const together = (await notices(world)).find(({ title }) => title.includes('more message'))
    expect(together).toMatchObject({
      title: '2 watches suspended · 1 more message',
      severity: 'warning',
    })
    expect(together?.body).toMatch(/^▪️ 2 watches suspended\n/)
    expect(together?.buttons.flat().map(({ label }) => label)).toEqual(['Get slots', 'Watches'])
  })

  test('add up slots that end on one day, and say so if the day has passed when they are sent', async () => {
    await chatOf(world, alice)
    const endsAt = new Date('2026-11-20T12:30:00.000Z')
    const ends = async (id: number) => {
      const at = world.clock.now()
      const offer = { credits: id * 500, periods: 1 }
      const ending = { id, term: id, quantity: id, endsAt, renewal: null, offer, slotsLeft: 0, at }
      await world.app.db.transaction((tx) =>
        world.app.notices.slotsEnd(tx, { ...ending, wallet: alice.caller.wallet }),
      )
    }
    await ends(1)
    await ends(2)
    await ends(3)
    minutes(10)
    await run()
    expect((await sent()).map(({ title }) => title)).toEqual([
      '1 slot ends on Nov 20, 2026',
      '5 slots end on Nov 20, 2026',
    ])
    await ends(4)
    minutes(60)
    await run()
    expect((await sent()).at(-1)?.title).toBe('4 slots expired on Nov 20, 2026')
  })

  test('are collected for each recipient separately', async () => {
    await chatOf(world, alice)
    await renewed(1)
    await world.sql`truncate recipients`
    await mailboxOf(world, alice)
    await renewed(2)
    expect(await sent()).toHaveLength(2)
  })
})

describe('notices about the safety of the account', () => {
  const link = (id: number) => chatOf(world, alice, { id })

  test('do not wait for other notices, but are collected with each other', async () => {
    await link(1001)
    await renewed(1)
    const others = async () => (await sent()).map(({ title }) => title.replace(/ to .*/, ''))
    await link(1002)
    expect(await others()).toContain('A chat was linked')
    await link(1003)
    const held = (await notices(world)).filter(({ status }) => status === 'held')
    expect(held.length).toBeGreaterThan(0)
    minutes(10)
    await run()
    expect(
      (await notices(world)).filter(({ status }) => status === 'pending').length,
    ).toBeGreaterThan(2)
  })

  test('are not collected if quiet hours would then defer them', async () => {
    await link(1001)
    const { body } = await alice.request('GET', '/settings')
    const { version: _version, ...settings } = body
    const quietHours = { ...settings.quietHours, enabled: true, from: '11:00', to: '20:00' }
    await replaceSettings(world.app, alice.caller, {
      settings: { ...settings, quietHours },
    })
    await link(1002)
    await link(1003)
    expect((await notices(world)).filter(({ status }) => status === 'held')).toEqual([])
  })
})

describe('a stop of the process', () => {
  test('loses and repeats no notice', async () => {
    await chatOf(world, alice)
    await renewed(1)
    minutes(1)
    await renewed(2)
    minutes(1)
    await renewed(3)
    minutes(8)
    const broken = {
      ...world.app,
      db: new Proxy(world.app.db, {
        get: (db, name) =>
          name === 'transaction'
            ? (work: (tx: unknown) => Promise<unknown>) =>
                db.transaction(async (tx) => {
                  await work(tx)
                  throw new Error('killed before the commit')
                })
            : Reflect.get(db, name),
      }),
    }
    await sendSummaries(broken, new AbortController().signal).catch(() => undefined)
    expect(await sent()).toHaveLength(1)
    await Promise.all([run(), run()])
    await run()
    expect((await sent()).map(({ title }) => title)).toEqual([
      '1 slot renewed until Dec 20, 2026 · 0.50\u00a0USD (500 credits)',
      '5 slots renewed until Dec 20, 2026 · 1\u00a0USD (1,000 credits)',
    ])
  })
})
