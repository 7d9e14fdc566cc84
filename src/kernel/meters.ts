import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Upper bounds of the buckets of the histograms, in seconds. */
const CALL_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const SENT_SECONDS = [0.5, 1, 2, 5, 10, 30, 60, 300, 1800]
const JOB_SECONDS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300]
const WAIT_SECONDS = [0.001, 0.01, 0.1, 0.5, 1, 5]

/**
 * Result of a request to an endpoint. `not_yet`: the node does not have the block yet; `limited`: there were too many
 * requests; `refused`: the endpoint is busy. Each of these may be answered a moment later.
 */
export type RpcOutcome = 'answered' | 'not_yet' | 'limited' | 'refused' | 'failed'

/** The newest confirmed block that was read. */
export interface ChainHead {
  /** Host of the endpoint that returned the block. */
  readonly endpoint: string
  /** Time of the block. */
  readonly at: Date
}

/**
 * Counts what this process does, for the operator. Every label has few values: hosts of endpoints, never
 * their paths; names of operations, jobs, channels and pools. No label is called `job` or `instance`,
 * because Prometheus sets these.
 */
export interface Meters {
  /** The counts, as a registry of Prometheus metrics. */
  readonly registry: Registry
  /** Counts a request to an endpoint of the chain, with its duration. */
  countRpcRequest(endpoint: string, outcome: RpcOutcome, seconds: number): void
  /** Stores the newest confirmed block. */
  setHead(head: ChainHead): void
  /** Counts a head that a WebSocket reported, and again when a reading confirmed it. */
  countHead(endpoint: string, outcome: 'heard' | 'confirmed'): void
  /** Returns the newest confirmed block; undefined before the first is read. */
  head(): ChainHead | undefined
  /** Counts an HTTP request of the public port, with its duration. */
  countHttpRequest(operation: string, statusCode: number, seconds: number): void
  /** Counts a list that was read from the copy of the database, or from the database itself although there is a copy. */
  countListReading(source: 'replica' | 'primary'): void
  /** Counts a reading of an address of published data. */
  countSourceReading(variable: string, isSuccess: boolean): void
  /** Counts a wait for a connection of a pool of the database. */
  countPoolWait(pool: string, seconds: number): void
  /**
   * Counts a run of a job.
   *
   * @param run `at`: end of the run
   */
  countJobRun(job: string, run: { isSuccess: boolean; seconds: number; at: Date }): void
  /** Counts a sent alert, with the seconds since the alert was recorded. */
  countSentAlert(channel: string, seconds: number): void
  /** Counts a response 429 of Telegram. */
  countTelegramLimit(): void
  /** Counts updates of Telegram that were received and stored. */
  countTelegramUpdates(updates: number): void
  /** Telegram answered a request for updates, or the bot has begun. */
  setTelegramAnswer(): void
  /** Milliseconds since that, whatever the clock shows; undefined if the bot does not run in this process. */
  telegramAnswerAgeMs(): number | undefined
}

/** Creates meters whose counts are 0. */
export function createMeters(): Meters {
  const registry = new Registry()
  const registers = [registry]
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers })
  const histogram = <L extends string>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: L[]
  ) => new Histogram({ name, help, buckets, labelNames, registers })
  const { rpcRequests, rpcSeconds, requests, requestSeconds } = metersOfCalls(counter, histogram)
  const waits = histogram(
    'watchdog_pool_wait_seconds',
    'Waits for a connection to the database, also those that were refused.',
    WAIT_SECONDS,
    'pool',
  )
  const listReadings = counter(
    'watchdog_list_readings_total',
    'Lists of alerts, by the server that they were read from, with DATABASE_READ_URL.',
    'source',
  )
  const countJobRun = meterOfJobs(counter, histogram, registers)
  const sentSeconds = histogram(
    'watchdog_alert_to_sent_seconds',
    'From the record of an alert until a channel took it.',
    SENT_SECONDS,
    'channel',
  )
  const heads = counter(
    'watchdog_new_heads_total',
    'Heads that WebSockets of endpoints reported, and those that a reading confirmed.',
    'endpoint',
    'outcome',
  )
  let head: ChainHead | undefined
  return {
    registry,
    countRpcRequest(endpoint, outcome, seconds) {
      rpcRequests.inc({ endpoint, outcome })
      rpcSeconds.observe({ endpoint }, seconds)
    },
    setHead(newest) {
      head = newest
    },
    head: () => head,
    countHead: (endpoint, outcome) => heads.inc({ endpoint, outcome }),
    countHttpRequest(operation, statusCode, seconds) {
      requests.inc({ operation, status: `${Math.floor(statusCode / 100)}xx` })
      requestSeconds.observe({ operation }, seconds)
    },
    countListReading: (source) => listReadings.inc({ source }),
    countSourceReading: meterOfSources(counter),
    countPoolWait: (pool, seconds) => waits.observe({ pool }, seconds),
    countJobRun,
    countSentAlert: (channel, seconds) => sentSeconds.observe({ channel }, Math.max(0, seconds)),
    ...metersOfTelegram(counter),
  }
}

