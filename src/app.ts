import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { Api } from 'grammy'
import type { Sql } from 'postgres'
import { forgetWallet } from '#bot/core/forget-wallet.ts'
import { type BotService, createBotService } from '#bot/core/service.ts'
import { listChatsShowingTopup } from '#bot/features/topup/live-schedule.ts'
import { BOT_PARTS } from '#bot/parts.ts'
import { createEvidenceChain } from '#src/alerts/evidence/chain.ts'
import { startPastIncidents } from '#src/alerts/incidents/past.ts'
import { createTokenLookup } from '#src/auth/service.ts'
import { createFacilitator } from '#src/billing/direct/facilitator.ts'
import { createOwnSettler } from '#src/billing/direct/own-settler.ts'
import { createDirectPayments, type DirectPayments } from '#src/billing/direct/service.ts'
import { createMetering } from '#src/billing/metering/service.ts'
import { RESOURCES } from '#src/billing/price-list.ts'
import { createPaymentOptions } from '#src/billing/topups/payment-options.ts'
import { createHeads } from '#src/chain/blocks/heads.ts'
import { createChain } from '#src/chain/client.ts'
import { createChainIdCheck } from '#src/chain/endpoints/chain-id-check.ts'
import { createRequestBudget } from '#src/chain/endpoints/request-budget.ts'
import { createFacilitatorClient } from '#src/chain/payments/facilitator-client.ts'
import { createSettlementAccount } from '#src/chain/payments/settlement-account.ts'
import { createPChain, type PChain } from '#src/chain/pchain.ts'
import { createPublicationReader } from '#src/chain/publication-reader.ts'
import { createRecoveryPool, logRecoveryCode } from '#src/chain/signatures/recovery-pool.ts'
import { createXrpl, type Xrpl } from '#src/chain/xrpl/xrpl.ts'
import { createProver } from '#src/channels/hooks/receiver-proof.ts'
import { createChannels } from '#src/channels/index.ts'
import { createMailer, type MailServer } from '#src/channels/mail/mailer.ts'
import { createSharedPace, paceLimits } from '#src/channels/telegram/pace.ts'
import type { PaceLimits } from '#src/channels/telegram/pace-rules.ts'
import type { Config } from '#src/config.ts'
import { createServiceClock, msAheadOfDatabase } from '#src/db/clock.ts'
import { connect, type Db, waitForDatabase } from '#src/db/connection.ts'
import { createLeases } from '#src/db/leases.ts'
import { migrate } from '#src/db/migrate.ts'
import { repairTimes } from '#src/db/repair-times.ts'
import { createReplica } from '#src/db/replica.ts'
import { createSlices, type Slices } from '#src/db/slices.ts'
import { createAttemptCounter } from '#src/delivery/sending/attempt-counter.ts'
import { createSendingState } from '#src/delivery/sending/sending-state.ts'
import { forgetMessageIds } from '#src/delivery/service.ts'
import { withFsp } from '#src/fsp/chain.ts'
import { publishedSources } from '#src/fsp/indexer/published-sources.ts'
import { storedContracts } from '#src/fsp/indexer/round-facts.ts'
import { healthChecks } from '#src/health.ts'
import { createInternalServer } from '#src/http/internal.ts'
import { createServer } from '#src/http/server.ts'
import { writeChainNames } from '#src/i18n/translate.ts'
import type { JobApp } from '#src/jobs/define.ts'
import { createHeartbeatMonitor } from '#src/jobs/heartbeat.ts'
import { REGISTRY as JOBS } from '#src/jobs/index.ts'
import { retain } from '#src/jobs/retain.ts'
import { type RunningJobs, runOnceBeforeStart, startJobs } from '#src/jobs/runner.ts'
import { serveChain } from '#src/kernel/chains.ts'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { createMeters, type Meters } from '#src/kernel/meters.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import { type Release, readCommit, VERSION } from '#src/kernel/release.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { createReadings } from '#src/metrics.ts'
import { createNotices } from '#src/notices/service.ts'
import { createLimits } from '#src/operations/gate/limits.ts'
import { REGISTRY as OPERATIONS } from '#src/operations/index.ts'
import { registerPages } from '#src/pages/index.ts'
import { STORED_TIMES } from '#src/stored-times.ts'
import { onLimited } from '#src/telegram/api.ts'
import { createBacktests } from '#src/watches/backtest/backtest.ts'
import { createUsualBacktests } from '#src/watches/backtest/usual.ts'
import { createWatchTypeFacts } from '#src/watches/facts.ts'
import { createLookUps } from '#src/watches/look-up.ts'
import { createTypePauses } from '#src/watches/observe/type-pauses.ts'

