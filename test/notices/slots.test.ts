import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendDueReminders } from '#src/billing/subscriptions/reminders.ts'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import { giveCredits, spendCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { chatOf, notices, titles } from './notified.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

const START = new Date('2026-11-20T12:00:00.000Z')
const END = new Date('2026-12-20T12:00:00.000Z')
const TRIAL_END = new Date('2026-12-04T12:00:00.000Z')
const signal = new AbortController().signal

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
  await service.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
})
beforeEach(async () => {
  service.clock.set(START)
  await service.sql`
    truncate accounts, ledger_entries, trials, trial_accounts, subscriptions, capacity_changes, watches, targets,
      recipients, delivery_queue, delivery_log, notices cascade`
  await alice.request('POST', '/account/terms', { version: '2026-11' })
  await chatOf(service, alice)
})
afterAll(() => service.close())

/** Runs the jobs that depend on the clock, as one process. */
async function runJobs(): Promise<void> {
  await sendDueReminders(service.app, signal)
  await renewDueSubscriptions(service.app, signal)
  await fitWalletsWithChangedSlots(service.app, signal)
}

/** As `runJobs`, a number of days after an end. */
async function day(days: number, end = END): Promise<void> {
  service.clock.set(new Date(end.getTime() + days * DAY_MS))
  await runJobs()
}

const give = (credits: number) => giveCredits(service.app, alice.caller.wallet, credits)
const spend = (credits: number) => spendCredits(service.app, alice.caller.wallet, credits)

async function buy(quantity: number, autoRenew = false, periods = 1): Promise<void> {
  const order = { quantity, periods, autoRenew }
  expect((await alice.request('POST', '/subscriptions', order)).status).toBe(201)
}

async function watchNew(...labels: string[]): Promise<void> {
  for (const label of labels) {
    service.clock.advance(0.001)
    const input = { type: 'credits-balance', label, target: {}, settings: { limit: 1 } }
    expect((await alice.request('POST', '/watches', input)).status).toBe(201)
  }
}

