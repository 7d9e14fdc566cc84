import type { Sql } from 'postgres'
import type { BotService } from '#bot/core/service.ts'
import { findCanary } from '#src/alerts/canary.ts'
import type { ChainIdCheck } from '#src/chain/endpoints/chain-id-check.ts'
import type { Endpoints } from '#src/chain/endpoints/endpoints.ts'
import type { ContractAddresses } from '#src/chain/registry.ts'
import type { MailServer } from '#src/channels/mail/mailer.ts'
import { writeToDatabase } from '#src/db/connection.ts'
import { countPending } from '#src/db/migrate.ts'
import type { Replica } from '#src/db/replica.ts'
import { postgresError } from '#src/db/session.ts'
import { countDueByChannel } from '#src/delivery/service.ts'
import {
  listSourceProblems,
  type PublishedSource,
  type SourceProblem,
} from '#src/fsp/indexer/published-sources.ts'
import type { JobApp } from '#src/jobs/define.ts'
import { CLOCK_TOLERANCE_MS } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { endsWithin } from '#src/kernel/ends-within.ts'
import type { HealthCheck, HealthFigures } from '#src/kernel/health.ts'
import { progressOfTypes, readObservationProgress } from '#src/watches/observe/progress.ts'

/** Longest wait for the answer to one check. */
const CHECK_MS = 5000
/** Age of the newest block, or time in which a type has no current data, that is a problem. */
const CHAIN_LATE_MS = 90_000
/** Time for which the longest waiting delivery may be due. */
const OUTBOX_LATE_MS = 2 * MINUTE_MS
/** Age of the last arrived synthetic alert, of which one is raised every five minutes, that is a problem. */
const CANARY_LATE_MS = 12 * MINUTE_MS

/**
 * Checks of the service's dependencies, those that are configured. Without the database or its migrations nothing works; the others
 * leave the service usable in part. Long because it lists all checks.
 */
export function healthChecks({
  db,
  clock,
  hostAheadMs,
  stillForMs,
  sql,
  bot,
  hasBot = false,
  mailServer,
  migrations,
  contracts,
  chainIdChecks,
  endpoints,
  replica,
  sources,
  sendsNothing = false,
  hasCanary,
}: Pick<JobApp, 'db' | 'clock'> & {
  /** Milliseconds by which this host's clock is ahead of the database's, negative if it is behind. */
  hostAheadMs(): Promise<number>
  /** Milliseconds for which the clock of the service will stand still. */
  stillForMs(): number
  readonly sql: Sql
  /** Returns undefined until the bot is created. */
  bot(): BotService | undefined
  /** Whether there is a bot. */
  readonly hasBot?: boolean
  readonly mailServer?: Pick<MailServer, 'problem'> | undefined
  readonly migrations: string
  /** The contracts that the jobs of this process find. */
  readonly contracts: Pick<ContractAddresses, 'isMissing' | 'registry'>
  /** Checks of the chain id of all endpoints. */
  readonly chainIdChecks: readonly Pick<ChainIdCheck, 'problem'>[]
  /** The endpoints of the chain, as each reader of this process knows them. */
  readonly endpoints: readonly Pick<Endpoints, 'failures'>[]
  /** Copy of the database for lists; undefined if there is none. */
  readonly replica?: Pick<Replica, 'state'> | undefined
  /** The configured addresses of published data. */
  readonly sources: readonly PublishedSource[]
  /** Whether this process sends nothing to anybody. */
  readonly sendsNothing?: boolean
  /** Whether synthetic alerts are raised. */
  readonly hasCanary: boolean
}): readonly HealthCheck[] {
  /** Time of the first check: before the start the clock does not follow the database yet. */
  let startedAt: Date | undefined
  const msSince = (at: Date) => clock.now().getTime() - at.getTime()
  const progress = sharing(() => readObservationProgress(db))
  const judging = async () => {
    const read = await progress()
    const now = clock.now()
    startedAt ??= now
    return progressOfTypes(read, { startedAt, now })
  }
  // If the progress cannot be read, the checks of the database and the chain report it.
  const newestBlockAt = () =>
    progress().then(
      ({ head }) => head?.at,
      () => undefined,
    )
  const findCanaryProblem = async () => {
    const arrival = await findCanary({ db })
    if (arrival === undefined) return 'no synthetic alert has arrived'
    const lateMs = msSince(arrival.at)
    return lateMs > CANARY_LATE_MS ? `no synthetic alert for ${seconds(lateMs)}` : undefined
  }
  const checks: readonly HealthCheck[] = [
    { name: 'database', isVital: true, findProblem: () => findWriteProblem(sql) },
    {
      name: 'migrations',
      isVital: true,
      findProblem: async () => {
        const pending = await countPending(sql, migrations)
        return pending === 0 ? undefined : `${pending} pending`
      },
    },
    {
      name: 'clock',
      findProblem: async () =>
        wrongClock({
          ...{ hostAheadMs: await hostAheadMs(), stillForMs: stillForMs() },
          now: clock.now(),
          blockAt: await newestBlockAt(),
        }),
    },
    {
      name: 'chain',
      findProblem: async () => {
        const others = chainIdChecks.flatMap((check) => check.problem() ?? [])
        if (others.length === chainIdChecks.length) return others.join(', ')
        const { head } = await progress()
        const lateMs = head && msSince(head.at)
        if (lateMs !== undefined && lateMs <= CHAIN_LATE_MS) return undefined
        const failures = new Set(endpoints.flatMap((reader) => reader.failures()))
        const why = failures.size === 0 ? '' : ` (${[...failures].join('; ')})`
        if (lateMs === undefined) return `no block has been read yet${why}`
        return `no new block for ${seconds(lateMs)}${why}`
      },
    },
    {
      name: 'evaluation',
      findProblem: async () => {
        const outdated = (await judging()).filter(({ stillMs }) => stillMs > CHAIN_LATE_MS)
        if (outdated.length === 0) return undefined
        const since = outdated.map(({ type, stillMs }) => `${type} for ${seconds(stillMs)}`)
        return `no current data: ${since.join(', ')}`
      },
      readFigures: async () => ({
        behindSeconds: Object.fromEntries(
          (await judging()).map(({ type, blockAgeMs }) => [type, Math.round(blockAgeMs / 1000)]),
        ),
      }),
    },
    {
      name: 'contracts',
      findProblem: async () =>
        contracts.isMissing()
          ? `there are no contracts at ${contracts.registry} (FLARE_CONTRACT_REGISTRY)`
          : undefined,
    },
    {
      name: 'publications',
      findProblem: async () => {
        const problems = await listSourceProblems({ db, clock }, sources)
        if (problems.length === 0) return undefined
        return problems.map((problem) => sourceText(problem, msSince)).join('; ')
      },
    },
    {
      name: 'outbox',
      findProblem: async () => {
        const late = (await countDueByChannel(db, clock.now())).filter(
          ({ oldestAt }) => msSince(oldestAt) > OUTBOX_LATE_MS,
        )
        if (late.length === 0) return undefined
        return `deliveries wait: ${late.map(({ channel }) => channel).join(', ')}`
      },
    },
    ...(sendsNothing
      ? [{ name: 'sending', findProblem: async () => 'nothing is sent to anybody (SEND_NOTHING)' }]
      : []),
    ...(hasCanary ? [{ name: 'alerts', findProblem: findCanaryProblem }] : []),
    ...(hasBot ? [{ name: 'bot', findProblem: async () => bot()?.problem() }] : []),
    ...(mailServer === undefined
      ? []
      : [{ name: 'mail', findProblem: async () => mailServer.problem() }]),
    ...(replica === undefined
      ? []
      : [{ name: 'standby', findProblem: () => findStandbyProblem(db, replica) }]),
  ]
  return checks.map((check) => {
    const { readFigures: read } = check
    const bounded = { ...check, findProblem: () => answerOf(check) }
    return read === undefined ? bounded : { ...bounded, readFigures: () => figuresOf(read) }
  })
}

