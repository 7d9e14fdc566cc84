import { numberToHex } from 'viem/utils'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPublicationReader } from '#src/chain/publication-reader.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { type EpochSettings, roundWindowsOf } from '#src/fsp/protocol/epochs.ts'
import type { ProtocolBlock } from '#src/fsp/reader/round-blocks.ts'
import type { RoundReader } from '#src/fsp/reader/round-reader.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { createWatchTypeFacts } from '#src/watches/facts.ts'
import { benchPolicy } from '../bench/fsp-blocks.ts'
import { fillProviderWatches } from '../bench/fsp-replay.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { observeWatches } from '../support/observe.ts'

/** Voting rounds that one block completes, while watches are judged or the process ends between them. */

/** Rounds that are shorter than a standstill: only then does one block complete two judged ones. */
const CLOCK: EpochSettings = {
  firstRoundAtSeconds: 1_760_000_000,
  roundSeconds: 20,
  firstEpochRound: 0,
  roundsPerEpoch: 3360,
}
const FIRST = 100
const POLICY = benchPolicy(0, { rewardEpoch: 0, members: [0] })
const [PROVIDER] = POLICY.providers

let database: FreshDatabase
let raised: AlertCandidate[] = []

beforeEach(async () => {
  raised = []
  database = await freshDatabase()
  await fillProviderWatches(database.url, [PROVIDER?.voter ?? ''], 1, {
    name: 'Silent',
    signals: [{ id: 'ftso-commit', enabled: true, parameters: { rounds: 2 } }],
    cooldownSeconds: 0,
  })
})
afterEach(() => database.drop())

function block(number: number, at: number): ProtocolBlock {
  const ref = { number, hash: numberToHex(number, { size: 32 }), at: new Date(at * 1000) }
  const nothing = {
    submissions: [],
    finalised: [],
    requests: [],
    fastUpdates: [],
    refusedUpdates: [],
  }
  return { ref, number, at, ...nothing, registrations: [], calls: [], claims: [] }
}

/** Blocks of every second up to the end of round `FIRST`, and one that completes two further rounds. */
function blocks(): readonly ProtocolBlock[] {
  const from = roundWindowsOf(CLOCK, FIRST).start - 1
  const to = roundWindowsOf(CLOCK, FIRST).complete
  const before = Array.from({ length: to - from + 1 }, (_, n) => block(1000 + n, from + n))
  return [...before, block(1000 + before.length, roundWindowsOf(CLOCK, FIRST + 2).complete)]
}

const SETTINGS = { sampleSize: 1.5, feedCount: null, submissionWindow: null }

/**
 * A process that reads these blocks and judges the watch.
 *
 * @param onState called when the state at the end of a block is read, before its rounds are stored
 */
function startProcess(read: readonly ProtocolBlock[], onState: () => Promise<void>) {
  const tip = read.at(-1)?.ref ?? { number: 0, hash: '0x' as const, at: new Date(0) }
  const rounds: RoundReader = {
    policies: async () => ({
      clock: CLOCK,
      currentEpoch: 0,
      policies: [POLICY],
      registrations: [],
      schedule: {
        registrationSeconds: 1800,
        preparationSeconds: 7200,
        rewardExpirySeconds: null,
      },
    }),
    contracts: () => ({}),
    async states() {
      await onState()
      return { registration: null, ...SETTINGS, providers: new Map() }
    },
    newestSettings: async () => SETTINGS,
    span: async ({ from, to }) => ({
      blocks: read.filter(({ number }) => number >= from && number <= to),
      upTo: to,
    }),
  }
  const chain = {
    confirmedBlock: async () => tip,
    readNewestBlock: async () => tip,
    blockAt: async (number: number) => read.find((block) => block.number === number)?.ref ?? tip,
    rounds,
  } as unknown as FspChain
  const { db } = database
  const quarantine = createQuarantine({ log: silentLogger })
  const clock = { now: () => tip.at }
  const source = { db, chain, clock, log: silentLogger, chainId: 14, pChain: undefined, quarantine }
  const facts = createWatchTypeFacts({
    pricedTokens: {},
    ...{ ...source, recovery: undefined },
    published: createPublicationReader(),
    datasetUrl: undefined,
    rewardDataUrls: [],
  })
  const { signal } = new AbortController()
  const recordAlerts = async (_tx: unknown, all: readonly AlertCandidate[]) => {
    raised.push(...all)
  }
  return {
    read: () => facts.rounds.advance(tip, signal),
    look: () => observeWatches({ ...source, facts, confirmations: 1, recordAlerts }, signal),
  }
}

/** Reads up to the first round and looks, so that the watch has its baseline. */
async function begin(): Promise<void> {
  const before = startProcess(blocks().slice(0, -1), async () => undefined)
  await before.read()
  await before.look()
}

const stored = async () =>
  (await database.sql`select round, block_number from fsp_rounds order by round`).map((row) => [
    row['round'],
    row['block_number'],
  ])
const streaks = () =>
  raised.flatMap(({ event, data }) =>
    event === 'fsp.ftso-commit' ? [`${event} ${data['streak']}`] : [],
  )

test('a look while the rounds of a block are judged loses none of them', async () => {
  await begin()
  let judged = 0
  const process = startProcess(blocks(), async () => {
    judged += 1
    await process.look()
  })
  await process.read()
  await process.look()
  expect(judged).toBe(1)
  const last = blocks().at(-1)?.number ?? 0
  expect(await stored()).toEqual([
    [FIRST, last - 1],
    [FIRST + 1, last],
    [FIRST + 2, last],
  ])
  // The first round is the baseline, which is shown and not judged.
  expect(streaks()).toEqual(['fsp.ftso-commit 2'])
})

test('a process that is killed while the rounds of a block are judged loses none of them', async () => {
  await begin()
  const killed = Promise.withResolvers<void>()
  const process = startProcess(blocks(), () => {
    killed.resolve()
    return new Promise(() => {})
  })
  void process.read()
  await killed.promise
  const next = startProcess(blocks(), async () => undefined)
  await next.look()
  await next.read()
  await next.look()
  expect((await stored()).map(([round]) => round)).toEqual([FIRST, FIRST + 1, FIRST + 2])
  expect(streaks()).toEqual(['fsp.ftso-commit 2'])
})
