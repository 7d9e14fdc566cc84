import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SLICES } from '#src/db/slices.ts'
import {
  listSliceCursors,
  type ObservedSlices,
  saveSliceCursors,
} from '#src/watches/slice-cursor-store.ts'
import { findObservationCursor } from '#src/watches/target-store.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

const AT = new Date('2026-11-27T12:00:00Z')
const EVERY = Array.from({ length: SLICES }, (_, slice) => slice)
const HALF = EVERY.slice(0, SLICES / 2)
const OTHER_HALF = EVERY.slice(SLICES / 2)

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.sql`truncate observation_cursors, slice_cursors`
})

const block = (blockNumber: number) => ({ blockNumber, blockAt: AT, observedAt: AT })
const save = (...seen: readonly ObservedSlices[]) =>
  database.db.transaction((tx) => saveSliceCursors(tx, seen))
const seenTo = async (type: string) => (await findObservationCursor(database.db, type))?.blockNumber

test('a type is seen up to the lowest block of its slices, once all of them are seen', async () => {
  await save({ type: 'a', slices: HALF, ...block(10) })
  expect(await seenTo('a')).toBeNull()
  await save({ type: 'a', slices: OTHER_HALF, ...block(9) })
  expect(await seenTo('a')).toBe(9)
  await save({ type: 'a', slices: OTHER_HALF, ...block(12) })
  expect(await seenTo('a')).toBe(10)
})

test('progress of several types is written at once, each with its own block', async () => {
  await save(
    { type: 'b', slices: EVERY, ...block(5) },
    { type: 'a', slices: HALF, ...block(7) },
    { type: 'a', slices: OTHER_HALF, ...block(8) },
  )
  expect([await seenTo('a'), await seenTo('b')]).toEqual([7, 5])
  const own = await listSliceCursors(database.db, OTHER_HALF)
  expect(own.map(({ type, blockNumber, slices }) => [type, blockNumber, slices])).toEqual(
    expect.arrayContaining([
      ['a', 8, OTHER_HALF],
      ['b', 5, OTHER_HALF],
    ]),
  )
  expect(own).toHaveLength(2)
})

test('a slice that is not observed keeps the block of its type, and its failure is not theirs to write', async () => {
  await save({ type: 'a', slices: EVERY, ...block(10) })
  await database.sql`update observation_cursors set failing_since = ${AT}, checked_at = ${AT}`
  await save({ type: 'a', slices: HALF, ...block(11) })
  expect(await findObservationCursor(database.db, 'a')).toMatchObject({
    ...{ blockNumber: 10, failingSince: AT, checkedAt: AT },
  })
})

test('processes that write the first progress of a type at once both count', async () => {
  await Promise.all([
    save({ type: 'a', slices: HALF, ...block(4) }),
    save({ type: 'a', slices: OTHER_HALF, ...block(3) }),
  ])
  expect(await seenTo('a')).toBe(3)
})

test('a row of a type that stays as it is is not written', async () => {
  await save({ type: 'a', slices: EVERY, ...block(10) })
  const place = async () => (await database.sql`select ctid from observation_cursors`)[0]?.['ctid']
  const before = await place()
  await save({ type: 'a', slices: HALF, ...block(11) })
  expect(await place()).toEqual(before)
  await save({ type: 'a', slices: OTHER_HALF, ...block(11) })
  expect(await place()).not.toEqual(before)
})
