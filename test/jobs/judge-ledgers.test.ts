import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as alerts from '#src/alerts/service.ts'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { transact } from '#src/db/connection.ts'
import { judgeLedgers as job } from '#src/jobs/judge-ledgers.ts'
import { startJobs } from '#src/jobs/runner.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '#src/kernel/durations.ts'
import { judgeLedgers } from '#src/watches/evaluate/judge-ledgers.ts'
import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import { giveCredits, spendCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'
import { isWhole, runs } from '../support/runs.ts'
import { startServiceProcess } from '../support/service-process.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let bob: Client

const START = new Date('2026-11-20T12:00:00.000Z')
const signal = new AbortController().signal
const LOW = 'credits.low-balance'
const AGAIN = 'credits.recovered'

beforeAll(async () => {
  service = await serviceOnly()
  await signInBoth()
})
async function signInBoth(): Promise<void> {
  alice = await signIn(service, 'alice')
  bob = await signIn(service, 'bob')
  await service.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
}
beforeEach(async () => {
  service.clock.set(START)
  await service.sql`
    truncate accounts, ledger_entries, trials, subscriptions, capacity_changes, watches, targets,
      alerts, delivery_queue, delivery_log cascade`
  for (const client of [alice, bob]) {
    await client.request('POST', '/account/terms', { version: '2026-11' })
    await give(5500, client)
    await client.request('POST', '/subscriptions', { quantity: 10, periods: 1 })
  }
})
afterAll(() => service.close())

// Both have 1,000 credits left after their slots.
const give = (amount: number, client = alice) =>
  giveCredits(service.app, client.caller.wallet, amount)
const spend = (amount: number, client = alice) =>
  spendCredits(service.app, client.caller.wallet, amount)

/** Judges new entries of all wallets, or of the given ones. */
const judge = (
  wallets?: ReadonlySet<string>,
  over: Partial<Parameters<typeof judgeLedgers>[0]> = {},
) =>
  judgeLedgers(
    {
      ...service.app,
      ...over,
      recordAlerts: (tx, candidates) => alerts.recordAlerts(service.app, tx, candidates),
    },
    wallets,
    signal,
  )

async function watchCredits(limit: number, client = alice, over: object = {}): Promise<number> {
  const input = { type: 'credits-balance', target: {}, settings: { limit }, ...over }
  const { status, body } = await client.request('POST', '/watches', input)
  expect(status).toBe(201)
  return body.id
}

const alertsOf = async (client = alice) =>
  (await client.request('GET', '/alerts?limit=250')).body.data.toReversed()
const events = async (client = alice) =>
  (await alertsOf(client)).map(({ event }: { event: string }) => event)

test('each of two hundred watches of one ledger is judged', async () => {
  const id = await watchCredits(500)
  await service.sql`
    insert into watches overriding system value
    select (jsonb_populate_record(watches, jsonb_build_object('id', 1000000 + n))).*
    from watches, generate_series(1, 199) as n where id = ${id}`
  await judge()
  await spend(600)
  await judge()
  const [row] = await service.sql`
    select count(*)::int as watches, count(distinct watch_id)::int as alerted from alerts`
  expect(row).toEqual({ watches: 200, alerted: 200 })
})

describe('a watch on the wallet’s credits', () => {
  test('has an empty target and a default label', async () => {
    const id = await watchCredits(500)
    expect((await alice.request('GET', `/watches/${id}`)).body).toMatchObject({
      type: 'credits-balance',
      label: 'Credits',
      target: {},
      settings: { limit: 500 },
      status: 'active',
      health: 'ok',
      signalStates: [{ id: 'credits-threshold', state: 'unknown' }],
      lastEvaluatedAt: null,
    })
  })

  test.each([
    [{ wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }, { limit: 1 }, '/target/wallet'],
    [undefined, { limit: 1 }, '/target'],
    [{}, { limit: 0 }, '/settings/limit'],
    [{}, { limit: 0.5 }, '/settings/limit'],
    [{}, {}, '/settings/limit'],
  ])('refuses target %j with settings %j', async (target, settings, pointer) => {
    const answer = await alice.request('POST', '/watches', {
      type: 'credits-balance',
      target,
      settings,
    })
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } })
  })

  test('fires below the limit and recovers at the limit, at the time of the ledger entry', async () => {
    const id = await watchCredits(500)
    await judge()
    service.clock.advance(60)
    await spend(500)
    await judge()
    expect(await events()).toEqual([])
    service.clock.advance(60)
    await spend(1)
    service.clock.advance(5)
    await judge()
    service.clock.advance(60)
    await give(1)
    service.clock.advance(5)
    await judge()
    expect(await alertsOf()).toMatchObject([
      {
        watchId: id,
        type: 'credits-balance',
        signal: 'credits-threshold',
        group: 'alerts',
        event: LOW,
        severity: 'warning',
        state: 'recovered',
        firedAt: '2026-11-20T12:02:00.000Z',
        recoveredAt: '2026-11-20T12:03:05.000Z',
        durationSeconds: 65,
        data: { balanceCredits: 499, limitCredits: 500, nextRenewal: null },
        rendered: {
          title: 'Only 499 credits left',
          body: expect.stringContaining('below your limit of 0.50\u00a0USD (500 credits)'),
        },
      },
      {
        event: AGAIN,
        severity: 'info',
        rendered: { title: 'Your wallet has 500 credits again' },
      },
    ])
    const { body } = await alice.request('GET', `/watches/${id}`)
    expect(body).toMatchObject({
      lastEvaluatedAt: '2026-11-20T12:03:05.000Z',
      signalStates: [{ state: 'ok', since: '2026-11-20T12:03:05.000Z' }],
    })
  })

  test('judges the credits at its creation, at the time of the run', async () => {
    await watchCredits(1001)
    service.clock.advance(60)
    await judge()
    expect(await alertsOf()).toMatchObject([{ event: LOW, firedAt: '2026-11-20T12:01:00.000Z' }])
  })

  test('judges a wallet that never had credits', async () => {
    const carol = await withTrial(await signIn(service, 'carol'))
    await watchCredits(1, carol)
    await judge()
    expect(await alertsOf(carol)).toMatchObject([
      { event: LOW, data: { balanceCredits: 0 }, rendered: { title: 'No credits left' } },
    ])
    await give(1, carol)
    await judge()
    expect(await events(carol)).toEqual([LOW, AGAIN])
  })

  test('misses no entry between two runs, and judges entries of one instant in order', async () => {
    await watchCredits(500)
    await judge()
    for (let round = 0; round < 3; round += 1) {
      await spend(600)
      await give(600)
    }
    await judge()
    const all = await alertsOf()
    expect(all.map(({ event }: { event: string }) => event)).toEqual([
      LOW,
      AGAIN,
      LOW,
      AGAIN,
      LOW,
      AGAIN,
    ])
    expect(all.map(({ state }: { state: string }) => state)).toEqual(Array(6).fill('recovered'))
    const ids = all.map(({ id }: { id: number }) => id)
    expect(all.map(({ recoveryOf }: { recoveryOf: number }) => recoveryOf)).toEqual([
      null,
      ids[0],
      null,
      ids[2],
      null,
      ids[4],
    ])
  })

  test('judges all entries, also if they are more than one query returns', async () => {
    await watchCredits(500)
    await judge()
    for (let count = 0; count < 520; count += 1) await spend(1)
    await judge()
    expect(await alertsOf()).toMatchObject([{ data: { balanceCredits: 499 } }])
  }, 60_000)

  test('fires no alert twice in any number of runs', async () => {
    await watchCredits(500)
    await judge()
    await spend(600)
    await Promise.all([judge(), judge(), judge()])
    await judge()
    expect(await events()).toEqual([LOW])
  })

  test('evaluates each watch of a wallet by its own limit', async () => {
    await watchCredits(500)
    await watchCredits(900)
    await watchCredits(900, bob)
    await judge()
    await spend(200)
    await judge()
    expect(await alertsOf()).toMatchObject([{ data: { limitCredits: 900, balanceCredits: 800 } }])
    expect(await events(bob)).toEqual([])
  })

  test('is read in a run for notified wallets if its wallet is among them and in a slice of the process, and in every full scan', async () => {
    await watchCredits(500)
    await watchCredits(500, bob)
    await judge()
    await spend(600)
    await spend(600, bob)
    const notified = new Set([bob.caller.wallet, '0x0000000000000000000000000000000000000001'])
    const [row] = await service.sql<{ slice: number }[]>`
      select get_byte(decode(md5(key), 'hex'), 0) % 32 as slice from targets
      where key like ${`%${bob.caller.wallet}%`}`
    const all = service.app.slices.hold()
    const only = (isHeld: (slice: number) => boolean) => ({
      slices: { ...all, held: () => all.held().filter(isHeld) },
    })
    await judge(
      notified,
      only((slice) => slice !== row?.slice),
    )
    expect([await events(), await events(bob)]).toEqual([[], []])
    await judge(
      notified,
      only((slice) => slice === row?.slice),
    )
    expect([await events(), await events(bob)]).toEqual([[], [LOW]])
    await judge()
    expect([await events(), await events(bob)]).toEqual([[LOW], [LOW]])
  })

  test('judges a changed limit at once, every time', async () => {
    const id = await watchCredits(500)
    await judge()
    for (const limit of [2000, 1000, 2000, 1000]) {
      service.clock.advance(60)
      await alice.request('PATCH', `/watches/${id}`, { settings: { limit } })
      await judge(new Set([alice.caller.wallet]))
    }
    expect(await events()).toEqual([LOW, AGAIN, LOW, AGAIN])
  })

  test('fires no alert while paused, and starts from a new baseline when resumed', async () => {
    const id = await watchCredits(500)
    await judge()
    await alice.request('PATCH', `/watches/${id}`, { status: 'paused' })
    await spend(600)
    await judge()
    expect(await events()).toEqual([])
    service.clock.advance(60)
    await alice.request('PATCH', `/watches/${id}`, { status: 'active' })
    await judge()
    expect(await alertsOf()).toMatchObject([
      { event: LOW, firedAt: '2026-11-20T12:01:00.000Z', data: { balanceCredits: 400 } },
    ])
  })

  test('fires no alert while suspended, and starts from a new baseline when there is a slot', async () => {
    await watchCredits(500)
    await judge()
    service.clock.advance(30 * DAY_SECONDS)
    await renewDueSubscriptions(service.app, signal)
    await fitWalletsWithChangedSlots(service.app, signal)
    await spend(600)
    await judge()
    expect(await events()).toEqual([])
    await give(200)
    await alice.request('POST', '/subscriptions', { quantity: 1, periods: 1 })
    await fitWalletsWithChangedSlots(service.app, signal)
    await judge()
    expect(await alertsOf()).toMatchObject([{ event: LOW, data: { balanceCredits: 100 } }])
  })

  test('has the next renewal in its alert', async () => {
    await watchCredits(500)
    await alice.request('PATCH', '/subscriptions', { autoRenew: true })
    await judge()
    await spend(600)
    await judge()
    const [alert] = await alertsOf()
    expect(alert.data.nextRenewal).toEqual({ at: '2026-12-20T12:00:00.000Z', credits: 4500 })
  })

  test('fires no alert for a change that is rolled back', async () => {
    await watchCredits(500)
    await judge()
    const broken = transact(service.app.db, async (tx) => {
      await spendCredits({ ...service.app, db: tx }, alice.caller.wallet, 600)
      throw new Error('changed my mind')
    })
    await expect(broken).rejects.toThrow('changed my mind')
    await judge()
    expect(await events()).toEqual([])
  })
})