/** The service, built but not started. */
export interface Service {
  readonly app: JobApp
  readonly sql: Sql
  /** The public server; tests inject requests into it. */
  readonly server: FastifyInstance
  /** The server of health and metrics; tests inject requests into it, too. */
  readonly internal: FastifyInstance
  /** What runs: version and commit of the release, and the chain. */
  readonly release: Release
  /** Keys of the channels that are not configured. */
  readonly off: readonly string[]
  /** The bot, if its token is configured. */
  readonly bot: BotService | undefined
  /**
   * Migrates, listens, starts bot and jobs, as far as this process has the roles.
   *
   * @param signal aborts waiting for the database, and a running migration
   */
  start(signal?: AbortSignal): Promise<void>
  /** Runs every job now, instead of when its interval has passed: the given clock was moved. */
  runJobs(): void
  /**
   * Stops everything in reverse order, and waits for running work. Closes the database even if `start` was not called.
   */
  stop(): Promise<void>
}

const MIGRATIONS = join(import.meta.dirname, '../migrations')
/** Longest wait of a start for the database. */
const DATABASE_DEADLINE_MS = 60_000
/** Longest wait of a request for the database. */
const ANSWER_MS = 10_000
/** Pool for requests of all front doors: those that wait for a connection are refused soon. */
const REQUESTS_POOL = { max: 10, waitMs: 5000, lockMs: 3000, answerMs: ANSWER_MS }
/** Limits of calls to the chain by all front doors. */
const REQUESTS_ASK = { runningMax: 16, waitingMax: 200, waitMs: 5000 }
/** Pool of jobs and delivery. */
const JOBS_POOL = { max: 10 }
/** Pool of claims of deliveries: two statements of a channel at once. */
const CLAIMS_POOL = { max: 4, keepsPlans: true }
/** Pool for lists from a copy of the database; when the copy is slow, lists are soon read from the database itself. */
const REPLICA_POOL = { max: 10, waitMs: 1000, answerMs: 3000 }
/** Pool of metered calls, which are settled in few statements. To plan one takes longer than to run it. */
const METERING_POOL = { max: 5, waitMs: 5000, lockMs: 3000, answerMs: ANSWER_MS, keepsPlans: true }
/** Deadline for running work at a stop. With settling and closing 15 s, half of what `main.ts` waits for a stop. */
const STOP_MS = 10_000
const SETTLE_MS = 2000
const CLOSE_MS = 1000
const TELEGRAM_TIMEOUT_SECONDS = 30

