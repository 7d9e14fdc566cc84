import { getAddress } from 'viem/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPublicationFetcher } from '#src/fsp/indexer/publications.ts'
import {
  listUnclaimedRewards,
  saveRewardClaims,
  saveRewards,
} from '#src/fsp/indexer/round-store.ts'
import type { RoundReader } from '#src/fsp/reader/round-reader.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
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

test('a direct claim under the signing key of the reward epoch before or after is stored for its provider', async () => {
  const { db } = database
  const address = (digit: string) => getAddress(`0x${digit.repeat(40)}`)
  const [voter, before, own, after, nobody] = ['a', '2', '3', '4', '5'].map(address)
  if (!voter || !before || !own || !after || !nobody) throw new Error('an address is missing')
  const policy = (rewardEpoch: number, signingPolicy: Address) => ({
    ...{ rewardEpoch, startRound: rewardEpoch * 240, weightSum: 1, weightSumWithKeys: 1 },
    fixedAt: null,
    providers: [
      {
        voter,
        signingPolicy,
        submit: voter,
        submitSignatures: voter,
        weight: 1,
        sortitionWeight: null,
      },
    ],
  })
  const all = [policy(697, before), policy(698, before), policy(699, own), policy(700, after)]
  const schedule = { registrationSeconds: 1, preparationSeconds: 1, rewardExpirySeconds: null }
  const clock = {
    firstRoundAtSeconds: 0,
    roundSeconds: 90,
    firstEpochRound: 0,
    roundsPerEpoch: 240,
  }
  const policies: RoundReader['policies'] = async (_block, _signal, { sinceRound } = {}) => ({
    ...{ clock, schedule, registrations: [], currentEpoch: 700 },
    // As the reader of the chain does: one before that in force, or from the round on that was asked for.
    policies: all.filter(({ startRound }) => startRound >= (sinceRound ?? 699 * 240)),
  })
  const claim = (beneficiary: Address, claimType: number) => ({
    merkleProof: [],
    body: { beneficiary: beneficiary.toLowerCase(), claimType, amount: '10', rewardEpochId: 699 },
  })
  const rewardClaims = [
    ...[before, own, after, nobody].map((key) => claim(key, 0)),
    ...[before, after].map((key) => claim(key, 1)),
  ]
  const data = { rewardEpochId: 699, merkleRoot: '0x00', rewardClaims }
  const fetcher = createPublicationFetcher({
    ...{ db, clock: systemClock, log: silentLogger, datasetUrl: undefined, pChain: undefined },
    rewardDataUrls: ['https://data.example.org/{epoch}.json'],
    chain: { protocol: { rewardEpoch: async () => 700 }, rounds: { policies } } as never,
    published: {
      read: async (url: string) =>
        url.endsWith('/699.json') ? { is: 'found', value: data } : { is: 'absent' },
    } as never,
  })
  const block = { number: 1, at: new Date('2026-11-20T07:00:00Z'), hash: `0x${'0'.repeat(64)}` }
  await fetcher.fetch(block as never, new AbortController().signal)
  expect(await listUnclaimedRewards(db, [voter], [699])).toEqual([
    { voter, rewardEpoch: 699, amountWei: 30n },
  ])
})