describe('a watch that is deleted while it is judged', () => {
  test('is deleted without an error or deadlock in the deletion or the judge', async () => {
    const countDeadlocks = async () => {
      const [row] = await service.sql`
        select deadlocks from pg_stat_database where datname = current_database()`
      return Number(row?.deadlocks)
    }
    const before = await countDeadlocks()
    // Limits count by token.
    const again = await signIn(service, 'alice')
    for (let round = 0; round < 8; round += 1) {
      const ids = [await watchCredits(500 + round, again), await watchCredits(2000 + round, again)]
      await spend(1)
      const work = [judge(), judge(new Set([alice.caller.wallet])), judge()]
      const deleted = ids.map((id) => again.request('DELETE', `/watches/${id}`))
      await Promise.all(work)
      for (const { status } of await Promise.all(deleted)) expect(status).toBe(204)
    }
    expect((await alice.request('GET', '/watches')).body.data).toEqual([])
    expect(await countDeadlocks()).toBe(before)
  })
})

describe('the job', () => {
  test('is woken early by a ledger entry, a new watch and a changed watch', async () => {
    const running = await startJobs(service.app, service.sql, [job])
    try {
      const id = await watchCredits(1001)
      await expect.poll(() => events()).toEqual([LOW])
      await give(100)
      await expect.poll(() => events()).toEqual([LOW, AGAIN])
      await spend(200)
      await expect.poll(() => events()).toEqual([LOW, AGAIN, LOW])
      await alice.request('PATCH', `/watches/${id}`, { settings: { limit: 10 } })
      await expect.poll(() => events()).toEqual([LOW, AGAIN, LOW, AGAIN])
    } finally {
      await running.stop()
    }
  })
})

