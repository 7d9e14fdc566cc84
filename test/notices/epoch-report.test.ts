import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertRound } from '#src/fsp/indexer/daily-store.ts'
import { createEpochFacts } from '#src/fsp/indexer/epoch-facts.ts'
import { ROUND_CHECKS } from '#src/fsp/protocol/verdict.ts'
import { Address } from '#src/kernel/units.ts'
import { epochReports } from '#src/notices/epoch-report.ts'
import { sendScheduled } from '#src/notices/scheduled.ts'
import { readEpochReport } from '#src/watches/epoch-report.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { runs } from '../support/runs.ts'
import { chatOf, notices } from './notified.ts'

/** The report of a reward epoch: that it equals the stored rounds, who gets it, and when. */

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

const START = new Date('2026-11-23T07:00:00.000Z')
const PROVIDER = Address.parse('0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE')
const OTHER = Address.parse('0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269')
const HOUR_MS = 3_600_000
const GOOD = 'g'.repeat(ROUND_CHECKS.length)

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
  await service.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
})
beforeEach(async () => {
  service.clock.set(START)
  await clear()
})
afterAll(() => service.close())

const clear = () => service.sql`
  truncate watches, targets, recipients, delivery_queue, delivery_log, notices, notification_settings, fsp_rounds,
    fsp_daily, fsp_rewards, publications cascade`

/** A service that reads rewards from somewhere. */
const facts = () => ({
  ...service.app.facts,
  epochs: createEpochFacts({ db: service.app.db, rewardDataUrls: ['https://rewards.example'] }),
})

interface StoredRound {
  readonly letters: string | undefined
  readonly margins?: readonly (number | null)[]
}

async function round(id: number, rewardEpoch: number, stored: StoredRound): Promise<void> {
  const startsAt = new Date(START.getTime() + id * 90_000)
  const { letters, margins } = stored
  const record = letters === undefined ? {} : { c: letters, ...(margins && { m: margins }) }
  await insertRound(service.app.db, {
    ...{ round: id, rewardEpoch, startsAt, blockNumber: id, blockAt: startsAt },
    blockHash: `0x${'00'.repeat(32)}`,
    providers: { [PROVIDER]: record, [OTHER]: { c: GOOD } },
  })
}

async function publishRewards(epoch: number, at: Date, amount: string | null): Promise<void> {
  await service.sql`
    insert into publications (kind, reward_epoch_id, data, seen_at) values ('claims', ${epoch}, '{}', ${at})`
  if (amount === null) return
  await service.sql`
    insert into fsp_rewards (reward_epoch, beneficiary, claim_type, voter, amount_wei, claimed)
    values (${epoch}, ${PROVIDER}, 1, ${PROVIDER}, ${amount}, false)`
}

async function watchProvider(label: string): Promise<void> {
  const target = { provider: PROVIDER }
  const [row] = await service.sql<{ id: number }[]>`
    insert into targets (type, key, target, watch_count, observation, must_judge)
    values ('provider-fsp', ${label}, ${service.sql.json(target)}, 1, null, false) returning id`
  await service.sql`
    insert into watches (wallet, type, target_id, label, settings, signals, min_severity, cooldown_seconds, status,
      version, created_at, updated_at)
    values (${alice.caller.wallet}, 'provider-fsp', ${row?.id ?? 0}, ${label}, '{}', '[]', 'info', 0, 'active', 1,
      ${START}, ${START})`
}

async function turnOn(over: object = {}): Promise<void> {
  const { body } = await alice.request('GET', '/settings')
  expect(body.epochReport).toBe(false)
  const changed = await alice.request('PUT', '/settings', { ...body, epochReport: true, ...over })
  expect(changed.status).toBe(200)
}

async function run(over: object = {}): Promise<void> {
  const deps = { ...service.app, facts: facts(), ...over }
  const reports = await epochReports(deps)
  if (reports !== undefined) await sendScheduled(deps, reports, new AbortController().signal)
}

async function reports() {
  const all = await notices(service)
  return all.filter(({ kind }) => kind === 'epoch-report')
}

/** Epoch 7 with a missed commit, and the first round of epoch 8, which begins two hours later. */
async function endedEpoch(): Promise<void> {
  await round(1, 7, { letters: GOOD })
  await round(2, 7, { letters: `b${GOOD.slice(1)}` })
  await round(80, 8, { letters: GOOD })
}
const ENDED_MS = START.getTime() + 80 * 90_000
const hoursAfterEnd = (hours: number) => service.clock.set(new Date(ENDED_MS + hours * HOUR_MS))