/** Creates every dependency of the service, once. Long because it is the list of all of them. */
export function createApp(
  config: Config,
  parts: {
    readonly databaseUrl: string
    readonly log: Logger
    /** Simulated time; by default the clock follows that of the database. */
    readonly clock?: Clock
    /** Clock of this host. */
    readonly hostClock?: Clock
    /** Slices of targets; by default this process shares them with others. */
    readonly slices?: Slices
    /** Least times between two messages of the bot; those of Telegram by default. */
    readonly pace?: Partial<PaceLimits>
  },
): Service {
  const { log, hostClock = systemClock } = parts
  const { sendsNothing } = config
  const heartbeatUrl = sendsNothing ? undefined : config.heartbeatUrl
  const served = serveChain(config.chain.id)
  writeChainNames(served)
  const release: Release = { version: VERSION, commit: readCommit(), chain: served.key }
  const meters = createMeters()
  // Rules tell chains and releases apart by them.
  meters.registry.setDefaultLabels({ version: release.version, chain: release.chain })
  const waits = (pool: string) => ({
    onWaited: (seconds: number) => meters.countPoolWait(pool, seconds),
  })
  const { poolerUrl, readUrl } = config.database
  const connection = connect(parts.databaseUrl, {
    ...{ ...REQUESTS_POOL, ...waits('requests'), poolerUrl },
  })
  const { db, sql } = connection
  const leases = createLeases(sql, { log })
  const jobsDb = connection.openPool({ ...JOBS_POOL, ...waits('jobs') })
  const followed = createServiceClock({ db: jobsDb, hostClock, log })
  const clock = parts.clock ?? followed
  const meteringDb = connection.openPool({ ...METERING_POOL, ...waits('metering') })
  const copy =
    readUrl === undefined ? undefined : connect(readUrl, { ...REPLICA_POOL, ...waits('replica') })
  const access = sendsNothing
    ? undefined
    : telegramAccess(config, { db: jobsDb, meters, limits: paceLimits(parts.pace) })
  const mailServer = sendsNothing ? undefined : mailServerOf(config, { clock, log })
  const mail = {
    mailer: mailServer,
    from: config.email.from ?? '',
    publicUrl: config.publicUrl,
  }
  const box = createSecretBox(config.secretKey, config.previousSecretKey)
  const channels = createChannels({
    ...mail,
    telegram: access,
    botUsername: () => bot?.username(),
    allowPrivateUrls: config.webhook.allowPrivate,
    prove: createProver({ box, publicUrl: config.publicUrl }),
    sendsNothing,
  })
  const chainId = config.chain.id
  const recovery = createRecoveryPool({ log })
  const { rpcUrls, requestsPerMinute, evaluationIntervalMs } = config.chain
  // All readers of this process share what an endpoint says, and the rate that it accepts.
  const chainIdChecks = rpcUrls.map((url, endpoint) =>
    createChainIdCheck({ endpoint, origin: new URL(url).origin }, { chainId, clock, log }),
  )
  const heads = createHeads({ ...config.chain, longestMs: evaluationIntervalMs, log, meters })
  const chainAccess = {
    ...config.chain,
    ...{ chainId, log, clock, meters, recovery },
    chainIdChecks,
    budgets: rpcUrls.map((_, endpoint) => createRequestBudget(requestsPerMinute[endpoint])),
    // The job that follows the chain reads each block; other readers share what it has read.
    sharedHeadMs: () => (heads.isFollowed() ? evaluationIntervalMs : 0),
  }
  const contractsIn = (of: Db) => () => storedContracts(of, config.chain.formerSubmissions)
  // Limits that requests reach at endpoints must not make the watcher skip them, nor take its slots.
  const chain = withFsp(
    createChain({
      ...chainAccess,
      formerContracts: contractsIn(db),
      limits: REQUESTS_ASK,
    }),
  )
  const jobsChain = withFsp(
    createChain({
      ...chainAccess,
      formerContracts: contractsIn(jobsDb),
      readsWholeBlocks: config.roles.includes('watcher'),
    }),
  )
  const xrpl = xrpLedger(config, log, clock)
  const billing = {
    ...config.billing,
    chainName: config.chain.name,
    resources: RESOURCES.filter((id) => config.http.upstreams[id] !== undefined),
  }
  const { publicUrl } = config
  const botUsername = () => bot?.username()
  const factSource = {
    ...{ chain, clock, log, meters, chainId, recovery },
    pricedTokens: billing.payments.tokens,
    ...config.published,
    pChain: pChain(config),
    published: createPublicationReader(),
  }
  const facts = createWatchTypeFacts({ db, ...factSource })
  const metered = { db: meteringDb, clock, log }
  const hostAheadMs = () => msAheadOfDatabase({ db: jobsDb, clock: hostClock })
  const replica = copy && createReplica({ db: copy.db, clock, log, count: meters.countListReading })
  const backtests = createBacktests({
    startIncidents: startPastIncidents,
    db,
    chain,
    facts,
    clock,
    confirmations: config.chain.confirmations,
  })
  const base = {
    db,
    replica,
    clock,
    log,
    meters,
    quarantine: createQuarantine({ log }),
    chain,
    facts,
    backtests,
    usualBacktests: createUsualBacktests({ backtests, clock, log }),
    evidence: createEvidenceChain({ chain, clock }),
    lookUps: createLookUps({ chain, facts, clock, confirmations: config.chain.confirmations }),
    xrpl,
    paymentOptions: createPaymentOptions({ chain, xrpl, clock, log, billing }),
    metering: createMetering({ ...metered, tokens: createTokenLookup(metered) }),
    channels,
    sentMessages: { forgetIds: forgetMessageIds },
    chats: { forgetWallet },
    notices: createNotices({ clock, publicUrl, box, botUsername, billing, listChatsShowingTopup }),
    mail,
    mailServer,
    box,
    publicUrl,
    supportUrl: config.supportUrl,
    sendsNothing,
    botUsername,
    operations: OPERATIONS,
    limits: createLimits({ db, clock }),
    chainId,
    confirmations: config.chain.confirmations,
    evaluationIntervalMs,
    attemptCounter: createAttemptCounter(meters),
    health: healthChecks({
      ...{ db, clock, sql, bot: () => bot, mailServer, migrations: MIGRATIONS },
      ...{ hasBot: access !== undefined, sendsNothing },
      ...{ hostAheadMs, stillForMs: followed.stillForMs },
      contracts: jobsChain.access.contracts,
      chainIdChecks,
      endpoints: [jobsChain.access.endpoints, chain.access.endpoints],
      replica,
      sources: publishedSources(factSource),
      hasCanary: heartbeatUrl !== undefined,
    }),
    heartbeat: heartbeatUrl === undefined ? undefined : createHeartbeatMonitor(heartbeatUrl),
    sending: createSendingState(channels),
    claimsDb: connection.openPool({ ...CLAIMS_POOL, ...waits('claims') }),
    heads,
    leases,
    slices:
      parts.slices ??
      createSlices({ db: jobsDb, leases, name: 'targets', wakes: ['blocks', 'ledger'] }),
    typePauses: createTypePauses(),
    hostAheadMs,
    billing,
  } satisfies Omit<JobApp, 'directPayments'>
  const app: JobApp = { ...base, directPayments: directPaymentsOf(config, base) }
  const jobApp: JobApp = {
    ...app,
    db: jobsDb,
    chain: jobsChain,
    facts: createWatchTypeFacts({ db: jobsDb, ...factSource, chain: jobsChain }),
    paymentOptions: createPaymentOptions({ chain: jobsChain, xrpl, clock, log, billing }),
  }
  const server = createServer(app, config.http)
  const bot =
    config.telegram.token === undefined || access === undefined
      ? undefined
      : createBotService(app, sql, {
          ...config.telegram,
          token: config.telegram.token,
          ...{ pace: access.pace, parts: BOT_PARTS },
        })
  const internal = createInternalServer(app.health, createReadings(app, release), {
    registry: meters.registry,
    about: { ...release },
  })
  const plays = (role: Config['roles'][number]) => config.roles.includes(role)
  let jobs: RunningJobs | undefined
  return {
    app,
    sql,
    server,
    internal,
    release,
    bot,
    off: Object.values(channels).flatMap((channel) => (channel.available() ? [] : [channel.key])),
    async start(signal) {
      logRecoveryCode(log)
      if (sendsNothing) log.warn({}, 'nothing is sent to anybody')
      const patience = { deadlineMs: DATABASE_DEADLINE_MS, logger: log }
      await waitForDatabase(sql, { ...patience, ...(signal && { signal }) })
      if (parts.clock === undefined) await followed.follow()
      await migrate(sql, MIGRATIONS, { signal })
      await repairTimes({ db: jobsDb, clock, log }, STORED_TIMES)
      // Rows inserted while their partition is missing would have to be moved.
      await runOnceBeforeStart(jobApp, retain)
      signal?.throwIfAborted()
      await internal.listen({ host: config.http.internalHost, port: config.http.internalPort })
      if (plays('api')) {
        await server.register(registerPages, { app })
        bot?.introduce()
        bot?.mount(server)
        await server.listen({ host: config.http.host, port: config.http.port })
      }
      if (plays('bot')) await bot?.start()
      jobs = await startJobs(
        { ...jobApp, ...(bot && { bot }) },
        sql,
        JOBS.filter(({ role, sends = false }) => plays(role) && !(sends && sendsNothing)),
      )
    },
    runJobs: () => jobs?.runAll(),
    async stop() {
      // Pending refunds come first; servers stop accepting at once; running work has the deadline, all of
      // it together.
      const inHand = [app.metering.settleRefunds(), server.close(), jobs?.stop(), bot?.stop()]
      await endAll(log, inHand, STOP_MS)
      await endAll(log, [app.slices.leave()], SETTLE_MS)
      followed.stop()
      // Calls that have ended by now may have left refunds.
      await endAll(log, [app.metering.stop(), internal.close()], SETTLE_MS)
      await Promise.all([connection.close(CLOSE_MS), copy?.close(CLOSE_MS), recovery.close()])
    },
  }
}