test('a process killed at any moment loses and repeats no alert', async () => {
  const ROUNDS = runs(10, 30)
  const kills = isWhole ? [1, 20, 45] : [randomInt(1, ROUNDS + 1)]
  // Six minutes between entries, so that the changes impose no cooldown; all of them in the past of the processes.
  const GAP_SECONDS = 360
  service.clock.set(new Date(Date.now() - ROUNDS * 2 * GAP_SECONDS * 1000))
  await watchCredits(500)
  await judge()
  const start = () => startServiceProcess({ DATABASE_URL: service.database.url, ROLES: 'watcher' })
  const countAlerts = async () => {
    const [row] = await service.sql<{ count: number }[]>`select count(*)::int from alerts`
    return row?.count ?? 0
  }
  const spendAndGive = async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await spend(600)
      service.clock.advance(GAP_SECONDS)
      // Not far ahead of the judging processes, so that each has work in progress.
      await expect.poll(countAlerts, { timeout: 60_000 }).toBeGreaterThanOrEqual(round * 2 - 4)
      await give(600)
      service.clock.advance(GAP_SECONDS)
    }
  }
  const killAndStart = async () => {
    for (const killAt of kills) {
      const process = await start()
      const judged = expect.poll(countAlerts, { timeout: 60_000, interval: 5 })
      await judged.toBeGreaterThanOrEqual(killAt).finally(() => process.kill())
    }
    return await start()
  }
  const [last] = await Promise.all([killAndStart(), spendAndGive()])
  await expect.poll(countAlerts, { timeout: 60_000 }).toBe(ROUNDS * 2)
  await last.stop()
  expect(await events()).toEqual(Array.from({ length: ROUNDS }, () => [LOW, AGAIN]).flat())
}, 180_000)

