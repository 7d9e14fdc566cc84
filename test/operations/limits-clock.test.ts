import { afterAll, beforeAll, expect, test } from 'vitest'
import { addRequestCounts } from '#src/operations/limits-store.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

/** Counts of requests while the clock is corrected. */

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const MINUTE_MS = 60_000
const NOW = new Date('2026-11-27T12:00:00Z')
const at = (ms: number) => new Date(NOW.getTime() + ms)

async function count(key: string, ms: number) {
  const now = at(ms)
  const added = [{ key, requests: 1, expire: at(ms + MINUTE_MS) }]
  const counts = await addRequestCounts(database.db, added, now)
  const { requests, expire } = counts.get(key) ?? { requests: 0, expire: now }
  return { requests, leftMs: expire.getTime() - now.getTime() }
}

test('a count that began while the clock was a day ahead starts again at zero', async () => {
  await count('challenge:192.0.2.7', 24 * 60 * MINUTE_MS)
  expect(await count('challenge:192.0.2.7', 0)).toEqual({ requests: 1, leftMs: MINUTE_MS })
  expect(await count('challenge:192.0.2.7', 1)).toEqual({ requests: 2, leftMs: MINUTE_MS - 1 })
})

test('a count continues while clocks differ by less than its window, and ends with the window', async () => {
  await count('token:192.0.2.7', MINUTE_MS - 1)
  expect(await count('token:192.0.2.7', 0)).toEqual({ requests: 2, leftMs: 2 * MINUTE_MS - 1 })
  expect(await count('token:192.0.2.7', 2 * MINUTE_MS - 1)).toEqual({
    requests: 1,
    leftMs: MINUTE_MS,
  })
})