/** Payments that calls carry; undefined if neither a key nor a facilitator is configured, or nothing may be sent. */
function directPaymentsOf(
  { x402, billing, sendsNothing, chain: { id: chainId } }: Config,
  app: Omit<JobApp, 'directPayments'>,
): DirectPayments | undefined {
  const { settlementKey: key, facilitatorUrl: url } = x402
  const payTo = billing.payments.nativePayTo
  if (!billing.enabled || payTo === undefined || sendsNothing) return undefined
  const { chain, log } = app
  if (key !== undefined) {
    const account = createSettlementAccount({ endpoints: chain.access.endpoints, key, chainId })
    const settler = createOwnSettler({ account, log })
    return createDirectPayments({ ...app, settler, payTo, chainId })
  }
  if (url === undefined) return undefined
  const settler = createFacilitator({ ask: createFacilitatorClient(url), log })
  return createDirectPayments({ ...app, settler, payTo, chainId })
}

function pChain({ pChain: { rpcUrl: url, headers } }: Config): PChain | undefined {
  return url === undefined ? undefined : createPChain({ url, headers })
}

function xrpLedger({ xrpl, billing }: Config, log: Logger, clock: Clock): Xrpl | undefined {
  const { rpcUrl: url } = xrpl
  const address = billing.payments.xrpDepositAddress
  return url === undefined || address === undefined
    ? undefined
    : createXrpl({ url, address, log, clock })
}

