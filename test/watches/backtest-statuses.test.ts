import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { insertRound } from '#src/fsp/indexer/daily-store.ts'
import { PASSES_KIND, StoredPasses, withEarlierContent } from '#src/fsp/indexer/publication-data.ts'
import { savePublication } from '#src/fsp/indexer/store.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'
import { startPast, timeOf } from './past-chain.ts'

/**
 * The same random reward epochs and calculations twice: once while watches of eligibility run, once as a backtest over
 * the stored rounds and publications. Both give the same alerts at the same times.
 */

const RUNS = runs(2, 20)
const FIRST_EPOCH = 452
const PROVIDERS = [
  '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE',
  '0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f',
] as const satisfies readonly Address[]

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const sameTwice = <T>(arbitrary: fc.Arbitrary<T>) => fc.tuple(arbitrary, arbitrary)
/** What a calculation says about a provider; undefined: it does not name it. */
const answer = fc.option(
  fc.record({
    isEligible: fc.constantFrom(true, false, null),
    passes: fc.constantFrom(0, 3, null),
    failures: fc.constantFrom<string[]>([], ['FDC_FAILURE']),
  }),
  { nil: undefined },
)
const step = fc.record({
  afterSeconds: fc.integer({ min: 60, max: 1800 }),
  change: fc.oneof(
    fc.record({ kind: fc.constant('epoch' as const), members: sameTwice(fc.boolean()) }),
    fc.record({
      kind: fc.constant('calculation' as const),
      /** Reward epochs before the one in force. */
      age: fc.integer({ min: 1, max: 3 }),
      answers: sameTwice(answer),
    }),
    fc.constant({ kind: 'none' as const }),
  ),
})
const history = fc.record({
  members: sameTwice(fc.boolean()),
  steps: fc.array(step, { minLength: 6, maxLength: 20 }),
  areRecoveriesNotified: sameTwice(fc.boolean()),
})

/** Fires an alert for certain, which few random histories may not: a registered provider is not in the next epoch. */
const SURE = {
  members: [true, true] as [boolean, boolean],
  areRecoveriesNotified: [true, true] as [boolean, boolean],
  steps: [false, true].map((isMember) => ({
    afterSeconds: 600,
    change: { kind: 'epoch' as const, members: [isMember, isMember] as [boolean, boolean] },
  })),
}

/** Stores the first round of a reward epoch. */
async function saveRound(epoch: number, members: readonly boolean[], second: number) {
  const records = PROVIDERS.flatMap((voter, index) =>
    members[index] === true ? [[voter, { c: 'g'.repeat(15) }] as const] : [],
  )
  await insertRound(database.db, {
    round: epoch * 3360,
    rewardEpoch: epoch,
    startsAt: timeOf(second - 180),
    blockNumber: second,
    blockHash: `0x${second}`,
    blockAt: timeOf(second),
    providers: Object.fromEntries(records),
  })
}

test('a backtest gives the alerts of a watch of eligibility that ran meanwhile', async () => {
  const property = fc.asyncProperty(history, async (played) => {
    let epoch = FIRST_EPOCH
    let members: readonly boolean[] = played.members
    const published = new Map<number, StoredPasses>()
    const past = await startPast(database, {
      registrations: async () => ({
        rewardEpochId: epoch,
        // One that nobody watches is always registered: an empty list proves nothing.
        voters: new Set<Address>([
          '0x18b9306737eaf6E8FC8e737F488a1AE077b18053',
          ...PROVIDERS.filter((_, index) => members[index] === true),
        ]),
        isSure: true,
      }),
    })
    const watches = PROVIDERS.map((provider, index) => ({
      type: 'provider-eligibility',
      provider,
      cooldownSeconds: 0,
      isRecoveryNotified: played.areRecoveriesNotified[index] === true,
    }))
    for (const watch of watches) await past.watch(watch.provider, 'provider-status', watch)
    let second = 60
    await saveRound(epoch, members, second)
    await past.look(second)
    for (const { afterSeconds, change } of played.steps) {
      second += afterSeconds
      if (change.kind === 'epoch') {
        epoch += 1
        members = change.members
        await saveRound(epoch, members, second)
      }
      if (change.kind === 'calculation') {
        const rows = change.answers.flatMap((answer, index) => {
          const voter = PROVIDERS[index]
          return answer == null || voter === undefined
            ? []
            : [{ ...answer, voter, name: null, earlier: [] }]
        })
        const of = epoch - change.age
        const all = withEarlierContent(rows, published.get(of), timeOf(second))
        published.set(of, all)
        const data = z.encode(StoredPasses, all)
        const publication = { kind: PASSES_KIND, rewardEpochId: of, data, seenAt: timeOf(second) }
        await savePublication(database.db, publication)
      }
      await past.look(second)
    }
    past.wait(60 + DAY_SECONDS)
    for (const watch of watches) {
      const shown = ({ firedAt, event, severity, data }: ReturnType<typeof past.live>[number]) => ({
        firedAt,
        event,
        severity,
        ...data,
      })
      const live = past.live(watch.provider).map(shown)
      expect((await past.later('provider-status', watch)).map(shown)).toEqual(live)
      alertCount += live.length
    }
  })
  let alertCount = 0
  await fc.assert(property, { numRuns: RUNS + 1, examples: [[SURE]], endOnFailure: true })
  expect(alertCount).toBeGreaterThan(0)
})