const change = (id: number, changes: object) => alice.request('PATCH', `/watches/${id}`, changes)
const stateOf = async (id: number) =>
  (await alice.request('GET', `/watches/${id}`)).body.signalStates[0].state

describe('an alert that the cooldown defers', () => {
  // The tests have one minute, and a token may send 120 changes in it.
  beforeAll(signInBoth)
  const cooldownSeconds = 6 * HOUR_SECONDS

  test('is notified when the cooldown ends, without another entry', async () => {
    const id = await watchCredits(500, alice, { cooldownSeconds })
    await judge()
    await spend(600)
    await judge()
    await give(600)
    await judge()
    service.clock.advance(HOUR_SECONDS)
    await spend(1000)
    await judge()
    expect(await events()).toEqual([LOW, AGAIN])
    expect(await stateOf(id)).toBe('pending')
    service.clock.advance(5 * HOUR_SECONDS - 1)
    await judge()
    expect(await events()).toEqual([LOW, AGAIN])
    service.clock.advance(1)
    await Promise.all([judge(), judge()])
    expect(await alertsOf()).toMatchObject([
      { event: LOW },
      { event: AGAIN },
      { event: LOW, firedAt: '2026-11-20T18:00:00.000Z', data: { balanceCredits: 0 } },
    ])
    expect(await stateOf(id)).toBe('firing')
    service.clock.advance(30 * HOUR_SECONDS)
    await judge()
    expect(await events()).toHaveLength(3)
  })

  test('is notified at once if the cooldown is shortened', async () => {
    const id = await watchCredits(500, alice, { cooldownSeconds })
    await judge()
    await spend(600)
    await judge()
    await give(600)
    await spend(600)
    await judge()
    service.clock.advance(HOUR_SECONDS)
    await judge()
    expect(await events()).toEqual([LOW, AGAIN])
    await change(id, { cooldownSeconds: 600 })
    await judge()
    expect(await events()).toEqual([LOW, AGAIN, LOW])
  })

  test('is not fired if its condition is over at the end of the cooldown', async () => {
    const id = await watchCredits(500, alice, { cooldownSeconds })
    await judge()
    await spend(600)
    await judge()
    await give(600)
    await spend(600)
    await judge()
    await give(600)
    service.clock.advance(cooldownSeconds)
    await judge()
    expect(await events()).toEqual([LOW, AGAIN])
    expect(await stateOf(id)).toBe('ok')
  })

  test('is notified when the cooldown ends that frequent changes imposed', async () => {
    const id = await watchCredits(500)
    await judge()
    for (let change = 1; change <= 9; change++) {
      await (change % 2 === 1 ? spend(600) : give(600))
      await judge()
      service.clock.advance(60)
    }
    const sent = Array.from({ length: 4 }, () => [LOW, AGAIN]).flat()
    expect(await events()).toEqual(sent)
    expect(await stateOf(id)).toBe('pending')
    const imposed = await service.sql`select fired_at, cooldown_until from alerts
      where cooldown_until is not null`
    const at = new Date('2026-11-20T12:06:00.000Z')
    expect(imposed).toEqual([
      { fired_at: at, cooldown_until: new Date('2026-11-20T12:36:00.000Z') },
    ])
    service.clock.set(new Date('2026-11-20T12:35:59.000Z'))
    await judge()
    expect(await events()).toEqual(sent)
    service.clock.advance(1)
    await judge()
    expect(await events()).toEqual([...sent, LOW])
  })

  test('waits while its watch is paused', async () => {
    const id = await watchCredits(500, alice, { cooldownSeconds })
    await judge()
    await spend(600)
    await judge()
    await give(600)
    await spend(600)
    await judge()
    await change(id, { status: 'paused' })
    service.clock.advance(cooldownSeconds)
    await judge()
    expect(await events()).toEqual([LOW, AGAIN])
  })
})

