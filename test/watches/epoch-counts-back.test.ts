import { afterAll, beforeAll, expect, test } from 'vitest'
import { putBackRows } from '#src/db/later-times.ts'
import { insertRound } from '#src/fsp/indexer/daily-store.ts'
import { LATER_ROWS } from '#src/fsp/indexer/positions.ts'
import type { RoundRecord } from '#src/fsp/indexer/round-record.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

const VOTER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const FIRST = 1_519_400
const START_MS = Date.parse('2026-11-20T22:30:00Z')
const timeOf = (round: number) => new Date(START_MS + (round - FIRST) * 90_000)

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

async function store(round: number, record: RoundRecord): Promise<void> {
  const at = timeOf(round)
  const block = { blockNumber: round - FIRST, blockHash: `0x${round}`, blockAt: at } as const
  const row = { round, rewardEpoch: 452, startsAt: at, ...block, providers: { [VOTER]: record } }
  await insertRound(database.db, row)
}

test('counts of the reward epoch are those of the last round that stays when later ones are put back', async () => {
  await store(FIRST + 5, {
    e: [
      [FIRST, FIRST + 3360, 6],
      [300, 378, 6],
      [1, 2, 6],
      [4, 90, 5000],
    ],
  })
  await store(FIRST + 900, {
    e: [
      [FIRST, FIRST + 3360, 7],
      [300, 441, 7],
      [1, 3, 7],
      [4, 95, 5000],
    ],
  })
  const ahead = { rewardEpoch: 452, round: FIRST + 900, judged: 7, updates: 95, providers: {} }
  await database.sql`
    insert into fsp_progress (id, block_number, block_hash, block_at, resume_from, state)
    values (1, 900, '0x900', ${timeOf(FIRST + 900)}, 890,
      ${database.sql.json({ epochCounts: ahead, recentUpdates: { [VOTER]: 3 } })})`
  const at = timeOf(FIRST + 10)
  const present = { now: at, latest: at, highest: 1000, head: { number: 10, hash: '0x10', at } }
  await putBackRows(database.db, LATER_ROWS, present)
  const [progress] = await database.sql`select state from fsp_progress`
  expect(progress?.['state']).toMatchObject({
    epochCounts: {
      ...{ rewardEpoch: 452, round: FIRST + 5, judged: 6, updates: 90 },
      providers: { [VOTER]: { anchors: [300, 378, 6], fdc: [1, 2, 6], updates: 4 } },
    },
    recentUpdates: {},
  })
})