/** Client of the Bot API and the pace that all processes share; undefined without a bot. */
function telegramAccess(
  { telegram: { token, apiRoot } }: Config,
  deps: { readonly db: Db; readonly meters: Meters; readonly limits: PaceLimits },
) {
  if (token === undefined) return undefined
  const api = new Api(token, { apiRoot, timeoutSeconds: TELEGRAM_TIMEOUT_SECONDS })
  return {
    api: onLimited(api, deps.meters.countTelegramLimit),
    pace: createSharedPace(deps.db, Number.parseInt(token, 10), deps.limits),
  }
}

function mailServerOf(
  { email: { smtpUrl, from } }: Config,
  deps: Pick<JobApp, 'clock' | 'log'>,
): MailServer | undefined {
  if (smtpUrl === undefined || from === undefined) return undefined
  return createMailer(smtpUrl, deps)
}

/** Waits for all of them until the deadline. Failures and timeouts are logged. */
async function endAll(
  log: Logger,
  works: readonly (Promise<void> | undefined)[],
  ms: number,
): Promise<void> {
  for (const ended of await Promise.allSettled(works.map((work) => endsWithin(work, ms)))) {
    if (ended.status === 'rejected')
      log.warn(
        { error: loggableError(ended.reason) },
        'part of the service failed to stop; the stop goes on',
      )
    else if (!ended.value)
      log.warn({ waitedMs: ms }, 'part of the service did not stop in time; the stop goes on')
  }
}