test('a new watch is judged by the current credits, not by earlier entries', async () => {
  await watchCredits(5000)
  await judge()
  await spend(900)
  await give(900)
  await watchCredits(500)
  await judge()
  const { body } = await alice.request('GET', '/alerts?limit=250')
  const limits = body.data.map(({ data }: { data: { limitCredits: number } }) => data.limitCredits)
  expect(new Set(limits)).toEqual(new Set([5000]))
})

test('a watch or a wallet that cannot be read does not stop the judging of others', async () => {
  const carol = await withTrial(await signIn(service, 'carol'))
  const broken = await watchCredits(5000, alice)
  await watchCredits(5000, alice)
  await watchCredits(5000, bob)
  await watchCredits(1, carol)
  await service.sql`update watches set settings = '{"limit":"x"}' where id = ${broken}`
  await service.sql`
    update targets set observation = '{"no":1}' where key ilike ${`%${carol.caller.wallet}%`}`
  await judge()
  expect(await events(alice)).toEqual([LOW])
  expect(await events(bob)).toEqual([LOW])
  expect(await events(carol)).toEqual([])
  expect(service.app.quarantine.read()).toEqual(
    expect.arrayContaining([
      { kind: 'watch', rows: 1 },
      { kind: 'target', rows: 1 },
    ]),
  )
})