describe('slots that end', () => {
  test('have one notice 7 days and one 1 day before their end, to the millisecond', async () => {
    await give(1500)
    await buy(3)
    await watchNew('a', 'b', 'c')
    await day(-7 - 1 / DAY_MS)
    expect(await titles(service)).toEqual([])
    await day(-7)
    await runJobs()
    const first = 'slots-end: 3 slots end on Dec 20, 2026'
    expect(await titles(service)).toEqual([first])
    await day(-1 - 1 / DAY_MS)
    expect(await titles(service)).toEqual([first])
    await day(-1)
    await runJobs()
    expect(await titles(service)).toEqual([first, first])
    await day(-0.5)
    expect(await titles(service)).toHaveLength(2)
    expect((await notices(service))[0]).toMatchObject({
      severity: 'warning',
      glyph: '🎟️',
      status: 'pending',
      body: [
        'Without renewal, these watches will be suspended: \u2068a\u2069, \u2068b\u2069, and \u2068c\u2069.',
        'With auto-renew: 1.50\u00a0USD (1,500 credits) every 30 days.',
      ].join('\n'),
    })
  })

  test('have one notice after the service was stopped for days, and none if they have ended in the meantime', async () => {
    await give(1500)
    await buy(3)
    await day(-0.5)
    expect(await titles(service)).toHaveLength(1)
    await day(0)
    await give(1500)
    service.clock.set(START)
    await buy(3)
    await day(0.1)
    expect((await titles(service)).filter((title) => title.startsWith('slots-end'))).toHaveLength(1)
  })

  test('have one notice with two concurrent processes', async () => {
    await give(1500)
    await buy(3)
    service.clock.set(new Date(END.getTime() - 7 * DAY_MS))
    await Promise.all(Array.from({ length: 4 }, () => sendDueReminders(service.app, signal)))
    expect(await titles(service)).toHaveLength(1)
  })

  test('have a notice that lists only the watches that stop, or says that none does', async () => {
    await give(5000)
    await buy(1, false, 2)
    await buy(2)
    await watchNew('kept', 'second')
    await day(-7)
    await alice.request('DELETE', `/watches/${(await firstWatch()).id}`)
    await day(-1)
    expect((await notices(service)).map(({ body }) => body.split('\n')[0])).toEqual([
      'Without renewal, these watches will be suspended: \u2068second\u2069.',
      'No watch will be suspended: your other slots are enough.',
    ])
  })

  test('have a notice that lists five watches and counts the others', async () => {
    await give(5000)
    await buy(7)
    await watchNew('a', 'b', 'c', 'd', 'e', 'f', 'g')
    await day(-7)
    expect((await notices(service))[0]?.body.split('\n')[0]).toBe(
      `Without renewal, these watches will be suspended: ${isolated('a', 'b', 'c', 'd', 'e')}, and 2 more.`,
    )
  })

  test('have a notice 3 days before a renewal that is covered, and a receipt afterwards', async () => {
    await give(1500)
    await buy(3, true)
    await give(1600)
    await day(-7)
    await day(-3 - 1 / DAY_MS)
    expect(await titles(service)).toEqual([])
    await day(-3)
    await runJobs()
    await day(-1)
    const announced =
      'renewal-ahead: Auto-renew on Dec 20, 2026: 3 slots · 1.50\u00a0USD (1,500 credits)'
    expect(await titles(service)).toEqual([announced])
    await day(0)
    await runJobs()
    expect(await titles(service)).toEqual([
      announced,
      'renewed: 3 slots renewed until Jan 19, 2027 · 1.50\u00a0USD (1,500 credits)',
    ])
    expect((await notices(service)).map(({ body }) => body)).toEqual([
      'You have 1.60\u00a0USD (1,600 credits).\n' +
        'No action needed. To let the slots expire, turn off auto-renew under Slots.',
      'Left: 0.10\u00a0USD (100 credits).',
    ])
  })

  test('have no notice 3 days before if they do not renew, or the credits do not suffice', async () => {
    await give(2500)
    await buy(3)
    await buy(2, true)
    await day(-7)
    const reminded = await titles(service)
    expect(reminded).toHaveLength(2)
    await day(-3)
    expect(await titles(service)).toEqual(reminded)
    await day(-1)
    expect(await titles(service)).toHaveLength(4)
  })

  test('have one notice about their renewal if the service was stopped on the third day before', async () => {
    await give(1500)
    await buy(3, true)
    await give(1500)
    await day(-0.5)
    await runJobs()
    expect(await titles(service)).toEqual([
      'renewal-ahead: Auto-renew on Dec 20, 2026: 3 slots · 1.50\u00a0USD (1,500 credits)',
    ])
  })

  test('renewed for several terms after a long stop have one receipt', async () => {
    await give(1500)
    await buy(3, true)
    await give(3000)
    await day(31)
    expect(await notices(service)).toMatchObject([
      {
        title: '3 slots renewed until Feb 18, 2027 · 3\u00a0USD (3,000 credits)',
        body: 'Left: 0\u00a0USD (0 credits).',
      },
    ])
  })

  test('have a notice with the missing credits if the credits do not cover their renewal', async () => {
    await give(1500)
    await buy(3, true)
    await give(420)
    await watchNew('a')
    await day(-7)
    expect(await notices(service)).toMatchObject([
      {
        title: '3 slots end on Dec 20, 2026',
        body: 'Renewal costs 1.50\u00a0USD (1,500 credits); you are 1.08\u00a0USD (1,080 credits) short.\nIf renewal fails, these watches will be suspended: \u2068a\u2069.',
        buttons: [
          [
            { label: 'Top up', act: '1:topup' },
            { label: 'Slots', act: '1:slots' },
          ],
        ],
      },
    ])
    await give(1080)
    await day(-1)
    expect((await titles(service)).slice(1)).toEqual([
      'renewal-ahead: Auto-renew on Dec 20, 2026: 3 slots · 1.50\u00a0USD (1,500 credits)',
    ])
  })

  test('have a notice that takes into account the credits of earlier renewals', async () => {
    await give(1000)
    await buy(1, true)
    service.clock.advance(60)
    await buy(1, true)
    await give(700)
    await day(-6)
    expect(await notices(service)).toMatchObject([
      {
        body: expect.stringContaining(
          'Renewal costs 0.50\u00a0USD (500 credits); you are 0.30\u00a0USD (300 credits) short.',
        ),
      },
    ])
  })

  test('have a notice by the current state if renewal was switched off or on in between', async () => {
    await give(1500)
    await buy(3, true)
    await give(1500)
    await day(-7)
    expect(await titles(service)).toEqual([])
    await alice.request('PATCH', '/subscriptions', { autoRenew: false })
    await day(-1)
    expect(await titles(service)).toHaveLength(1)
    await service.sql`truncate subscriptions, delivery_queue, delivery_log, notices`
    service.clock.set(START)
    await buy(3)
    await give(1500)
    await day(-7)
    expect(await titles(service)).toHaveLength(1)
    await alice.request('PATCH', '/subscriptions', { autoRenew: true })
    await day(-1)
    expect((await titles(service)).slice(1)).toEqual([
      'renewal-ahead: Auto-renew on Dec 20, 2026: 3 slots · 1.50\u00a0USD (1,500 credits)',
    ])
  })

  test('have a notice again in the next term', async () => {
    await give(3000)
    await buy(3, true)
    await day(0)
    await day(23)
    await day(29)
    const reminded = 'slots-end: 3 slots end on Jan 19, 2027'
    expect((await titles(service)).slice(1)).toEqual([reminded, reminded])
  })

  test('have a notice that offers auto-renew by name and one renewal, in a private chat by buttons', async () => {
    await give(1500)
    await buy(3)
    const { body } = await alice.request('GET', '/subscriptions')
    await day(-7)
    const id = Number(body.data[0].id).toString(36)
    expect((await notices(service))[0]?.buttons).toEqual([
      [
        { label: 'Turn on auto-renew', act: `1:slots.renew:${id}:1` },
        { label: 'Renew once', act: `1:slots.again:${id}` },
        { label: 'Slots', act: '1:slots' },
      ],
    ])
  })
})

