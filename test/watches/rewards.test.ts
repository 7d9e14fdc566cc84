import { getAddress } from 'viem/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  listUnclaimedRewards,
  saveRewardClaims,
  saveRewards,
} from '#src/fsp/indexer/round-store.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

/** Published rewards and their claims in the tables. */

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

test('rewards of one beneficiary and type are stored once, and a repeated claim marks them as claimed', async () => {
  const { db } = database
  const voter = getAddress(`0x${'1'.repeat(40)}`)
  const claim = { rewardEpoch: 450, beneficiary: voter, claimType: 0 }
  const published = { ...claim, voter, amountWei: 5n }
  await saveRewards(db, [published, { ...published, amountWei: 7n }])
  await saveRewards(db, [published])
  expect(await listUnclaimedRewards(db, [voter], [450])).toEqual([
    { voter, rewardEpoch: 450, amountWei: 5n },
  ])
  await saveRewardClaims(db, [claim, claim])
  expect(await listUnclaimedRewards(db, [voter], [450])).toEqual([])
})