/** Ways to freeze the signal of a watch, and to resume it. */
const FREEZES: readonly (readonly [
  string,
  (id: number) => Promise<unknown>,
  (id: number) => Promise<unknown>,
])[] = [
  [
    'its watch is paused',
    (id) => change(id, { status: 'paused' }),
    (id) => change(id, { status: 'active' }),
  ],
  [
    'its signal is switched off',
    (id) => change(id, { signals: [{ id: 'credits-threshold', enabled: false }] }),
    (id) => change(id, { signals: [{ id: 'credits-threshold', enabled: true }] }),
  ],
  ['its watch is suspended', () => fitTo(0), () => fitTo(10)],
]

/** Sets the number of the wallet's slots. */
async function fitTo(quantity: number): Promise<void> {
  await service.sql`update subscriptions set quantity = ${quantity} where wallet = ${alice.caller.wallet}`
  await service.sql`
    insert into capacity_changes (wallet, at)
    values (${alice.caller.wallet}, ${service.clock.now()}) on conflict do nothing`
  await fitWalletsWithChangedSlots(service.app, signal)
}

describe.each(FREEZES)('an alert that is open while %s', (_what, freeze, thaw) => {
  test('recovers in the first run afterwards if its condition is over', async () => {
    const id = await watchCredits(500)
    await spend(900)
    await judge()
    await freeze(id)
    service.clock.advance(60)
    await give(900)
    await judge()
    expect(await alertsOf()).toMatchObject([{ event: LOW, state: 'firing', recoveredAt: null }])
    service.clock.advance(60)
    await thaw(id)
    await judge()
    expect(await alertsOf()).toMatchObject([
      { event: LOW, state: 'recovered', recoveredAt: '2026-11-20T12:02:00.000Z' },
      { event: AGAIN, firedAt: '2026-11-20T12:02:00.000Z' },
    ])
    expect(await stateOf(id)).toBe('ok')
  })

  test('stays open if its condition still holds, without a second alert', async () => {
    const id = await watchCredits(500)
    await spend(900)
    await judge()
    const [before] = await alertsOf()
    await freeze(id)
    service.clock.advance(60)
    await judge()
    await thaw(id)
    await judge()
    expect(await alertsOf()).toMatchObject([{ id: before.id, state: 'firing' }])
    service.clock.advance(60)
    await give(900)
    await judge()
    expect(await alertsOf()).toMatchObject([
      { id: before.id, state: 'recovered' },
      { event: AGAIN, recoveryOf: before.id },
    ])
  })
})

test('a signal that was switched off without an open alert starts with a new baseline', async () => {
  const id = await watchCredits(500)
  await judge()
  await change(id, { signals: [{ id: 'credits-threshold', enabled: false }] })
  await spend(900)
  await judge()
  expect(await events()).toEqual([])
  await change(id, { signals: [{ id: 'credits-threshold', enabled: true }] })
  await judge()
  expect(await events()).toEqual([LOW])
})