describe('a report', () => {
  test('counts exactly the stored rounds of its epoch, whatever they are', async () => {
    const letter = fc.constantFrom('g', 'b', 'u', 'n')
    const letters = fc.array(letter, {
      minLength: ROUND_CHECKS.length,
      maxLength: ROUND_CHECKS.length,
    })
    const stored = fc.record({
      letters: fc.option(
        letters.map((all) => all.join('')),
        { nil: undefined },
      ),
      margins: fc.array(fc.option(fc.integer({ min: -30, max: 90 })), {
        minLength: 5,
        maxLength: 5,
      }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(stored, { minLength: 1, maxLength: 12 }), async (rounds) => {
        await clear()
        for (const [index, one] of rounds.entries()) {
          await round(index * 400 + 1, 7, one)
          await round(index * 400 + 2, 8, { letters: `b${GOOD.slice(1)}` })
        }
        const report = await readEpochReport({ facts: facts() }, { provider: PROVIDER, epoch: 7 })
        const counted = rounds.flatMap((one) => (one.letters === undefined ? [] : [one]))
        if (counted.length === 0) expect(report).toBeUndefined()
        if (report === undefined) return
        for (const [place, check] of CHECKS.entries()) {
          const at = ROUND_CHECKS.indexOf(check)
          const cells = counted.map((one) => one.letters?.[at])
          expect(report.duties[place]).toMatchObject({
            rounds: cells.filter((cell) => cell === 'g' || cell === 'b').length,
            missed: cells.filter((cell) => cell === 'b').length,
          })
          const seconds = counted.flatMap(({ margins }) => margins[place] ?? [])
          expect(report.duties[place]?.margin?.rounds ?? 0).toBe(seconds.length)
        }
      }),
      { numRuns: runs(15) },
    )
  })

  test('is sent once to each reader when the rewards are published, also by two processes at once', async () => {
    await chatOf(service, alice)
    await watchProvider('My node')
    await watchProvider('My node again')
    await endedEpoch()
    hoursAfterEnd(1)
    await publishRewards(7, new Date(ENDED_MS), '1500000000000000000')
    await run()
    expect(await reports()).toEqual([])
    await turnOn()
    await Promise.all([run(), run()])
    await run()
    const [report, ...others] = await reports()
    expect(others).toEqual([])
    expect(report?.title).toContain('My node · Reward epoch 7 · 50%')
    expect(report?.body.replace(/\s/g, ' ')).toMatch(
      /Rounds: 1 of 2 Rank: 2 of 2 FTSO commit: 1 of 2 .*Rewards: 1.5 FLR What to fix: FTSO commit: 1 round/,
    )
    expect(
      report?.buttons.flat().map((button) => ('url' in button ? button.url : button.act)),
    ).toEqual([
      `${service.app.publicUrl}/providers/${PROVIDER}/epochs/7`,
      expect.stringContaining('settings.report'),
    ])
  })

  test('waits two days for the rewards, then says that they are not published, and is not sent again', async () => {
    await chatOf(service, alice)
    await watchProvider('My node')
    await turnOn()
    await endedEpoch()
    for (const hours of [0, 47.9]) {
      hoursAfterEnd(hours)
      await run()
      expect(await reports(), `${hours}`).toEqual([])
    }
    hoursAfterEnd(48)
    await run()
    await publishRewards(7, new Date(ENDED_MS + 49 * HOUR_MS), '1500000000000000000')
    hoursAfterEnd(50)
    await run()
    const sent = await reports()
    expect(sent).toHaveLength(1)
    expect(sent[0]?.body).toContain('Rewards: Not published yet')
    expect(sent[0]?.body).not.toMatch(/Rewards: 0/)
  })

  test('is not sent after it was due, nor before an epoch has ended', async () => {
    await chatOf(service, alice)
    await watchProvider('My node')
    await turnOn()
    await round(1, 7, { letters: GOOD })
    await run()
    await endedEpoch()
    await publishRewards(7, new Date(ENDED_MS), null)
    hoursAfterEnd(48)
    await run()
    expect(await reports()).toEqual([])
  })

  test('waits for the end of quiet hours', async () => {
    await chatOf(service, alice)
    await watchProvider('My node')
    await turnOn({
      quietHours: { enabled: true, from: '08:00', to: '12:00', criticalBypass: true },
    })
    await endedEpoch()
    await publishRewards(7, new Date(ENDED_MS), null)
    hoursAfterEnd(1)
    await run()
    expect(await reports()).toEqual([])
    hoursAfterEnd(4)
    await run()
    expect((await reports())[0]?.body).toContain('Rewards: None in the published data')
  })

  test('is shown to callers and on a page as it is stored, and an unknown epoch is not found', async () => {
    await endedEpoch()
    const got = await alice.request('GET', `/providers/${PROVIDER}/epochs/7`)
    expect(got.body).toMatchObject({
      ...{ rewardEpoch: 7, isOver: true, rounds: 2, badRounds: 1, rate: 0.5 },
      rewards: { state: 'not-read', amountWei: null },
    })
    const page = await service.server.inject(`/providers/${PROVIDER}/epochs/7`)
    expect(page.body).toContain('Not read by this service')
    const lower = await service.server.inject(`/providers/${PROVIDER.toLowerCase()}/epochs/7`)
    expect(lower.headers.location).toBe(`/providers/${PROVIDER}/epochs/7`)
    for (const unknown of ['6', '-1', '7.5', 'x', '99999999999']) {
      expect(
        (await service.server.inject(`/providers/${PROVIDER}/epochs/${unknown}`)).statusCode,
      ).toBe(404)
    }
    expect((await alice.request('GET', `/providers/${PROVIDER}/epochs/6`)).status).toBe(404)
  })
})

const CHECKS = ['commit', 'reveal', 'signature', 'bitVote', 'fdcSignature'] as const