/**
 * The problem of the clocks. TLS and logs go by that of this host. That of the service stands still after the database's
 * was set back, and both are wrong if the newest block has a time that they have not reached.
 */
function wrongClock(of: {
  readonly hostAheadMs: number
  readonly stillForMs: number
  readonly now: Date
  readonly blockAt: Date | undefined
}): string | undefined {
  const { hostAheadMs, stillForMs, now, blockAt } = of
  if (stillForMs > CLOCK_TOLERANCE_MS) {
    return `clock of the service stands still for ${seconds(stillForMs)}: that of the database was set back; restart all processes`
  }
  if (Math.abs(hostAheadMs) > CLOCK_TOLERANCE_MS) {
    const how = hostAheadMs > 0 ? 'ahead of' : 'behind'
    return `clock of this host is ${seconds(Math.abs(hostAheadMs))} ${how} that of the database`
  }
  const behindMs = blockAt === undefined ? 0 : blockAt.getTime() - now.getTime()
  if (behindMs <= CLOCK_TOLERANCE_MS) return undefined
  return `clock of the database is ${seconds(behindMs)} behind the newest block`
}

function sourceText(
  { source, isNew, failingSince, reason }: SourceProblem,
  msSince: (at: Date) => number,
): string {
  const since = isNew ? 'was never read' : `cannot be read for ${seconds(msSince(failingSince))}`
  return `${source.variable} ${since} (${source.host}: ${reason})`
}

/** Why the database cannot be written; undefined if it can. */
async function findWriteProblem(sql: Sql): Promise<string | undefined> {
  try {
    await writeToDatabase(sql)
    return undefined
  } catch (error) {
    const refusal = postgresError(error)
    if (refusal === undefined) throw error
    return `cannot be written: ${refusal.message}`
  }
}

/** Why lists are not read from the standby; undefined if they are. */
async function findStandbyProblem(
  db: JobApp['db'],
  replica: Pick<Replica, 'state'>,
): Promise<string | undefined> {
  const { problem, lagMs } = await replica.state(db)
  if (problem === undefined) return undefined
  return lagMs === undefined ? problem : `${problem}: ${seconds(lagMs)}`
}

/** Concurrent callers share one reading. */
function sharing<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= read().finally(() => {
      running = undefined
    })
    return running
  }
}

/** The problem of a check; one that fails or takes too long is a problem itself. */
async function answerOf({ findProblem }: HealthCheck): Promise<string | undefined> {
  let found: string | undefined
  const check = async () => {
    found = await findProblem()
  }
  try {
    return (await endsWithin(check(), CHECK_MS)) ? found : 'does not answer'
  } catch {
    return 'does not answer'
  }
}

/** Figures of a check; none if they take too long. */
async function figuresOf(read: () => Promise<HealthFigures>): Promise<HealthFigures> {
  let figures: HealthFigures = {}
  const reading = read().then((found) => {
    figures = found
  })
  await endsWithin(reading, CHECK_MS)
  return figures
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}
