import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { putBackRows } from '#src/db/later-times.ts'
import { insertRound, listDailyCounts } from '#src/fsp/indexer/daily-store.ts'
import { LATER_ROWS } from '#src/fsp/indexer/positions.ts'
import { checksInRecord } from '#src/fsp/indexer/round-record.ts'
import { ROUND_CHECKS } from '#src/fsp/protocol/verdict.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { countRounds, dutyResultsOf } from '#src/watches/provider-rounds.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'

/** Daily counts of providers are those of their stored rounds, whatever happened while the rounds were stored. */

const RUNS = runs(10, 200)
const START_MS = Date.parse('2026-11-20T22:30:00Z')
const ROUND_MS = 90_000
/** Two days and a half. */
const ROUNDS = 2400
const VOTERS = [
  '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE',
  '0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f',
  '0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269',
] as const satisfies readonly Address[]

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())
beforeEach(() => database.sql`truncate fsp_rounds, fsp_daily`)

const letters = fc
  .array(fc.constantFrom('g', 'g', 'b', 'u', 'n'), { minLength: 14, maxLength: 15 })
  .map((all) => all.join(''))
const record = fc.record(
  {
    c: letters,
    a: fc.nat(63).chain((hits) => fc.tuple(fc.constant(hits), fc.integer({ min: hits, max: 63 }))),
  },
  { requiredKeys: [] },
)
const round = fc.record({
  place: fc.nat(ROUNDS),
  providers: fc.dictionary(fc.constantFrom(...VOTERS), record),
})
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('store' as const),
      rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
    }),
  },
  /** The transaction is given up after its statements, as when the process is killed. */
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('killed' as const),
      rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
    }),
  },
  /** Rounds later than the clock are put back, and judged again. */
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('back' as const), place: fc.nat(ROUNDS) }),
  },
)

type Round = typeof round extends fc.Arbitrary<infer Value> ? Value : never

function rowOf({ place, providers }: Round) {
  const at = new Date(START_MS + place * ROUND_MS)
  return {
    round: 1_519_400 + place,
    rewardEpoch: 452 + Math.floor(place / 1000),
    startsAt: at,
    blockNumber: place,
    blockHash: `0x${place}` as const,
    blockAt: at,
    providers: { ...providers },
  }
}

class Killed extends Error {}

async function play(action: typeof step extends fc.Arbitrary<infer Value> ? Value : never) {
  if (action.kind === 'back') {
    const at = new Date(START_MS + action.place * ROUND_MS)
    const later = await database.sql`
      select from fsp_rounds where block_at > ${at} or starts_at > ${at}`
    const present = {
      now: at,
      latest: at,
      highest: action.place,
      head: { number: 0, hash: '', at },
    }
    const changed = await putBackRows(database.db, LATER_ROWS, present)
    expect(changed.find(({ table }) => table === 'fsp_rounds')?.rows ?? 0).toBe(later.length)
    return
  }
  const isKilled = action.kind === 'killed'
  const stored = database.db.transaction(async (tx) => {
    for (const each of action.rounds) await insertRound(tx, rowOf(each))
    if (isKilled) throw new Killed()
  })
  await stored.catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error
  })
}

/** The counts of the stored rounds, by provider, day and reward epoch. */
async function recount() {
  const rows = await database.sql`select starts_at, reward_epoch, providers from fsp_rounds`
  const counts = new Map<string, number[]>()
  for (const { starts_at: at, reward_epoch: epoch, providers } of rows) {
    for (const [voter, { c, a = [0, 0] }] of Object.entries<{ c?: string; a?: number[] }>(
      providers,
    )) {
      const checks = checksInRecord(c === undefined ? {} : { c })
      if (checks === null) continue
      const { known, bad } = countRounds([dutyResultsOf({ checks })])
      const verdicts = ROUND_CHECKS.map((name) => checks[name].verdict)
      const added = [
        known,
        bad,
        ...verdicts.map((verdict) => (verdict === 'good' || verdict === 'bad' ? 1 : 0)),
        ...verdicts.map((verdict) => (verdict === 'bad' ? 1 : 0)),
        ...a,
      ]
      const key = `${voter} ${at.toISOString().slice(0, 10)} ${epoch}`
      const before = counts.get(key)
      counts.set(key, before ? added.map((count, place) => count + (before[place] ?? 0)) : added)
    }
  }
  return withoutZeros(counts)
}

async function stored() {
  const rows = await database.sql`select *, day::text as day from fsp_daily`
  return withoutZeros(
    new Map(
      rows.map((row) => [
        `${row['voter']} ${row['day']} ${row['reward_epoch']}`,
        [
          row['rounds'],
          row['bad_rounds'],
          ...row['known'],
          ...row['bad'],
          row['anchor_hits'],
          row['anchor_possible'],
        ],
      ]),
    ),
  )
}

/** A row of rounds that were put back counts nothing. */
function withoutZeros(counts: ReadonlyMap<string, readonly number[]>) {
  return Object.fromEntries([...counts].filter(([, all]) => all.some((count) => count !== 0)))
}

test('daily counts equal a recount of the stored rounds after repeats, kills and rounds that are put back', async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    await database.sql`truncate fsp_rounds, fsp_daily`
    for (const action of steps) {
      await play(action)
      // A second reading of the same blocks, as after a restart.
      if (action.kind === 'store') await play(action)
    }
    expect(await stored()).toEqual(await recount())
  })
  await fc.assert(property, { numRuns: RUNS })
})

test('counts of the last days have every provider with a known round, by the newest stored day', async () => {
  const [busy, idle] = VOTERS
  const day = (days: number) => Math.round((days * DAY_MS) / ROUND_MS)
  const good = 'g'.repeat(15)
  for (const [place, c] of [
    [0, 'b'.repeat(15)],
    [day(1), good],
    [day(1) + 1, `b${good.slice(1)}`],
    [day(2), good],
  ] as const) {
    const providers = { [busy]: { c }, [idle]: { c: 'u'.repeat(15) } }
    await insertRound(database.db, rowOf({ place, providers } as Round))
  }
  const counts = await listDailyCounts(database.db, 2)
  expect([...counts]).toEqual([[busy, { days: 2, rounds: 3, badRounds: 1 }]])
  expect(await listDailyCounts(database.db, 3, [idle])).toEqual(new Map())
})
