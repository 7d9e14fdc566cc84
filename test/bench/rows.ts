import { eq } from 'drizzle-orm'
import { alerts } from '#src/alerts/tables.ts'
import { connect, type Db } from '#src/db/connection.ts'
import { systemClock } from '#src/kernel/clock.ts'
import {
  openExplained,
  type PlanNode,
  type RunStatement,
  rowsRead,
  rowsSorted,
  tablesScanned,
} from '../support/plans.ts'
import { withDatabase } from './database.ts'
import { type Measurement, median } from './report.ts'
import { CALLS, type Call } from './rows-calls.ts'
import { fillRows, ROW_COUNT } from './rows-fill.ts'

/** How often a call is made to warm up, to be measured and to be explained. */
const TIMES = { warm: 20, measured: 300, explained: 25 }
/** The same for a call of a job, which takes seconds. */
const TIMES_OF_JOB = { warm: 6, measured: 10, explained: 2 }
const GOAL_MS = 10
/** Maximum number of rows that one call may read or sort: those of a page with all their deliveries. */
const READ_MAX = 12_000
const SORTED_MAX = 2000
/** Tables that are small, whatever the number of rows here. */
const SMALL =
  /^(observation_cursors|slice_cursors|figure_hours|public_figures|ledger_proofs|trials?|subscriptions)$/

/**
 * Lists, history, claims and figures on tables of ten million alerts, deliveries and ledger entries, of which one
 * wallet has three of ten. The floor is a row of one of these tables by its primary key. The plan of each call is
 * that with which it ran: no table is read from end to end, and no more rows are read or sorted than a page needs.
 */
export async function benchRows(
  show: (measurements: readonly Measurement[]) => void,
): Promise<readonly Measurement[]> {
  return await withDatabase(async (databaseUrl) => {
    const connection = connect(databaseUrl, { statementTimeoutMs: 0 })
    const startedAt = performance.now()
    await fillRows(connection, systemClock.now())
    process.stdout.write(`filled in ${Math.round((performance.now() - startedAt) / 1000)} s\n`)
    const claimsDb = connection.openPool({ max: 1, keepsPlans: true })
    for (const call of CALLS) {
      show([await measure({ db: connection.db, claimsDb }, databaseUrl, call)])
    }
    await connection.close()
    return []
  })
}

async function measure(
  { db, claimsDb }: { readonly db: Db; readonly claimsDb: Db },
  databaseUrl: string,
  call: Call,
): Promise<Measurement> {
  const own: number[] = []
  const floor: number[] = []
  const times = call.isJob === true ? TIMES_OF_JOB : TIMES
  for (let time = -times.warm; time < times.measured; time += 1) {
    const row = Math.floor(Math.random() * ROW_COUNT)
    const subjectMs = await milliseconds(() => call.run(db, row, claimsDb))
    const floorMs = await milliseconds(() => findAlert(db, row))
    if (time < 0) continue
    own.push(subjectMs)
    floor.push(floorMs)
  }
  const problems = await readPlans(databaseUrl, call)
  const value = p99(own)
  return {
    bench: 'rows',
    measure: `${call.name}, p99`,
    value,
    unit: 'ms',
    floor: p99(floor),
    ratio: value / p99(floor),
    goal: call.isJob ? '-' : [`<= ${GOAL_MS} ms`, ...problems].join('; '),
    met: call.isJob === true || (value <= GOAL_MS && problems.length === 0),
  }
}

/** The floor: an alert by its number. */
async function findAlert(db: Db, id: number): Promise<unknown> {
  return await db.select().from(alerts).where(eq(alerts.id, id))
}

/**
 * Returns the problems of a call's plans, after as many calls as PostgreSQL needs to settle on a generic plan, and
 * prints what such a call reads.
 */
async function readPlans(databaseUrl: string, call: Call): Promise<readonly string[]> {
  const explained = openExplained(databaseUrl)
  try {
    const calls: (readonly RunStatement[])[] = []
    const times = call.isJob === true ? TIMES_OF_JOB : TIMES
    for (let time = -times.warm; time < times.explained; time += 1) {
      const row = Math.floor(Math.random() * ROW_COUNT)
      const ran = await explained.record(() => call.run(explained.db, row, explained.db))
      if (ran.length === 0) throw new Error(`no plan of ${call.name}`)
      if (time >= 0) calls.push(ran)
    }
    process.stdout.write(readLine(call, calls))
    const problems = calls.flat().flatMap(({ plan }) => {
      const scanned = tablesScanned(plan).filter((table) => !SMALL.test(table))
      const [read, sorted] = [rowsRead(plan), rowsSorted(plan)]
      return [
        ...scanned.map((table) => `reads all of ${table}`),
        ...(read > READ_MAX ? [`reads ${read} rows`] : []),
        ...(sorted > SORTED_MAX ? [`sorts ${sorted} rows`] : []),
      ]
    })
    return [...new Set(problems)]
  } finally {
    await explained.close()
  }
}

/** A line on how much the calls read: the median and the most of each. */
function readLine({ name }: Call, calls: readonly (readonly RunStatement[])[]): string {
  const medianAndMost = (count: (plan: PlanNode) => number) => {
    const sums = calls.map((ran) => ran.reduce((sum, { plan }) => sum + count(plan), 0))
    return `${Math.round(median(sums))} (${Math.round(Math.max(...sums))})`
  }
  const uncached = (plan: PlanNode) => plan['Shared Read Blocks'] ?? 0
  const pages = (plan: PlanNode) => (plan['Shared Hit Blocks'] ?? 0) + uncached(plan)
  const reads = `${medianAndMost(rowsRead)} rows, ${medianAndMost(pages)} pages`
  return `rows: ${name} reads ${reads}, ${medianAndMost(uncached)} of them not cached\n`
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
}
