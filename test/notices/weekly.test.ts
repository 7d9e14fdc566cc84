import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { countIncidents } from '#src/alerts/service.ts'
import { sendScheduled } from '#src/notices/scheduled.ts'
import { weeklyCards } from '#src/notices/weekly.ts'
import { readWeeklyCard } from '#src/notices/weekly-link.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { chatOf } from './notified.ts'

/** The card of the last week: who gets it, when, and what it counts. */

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

/** A Monday; it is 10 o'clock in Berlin. */
const MONDAY = new Date('2026-11-30T09:00:00.000Z')
const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const GOOD = 'g'.repeat(13)

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
  await service.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
})
beforeEach(async () => {
  service.clock.set(MONDAY)
  await service.sql`
    truncate watches, targets, recipients, delivery_queue, delivery_log, notices, notification_settings, alerts, fsp_rounds cascade`
})
afterAll(() => service.close())

async function watch(type: string, target: object, observation: object | null): Promise<number> {
  const [row] = await service.sql<{ id: number }[]>`
    insert into targets (type, key, target, watch_count, observation, must_judge)
    values (${type}, ${JSON.stringify(target)}, ${service.sql.json({ ...target })}, 1,
      ${observation && service.sql.json({ ...observation })}, false) returning id`
  const [added] = await service.sql<{ id: number }[]>`
    insert into watches (wallet, type, target_id, label, settings, signals, min_severity, cooldown_seconds, status,
      version, created_at, updated_at)
    values (${alice.caller.wallet}, ${type}, ${row?.id ?? 0}, ${`My ${type}`}, '{}', '[]', 'info', 0, 'active', 1,
      ${MONDAY}, ${MONDAY}) returning id`
  return added?.id ?? 0
}

async function round(id: number, at: string, letters: string | undefined): Promise<void> {
  const providers = letters === undefined ? {} : { [PROVIDER]: { c: letters } }
  await service.sql`
    insert into fsp_rounds (round, reward_epoch, starts_at, block_number, block_hash, block_at, providers)
    values (${id}, 1, ${at}, ${id}, ${`0x${'00'.repeat(32)}`}, ${at}, ${service.sql.json(providers)})`
}

async function turnOn(over: object = {}): Promise<void> {
  const { body } = await alice.request('GET', '/settings')
  expect(body.weeklyCard).toBe(false)
  const changed = await alice.request('PUT', '/settings', { ...body, weeklyCard: true, ...over })
  expect(changed.status).toBe(200)
}

async function run(): Promise<void> {
  const deps = { ...service.app, countIncidents }
  const cards = weeklyCards(deps)
  if (cards !== undefined) await sendScheduled(deps, cards, new AbortController().signal)
}

async function cards() {
  const rows = await service.sql<{ title: string; body: string; card: string; channel: string }[]>`
    select envelope->'message'->>'title' as title, envelope->'message'->>'body' as body, envelope->>'card' as card, channel
    from deliveries where envelope->'message'->>'event' = 'notice.weekly' order by id`
  return rows.map((row) => ({ ...row, card: readWeeklyCard(service.app.box, row.card) }))
}

describe('a weekly card', () => {
  test('counts the rounds, duties and incidents of the week of its reader, from Monday to Sunday', async () => {
    await chatOf(service, alice, { timezone: 'Europe/Berlin' })
    const watchId = await watch('provider-fsp', { provider: PROVIDER }, null)
    await round(1, '2026-11-22T22:59:00.000Z', GOOD.replace('g', 'b'))
    await round(2, '2026-11-22T23:00:00.000Z', GOOD)
    await round(3, '2026-11-24T12:00:00.000Z', `b${GOOD.slice(1)}`)
    await round(4, '2026-11-25T12:00:00.000Z', undefined)
    await round(5, '2026-11-29T22:59:59.000Z', GOOD)
    await round(6, '2026-11-29T23:00:00.000Z', `b${GOOD.slice(1)}`)
    expect(
      await countIncidents(service.app.db, { wallet: alice.caller.wallet, watchId }, SPAN),
    ).toBe(0)
    await run()
    expect(await cards()).toEqual([])
    await turnOn()
    await Promise.all([run(), run()])
    await run()
    const [card, ...others] = await cards()
    expect(others).toEqual([])
    expect(card?.card).toMatchObject({
      firstDay: '2026-11-23',
      incidents: 0,
      provider: { rounds: { known: 3, bad: 1 } },
    })
    expect(card?.card?.provider?.days.map(({ known, bad }) => [known, bad])).toEqual([
      [1, 0],
      [1, 1],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [1, 0],
    ])
    expect(card?.title).toContain('66.67% · Nov 23 – Nov 29')
    expect(card?.body).toContain('Rounds: 2 of 3')
  })

  test('of a wallet has its balance, and goes to people only', async () => {
    await chatOf(service, alice)
    await alice.request('POST', '/recipients', {
      name: 'Program',
      channel: 'webhook',
      destination: { url: 'https://example.org/hook' },
      default: true,
    })
    await watch(
      'wallet-balance',
      { address: alice.caller.wallet, asset: 'FLR' },
      {
        balanceUnits: '1500000000000000000',
        decimals: 18,
        symbol: 'FLR',
      },
    )
    await turnOn()
    await run()
    const sent = await cards()
    expect(sent.map(({ channel }) => channel)).toEqual(['telegram'])
    expect(sent[0]?.body.replace(/\s/g, ' ')).toContain('Balance: 1.5 FLR')
  })

  test('waits for Monday at 9 of the reader and for the end of quiet hours, and is left out on Wednesday', async () => {
    await chatOf(service, alice, { timezone: 'America/New_York' })
    await watch('provider-fsp', { provider: PROVIDER }, null)
    await turnOn({
      quietHours: { enabled: true, from: '08:00', to: '10:00', criticalBypass: true },
    })
    for (const [at, count] of [
      ['2026-11-30T13:59:59.000Z', 0],
      ['2026-11-30T14:59:59.000Z', 0],
      ['2026-12-02T15:00:00.000Z', 0],
      ['2026-11-30T15:00:00.000Z', 1],
      ['2026-12-01T15:00:00.000Z', 1],
      ['2026-12-07T15:00:00.000Z', 2],
    ] as const) {
      service.clock.set(new Date(at))
      await run()
      expect(await cards(), at).toHaveLength(count)
    }
  })

  test('has a picture that only this service can make', async () => {
    await chatOf(service, alice)
    await watch('provider-fsp', { provider: PROVIDER }, null)
    await turnOn()
    await run()
    const [row] = await service.sql<{ card: string }[]>`
      select envelope->>'card' as card from deliveries where envelope->>'card' is not null`
    const get = (card: string) => service.server.inject(`/cards/week.png?card=${card}`)
    const shown = await get(row?.card ?? '')
    expect(shown.headers['content-type']).toBe('image/png')
    for (const forged of ['', 'abc', `${row?.card.slice(0, -2)}AA`]) {
      expect((await get(forged)).statusCode).toBe(404)
    }
  })
})

const SPAN = {
  from: new Date('2026-11-22T23:00:00.000Z'),
  to: new Date('2026-11-29T23:00:00.000Z'),
}