describe('a renewal that fails', () => {
  test('has a notice at each try, with the missing credits, the next try and the watches that stop', async () => {
    await give(1500)
    await buy(3, true)
    await give(420)
    await watchNew('a', 'b')
    service.clock.set(END)
    await renewDueSubscriptions(service.app, signal)
    await day(0)
    await day(0.99)
    expect(await notices(service)).toMatchObject([
      {
        kind: 'renewal-failed',
        title: 'Renewal failed: 1.08\u00a0USD (1,080 credits) short',
        body: [
          'Next attempt: Dec 21, 2026, 12:00\u00a0UTC. Final attempt: Dec 22, 2026, 12:00\u00a0UTC.',
          `These watches will be suspended on Dec 23, 2026: \u2068a\u2069 and \u2068b\u2069.`,
        ].join('\n'),
      },
    ])
    await spend(20)
    await day(1)
    await day(2)
    await day(2.99)
    const all = await notices(service)
    expect(all.map(({ title }) => title).slice(1)).toEqual([
      'Renewal failed: 1.10\u00a0USD (1,100 credits) short',
      'Renewal failed: 1.10\u00a0USD (1,100 credits) short',
    ])
    expect(all[1]?.body).toContain('Next and final attempt: Dec 22, 2026, 12:00\u00a0UTC.')
    expect(all[2]?.body).toContain('That was the final attempt.')
    await day(3)
    expect((await titles(service)).slice(3)).toEqual(['suspended: 2 watches suspended'])
  })

  test('has one notice for missed tries, and none if its grace has ended', async () => {
    await give(1500)
    await buy(3, true)
    await day(1.5)
    expect(await notices(service)).toMatchObject([
      { body: expect.stringContaining('Next and final attempt') },
    ])
    await service.sql`truncate subscriptions, delivery_queue, delivery_log, notices`
    service.clock.set(START)
    await give(1500)
    await buy(3, true)
    await watchNew('a')
    await day(10)
    expect(await titles(service)).toEqual(['suspended: 1 watch suspended'])
  })

  test('has one notice with concurrent processes', async () => {
    await give(1500)
    await buy(3, true)
    service.clock.set(END)
    await Promise.all(Array.from({ length: 4 }, () => renewDueSubscriptions(service.app, signal)))
    expect(await titles(service)).toHaveLength(1)
  })
})

describe('watches that lose their slot', () => {
  test('are listed in one notice when they are suspended, and in one when they run again', async () => {
    await give(5000)
    await buy(2)
    await watchNew('a', 'b')
    await day(0)
    await day(0)
    service.clock.advance(60)
    await buy(1)
    await runJobs()
    await runJobs()
    const others = (await notices(service)).filter(({ kind }) => kind !== 'slots-end')
    expect(others).toMatchObject([
      {
        title: '2 watches suspended',
        severity: 'warning',
        body: [
          'Without a slot since Dec 20, 2026, 12:00\u00a0UTC: \u2068a\u2069 and \u2068b\u2069.',
          'A suspended watch is kept and resumes automatically when a slot is free.',
        ].join('\n'),
        buttons: [
          [
            { label: 'Get slots', act: '1:slots.quote:2:1:0' },
            { label: 'Watches', act: '1:watch.list:1' },
          ],
        ],
      },
      {
        title: '1 watch resumed',
        severity: 'info',
        body: 'Slots are available again. Resumed: \u2068a\u2069.',
      },
    ])
  })

  test('have a notice that they run again if another watch is deleted', async () => {
    await give(5000)
    await buy(1, false, 2)
    await buy(1)
    await watchNew('a', 'b')
    await day(0)
    const { id } = await firstWatch()
    service.clock.advance(60)
    expect((await alice.request('DELETE', `/watches/${id}`)).status).toBe(204)
    expect((await titles(service)).at(-1)).toBe('resumed: 1 watch resumed')
    expect((await notices(service)).at(-1)?.body).toBe(
      'Slots are available again. Resumed: \u2068b\u2069.',
    )
  })
})