type MakeCounter = <L extends string>(name: string, help: string, ...labels: L[]) => Counter<L>
type MakeHistogram = <L extends string>(
  name: string,
  help: string,
  buckets: number[],
  ...labels: L[]
) => Histogram<L>

function metersOfTelegram(
  counter: MakeCounter,
): Pick<
  Meters,
  'countTelegramLimit' | 'countTelegramUpdates' | 'setTelegramAnswer' | 'telegramAnswerAgeMs'
> {
  const limited = counter('watchdog_telegram_limited_total', 'Answers 429 of Telegram.')
  const updates = counter(
    'watchdog_telegram_updates_total',
    'Updates of Telegram that this process received and stored.',
  )
  let answeredAt: number | undefined
  return {
    countTelegramLimit: () => limited.inc(),
    countTelegramUpdates: (count) => updates.inc(count),
    setTelegramAnswer() {
      answeredAt = performance.now()
    },
    telegramAnswerAgeMs: () => answeredAt && performance.now() - answeredAt,
  }
}

/** Counts readings of published data. Both results exist from the first on, so that the first failure is an increase. */
function meterOfSources(counter: MakeCounter): Meters['countSourceReading'] {
  const readings = counter(
    'watchdog_source_readings_total',
    'Readings of published data by this process, by the variable of the address and result.',
    'variable',
    'result',
  )
  return (variable, isSuccess) => {
    readings.inc({ variable, result: 'success' }, isSuccess ? 1 : 0)
    readings.inc({ variable, result: 'failure' }, isSuccess ? 0 : 1)
  }
}

function metersOfCalls(counter: MakeCounter, histogram: MakeHistogram) {
  return {
    rpcRequests: counter(
      'watchdog_rpc_requests_total',
      'Requests to endpoints of the chain, by host and result.',
      'endpoint',
      'outcome',
    ),
    rpcSeconds: histogram(
      'watchdog_rpc_seconds',
      'Duration of requests to endpoints of the chain.',
      CALL_SECONDS,
      'endpoint',
    ),
    requests: counter(
      'watchdog_http_requests_total',
      'Requests of the public port, by operation and class of status.',
      'operation',
      'status',
    ),
    requestSeconds: histogram(
      'watchdog_http_seconds',
      'Duration of requests of the public port.',
      CALL_SECONDS,
      'operation',
    ),
  }
}

/**
 * Counts runs of jobs. The first run of a job creates the counters of both results, so that Prometheus sees the first
 * failure as an increase.
 */
function meterOfJobs(
  counter: MakeCounter,
  histogram: MakeHistogram,
  registers: Registry[],
): Meters['countJobRun'] {
  const seconds = histogram(
    'watchdog_job_seconds',
    'Duration of runs of jobs.',
    JOB_SECONDS,
    'name',
  )
  const runs = counter(
    'watchdog_job_runs_total',
    'Runs of a job in this process, by result.',
    'name',
    'result',
  )
  const succeeded = new Gauge({
    name: 'watchdog_job_success_timestamp_seconds',
    help: 'When a run of a job in this process succeeded last.',
    labelNames: ['name'],
    registers,
  })
  return (name, { isSuccess, seconds: duration, at }) => {
    seconds.observe({ name }, duration)
    runs.inc({ name, result: 'success' }, isSuccess ? 1 : 0)
    runs.inc({ name, result: 'failure' }, isSuccess ? 0 : 1)
    if (isSuccess) succeeded.set({ name }, at.getTime() / 1000)
  }
}
