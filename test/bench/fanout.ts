import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as alerts from '#src/alerts/service.ts'
import { createPublicationReader } from '#src/chain/publication-reader.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { createWatchTypeFacts } from '#src/watches/facts.ts'
import { observeWatches } from '../support/observe.ts'
import { createYearOfPartitions, withDatabase } from './database.ts'
import { fillFeedWatches } from './fanout-watches.ts'
import { type Measurement, median } from './report.ts'

const WATCHES = 100_000
const ROUNDS = 3
const GOAL_RATIO = 2
const HEAP_GOAL_RATIO = 1.25
/** Number of batches of watches after which heaps are first compared. */
const EARLY_BATCH = 10
const TABLES = ['alerts', 'delivery_queue'] as const

/**
 * Moves one price that 100 000 watches observe, and measures the time from the block to the committed rows in the
 * outbox. The
 * floor is a COPY of the same rows into the same emptied tables.
 */
export async function benchFanout(): Promise<readonly Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'watchdog-rows-'))
  await chmod(folder, 0o777)
  try {
    return await withDatabase(async (databaseUrl) => {
      const connection = connect(databaseUrl, { statementTimeoutMs: 0 })
      await fillFeedWatches(connection, WATCHES)
      const world = createWorld(connection)
      await createYearOfPartitions(connection, world.now())
      await world.look()
      const subjects: number[] = []
      const floors: number[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        await world.rest()
        const subject = await seconds(() => world.move())
        await proveRows(connection)
        if (round === 0) await dump(connection, folder)
        await empty(connection)
        const floor = await seconds(() => copy(connection, folder))
        await proveRows(connection)
        await empty(connection)
        // The first round warms both up.
        if (round === 0) continue
        subjects.push(subject)
        floors.push(floor)
      }
      const heaps = await heapsOf(world)
      await connection.close()
      const ratio = median(subjects.map((value, round) => value / (floors[round] ?? Number.NaN)))
      return [
        {
          bench: 'fanout',
          measure: `one feed move, ${WATCHES} watches`,
          value: median(subjects),
          unit: 's',
          floor: median(floors),
          ratio,
          goal: `<= ${GOAL_RATIO} times COPY of the same rows`,
          met: ratio <= GOAL_RATIO,
        },
        {
          bench: 'fanout',
          measure: 'heap at the end beside the beginning',
          value: heaps.late,
          unit: 'MiB',
          floor: heaps.early,
          ratio: heaps.late / heaps.early,
          goal: `at most ${HEAP_GOAL_RATIO}`,
          met: heaps.late / heaps.early <= HEAP_GOAL_RATIO,
        },
      ]
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Creates a chain with one feed, and the service's code from its block to the outbox. */
function createWorld({ db }: Connection) {
  let [number, value] = [1000, 2_000_000n]
  let afterBatch = () => {}
  const block = () => ({
    number,
    hash: `0x${number.toString(16).padStart(64, '0')}`,
    at: new Date(Date.UTC(2026, 10, 20, 12) + number * 60_000),
  })
  // Stand-in for the chain; everything behind it is the service's own code.
  const chain = {
    confirmedBlock: async () => block(),
    readNewestBlock: async () => block(),
    feedPrices: async (feeds: readonly string[]) =>
      feeds.map((name) => ({
        id: '0x01464c522f55534400000000000000000000000000',
        name,
        value,
        decimals: 8,
        at: block().at,
      })),
  } as unknown as FspChain
  const clock = { now: () => block().at }
  const quarantine = createQuarantine({ log: silentLogger })
  const source = { db, chain, clock, log: silentLogger, chainId: 14, pChain: undefined, quarantine }
  const published = createPublicationReader()
  const facts = createWatchTypeFacts({
    pricedTokens: {},
    ...source,
    published,
    datasetUrl: undefined,
    rewardDataUrls: [],
  })
  const box = createSecretBox(Buffer.alloc(32, 7))
  const publicUrl = 'https://watchdog.example.org'
  const notification = { clock, log: silentLogger, box, quarantine, publicUrl }
  const look = () =>
    observeWatches(
      {
        ...source,
        facts,
        confirmations: 1,
        recordAlerts: async (tx, candidates) => {
          await alerts.recordAlerts(notification, tx, candidates)
          afterBatch()
        },
      },
      new AbortController().signal,
    )
  return {
    now: clock.now,
    look,
    /** Advances the clock by a day, so that all windows and cooldowns are over. */
    rest: async () => {
      number += 1440
      await look()
    },
    /** The price moves by a tenth within a minute. */
    move: async () => {
      number += 1
      value = value === 2_000_000n ? 2_200_000n : 2_000_000n
      await look()
    },
    /** Sets the work to run after every batch of watches. */
    onBatch: (work: () => void) => {
      afterBatch = work
    },
  }
}

/** Live objects on the heap after the first batches and at the end of a move, in MiB. */
async function heapsOf(world: ReturnType<typeof createWorld>) {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  let batches = 0
  let early = 0
  let late = 0
  world.onBatch(() => {
    batches += 1
    collect()
    late = process.memoryUsage().heapUsed / 2 ** 20
    if (batches === EARLY_BATCH) early = late
  })
  await world.rest()
  batches = 0
  await world.move()
  return { early, late }
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

async function proveRows({ sql }: Connection): Promise<void> {
  for (const table of TABLES) {
    const [row] = await sql`select count(*)::int as count from ${sql(table)}`
    if (row?.['count'] !== WATCHES) throw new Error(`${row?.['count']} rows in ${table}`)
  }
}

async function empty({ sql }: Connection): Promise<void> {
  for (const table of TABLES) await sql`truncate ${sql(table)}`
  await sql`checkpoint`
}

/** Makes PostgreSQL write the rows into files (COPY … TO). */
async function dump({ sql }: Connection, folder: string): Promise<void> {
  for (const table of TABLES) {
    await sql.unsafe(`copy (select * from ${table}) to '${join(folder, table)}'`)
  }
}

/** Makes PostgreSQL read the rows from these files: both tables in one message, and so in one transaction. */
async function copy({ sql }: Connection, folder: string): Promise<void> {
  const copies = TABLES.map((table) => `copy ${table} from '${join(folder, table)}'`)
  await sql.unsafe(copies.join('; '))
}