describe('the trial', () => {
  const trial = () => alice.request('POST', '/subscriptions/trial')

  test('has one notice 2 days before its end and one at its end', async () => {
    await trial()
    await watchNew('Node A')
    await day(-2 - 1 / DAY_MS, TRIAL_END)
    expect(await titles(service)).toEqual([])
    await day(-2, TRIAL_END)
    await day(-1, TRIAL_END)
    expect(await notices(service)).toMatchObject([
      {
        title: 'Your trial ends on Dec 4, 2026',
        body: 'These watches will then be suspended: \u2068Node A\u2069.\nA slot costs 0.50\u00a0USD (500 credits) per 30 days.',
        buttons: [
          [
            { label: 'Get a slot', act: '1:slots.quote:1:1:0' },
            { label: 'Later', act: '1:close' },
          ],
        ],
      },
    ])
    await day(0, TRIAL_END)
    await day(1, TRIAL_END)
    expect((await notices(service)).slice(1)).toMatchObject([
      {
        kind: 'trial-ended',
        title: 'Your trial has ended',
        body: [
          'Without a slot since Dec 4, 2026, 12:00\u00a0UTC: \u2068Node A\u2069.',
          'A suspended watch is kept and resumes automatically when a slot is free.',
          'A slot costs 0.50\u00a0USD (500 credits) per 30 days.',
        ].join('\n'),
      },
    ])
  })

  test('that ended while no process ran has one notice, which says that it has ended', async () => {
    await trial()
    await watchNew('Node A')
    await day(9, TRIAL_END)
    await day(10, TRIAL_END)
    expect(await titles(service)).toEqual(['trial-ended: Your trial has ended'])
  })

  test('and slots that ended while no process ran have a notice each, with their own watches', async () => {
    await give(2000)
    await trial()
    await buy(2)
    service.clock.advance(60)
    await buy(1)
    await watchNew('a', 'b', 'c', 'd')
    await day(10)
    await day(11)
    const notified = (await notices(service)).map(
      ({ kind, body }) => `${kind}: ${body.split('\n')[0]}`,
    )
    expect(notified.toSorted()).toEqual([
      'suspended: Without a slot since Dec 20, 2026, 12:00\u00a0UTC: \u2068b\u2069 and \u2068c\u2069.',
      'suspended: Without a slot since Dec 20, 2026, 12:01\u00a0UTC: \u2068a\u2069.',
      'trial-ended: Without a slot since Dec 4, 2026, 12:00\u00a0UTC: \u2068d\u2069.',
    ])
  })

  test('ends with a notice that lists no watch that has another slot', async () => {
    await give(1000)
    await trial()
    await watchNew('Node A')
    await buy(1)
    await day(-2, TRIAL_END)
    await day(0, TRIAL_END)
    expect((await notices(service)).map(({ body }) => body.split('\n')[0])).toEqual([
      'No watch will be suspended.',
      'No watch was suspended.',
    ])
    const [, ended] = await notices(service)
    expect(ended?.buttons.flat().map(({ label }) => label)).toEqual(['Slots', 'Watches'])
  })

  test('has one notice with concurrent processes', async () => {
    await trial()
    service.clock.set(new Date(TRIAL_END.getTime() - 2 * DAY_MS))
    await Promise.all(Array.from({ length: 4 }, () => sendDueReminders(service.app, signal)))
    service.clock.set(TRIAL_END)
    await Promise.all(
      Array.from({ length: 4 }, () => fitWalletsWithChangedSlots(service.app, signal)),
    )
    expect(await titles(service)).toHaveLength(2)
  })
})

async function firstWatch(): Promise<{ id: number }> {
  const { body } = await alice.request('GET', '/watches')
  return body.data[0]
}

function isolated(...labels: string[]): string {
  return labels.map((label) => `\u2068${label}\u2069`).join(', ')
}
