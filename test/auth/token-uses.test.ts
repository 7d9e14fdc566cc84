import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTokenLookup } from '#src/auth/service.ts'
import { connect } from '#src/db/connection.ts'
import { STATEMENT_CHANNEL } from '#src/db/diagnostics.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

const TOKENS = 40

let database: FreshDatabase
let ids: readonly number[]

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.sql`truncate tokens`
  const rows = await database.sql<{ id: number }[]>`
    insert into tokens (wallet, scopes, prefix, hash, created_at, expires_at)
    select '0x' || n, '{read}', 'fwd_', 'hash ' || n, now(), now() + interval '1 day'
    from generate_series(1, ${TOKENS}::int) n
    returning id`
  ids = rows.map(({ id }) => id)
})

/** Number of statements that uses of tokens need. */
async function statementsOf(uses: () => Promise<unknown>): Promise<number> {
  let statements = 0
  const count = (text: unknown) => {
    if (String(text).includes('update tokens')) statements += 1
  }
  subscribe(STATEMENT_CHANNEL, count)
  await uses()
  unsubscribe(STATEMENT_CHANNEL, count)
  return statements
}

async function usedAt(id: number | undefined): Promise<Date | null> {
  const [row] = await database.sql<{ at: Date | null }[]>`
    select last_used_at as at from tokens where id = ${id ?? 0}`
  return row?.at ?? null
}

describe('uses of tokens', () => {
  test('that are recorded together keep their own times', async () => {
    const { recordUse } = createTokenLookup({ db: database.db, log: silentLogger })
    const clock = testClock()
    const now = clock.now()
    const [first = 0, second = 0, third = 0] = ids
    await recordUse({ id: first, lastUsedAt: null }, now)
    clock.advance(3 * 86_400)
    void recordUse({ id: second, lastUsedAt: null }, clock.now())
    await recordUse({ id: third, lastUsedAt: null }, now)
    expect(await usedAt(second)).toEqual(clock.now())
    expect(await usedAt(third)).toEqual(now)
  })

  test('of many tokens need two statements: for the first, and for all that follow', async () => {
    const { recordUse } = createTokenLookup({ db: database.db, log: silentLogger })
    const now = testClock().now()
    const [first = 0, ...others] = ids
    const statements = await statementsOf(async () => {
      await recordUse({ id: first, lastUsedAt: null }, now)
      for (const id of [...others, ...others]) void recordUse({ id, lastUsedAt: null }, now)
      await recordUse({ id: others[0] ?? 0, lastUsedAt: null }, now)
    })
    expect(statements).toBe(2)
    const [row] = await database.sql`
      select count(*)::int as used from tokens where last_used_at = ${now}`
    expect(row?.['used']).toBe(TOKENS)
  })

  test('do not replace a later use that another process has recorded', async () => {
    const { recordUse } = createTokenLookup({ db: database.db, log: silentLogger })
    const now = testClock().now()
    const later = new Date(now.getTime() + 1000)
    await database.sql`update tokens set last_used_at = ${later} where id = ${ids[0] ?? 0}`
    await Promise.all(ids.slice(0, 2).map((id) => recordUse({ id, lastUsedAt: null }, now)))
    expect(await usedAt(ids[0])).toEqual(later)
    expect(await usedAt(ids[1])).toEqual(now)
  })

  test('of other tokens are recorded while a transaction has locked one', async () => {
    const { recordUse } = createTokenLookup({ db: database.db, log: silentLogger })
    const now = testClock().now()
    await database.sql.begin(async (tx) => {
      await tx`select from tokens where id = ${ids[0] ?? 0} for update`
      await Promise.all(ids.slice(0, 2).map((id) => recordUse({ id, lastUsedAt: null }, now)))
    })
    expect(await usedAt(ids[0])).toBeNull()
    expect(await usedAt(ids[1])).toEqual(now)
  })

  test('are recorded again after the database was away, and never fail a call', async () => {
    const other = connect(database.url)
    const { recordUse } = createTokenLookup({ db: other.db, log: silentLogger })
    const now = testClock().now()
    await database.sql`alter table tokens rename to tokens_away`
    await recordUse({ id: ids[0] ?? 0, lastUsedAt: null }, now)
    await database.sql`alter table tokens_away rename to tokens`
    await recordUse({ id: ids[0] ?? 0, lastUsedAt: null }, now)
    expect(await usedAt(ids[0])).toEqual(now)
    await other.close()
  })
})
