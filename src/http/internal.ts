import Fastify, { type FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { findProblems, type HealthCheck, readFigures } from '#src/kernel/health.ts'
import { closePromptly } from './closing.ts'

/** Longest wait for a metric. */
const READ_MS = 6000

/** A metric for the operator, read on request. */
export interface MetricReading {
  /** Name of the metric. A name that ends in `_total` is a counter. */
  readonly name: string
  readonly help: string
  /** Prometheus label names; omitted for a single value. */
  readonly labels?: readonly string[]
  /** One number, or one number for each set of labels; undefined if unknown. */
  read(): Promise<number | readonly LabelledValue[] | undefined>
}

export interface LabelledValue {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * Health and metrics for the operator, on a separate port.
 *
 * `/livez`: the event loop runs. `/readyz`: every problem, with 503 if a vital dependency has one and 200
 * otherwise, figures, and which release runs. `/metrics`: Prometheus.
 */
export function createInternalServer(
  checks: readonly HealthCheck[],
  readings: readonly MetricReading[],
  {
    registry = new Registry(),
    about = {},
  }: {
    readonly registry?: Registry
    /** What `/readyz` says of this process, whatever its health is. */
    readonly about?: Readonly<Record<string, string>>
  } = {},
): FastifyInstance {
  const server = Fastify({ logger: false })
  closePromptly(server)
  server.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
  })
  collectDefaultMetrics({ register: registry })
  for (const reading of readings) expose(registry, reading)
  server.get('/livez', async () => ({ status: 'ok' }))
  server.get('/readyz', async (_request, reply) => {
    const [failing, figures] = await Promise.all([findProblems(checks), readFigures(checks)])
    const isDown = failing.some(({ isVital }) => isVital)
    reply.code(isDown ? 503 : 200)
    const statusWhenUp = failing.length > 0 ? 'degraded' : 'ok'
    const problems = failing.map(({ name, problem }) => ({ name, problem }))
    return { status: isDown ? 'down' : statusWhenUp, ...about, problems, figures }
  })
  server.get('/metrics', async (_request, reply) => {
    reply.type(registry.contentType)
    return registry.metrics()
  })
  return server
}

/** What is read; undefined if it cannot be read, or not soon: a scrape fails as a whole after ten seconds. */
async function readSoon(read: MetricReading['read']): ReturnType<MetricReading['read']> {
  let values: Awaited<ReturnType<MetricReading['read']>>
  const reading = read().then((found) => {
    values = found
  })
  await endsWithin(reading, READ_MS).catch(() => undefined)
  return values
}

function expose(registry: Registry, { name, help, labels = [], read }: MetricReading): void {
  const options = { name, help, labelNames: [...labels], registers: [registry] }
  const collectInto = async (
    metric: Gauge | Counter,
    setValue: (labelledValue: LabelledValue) => void,
  ) => {
    // A metric that cannot be read now is omitted, and delays no other.
    const values = await readSoon(read)
    metric.reset()
    if (values === undefined) {
      // `reset` set a metric without labels to zero. Its value is unknown, so it is removed.
      if (labels.length === 0) metric.remove()
    } else if (typeof values === 'number') setValue({ labels: {}, value: values })
    else for (const value of values) setValue(value)
  }
  if (name.endsWith('_total')) {
    new Counter({
      ...options,
      async collect() {
        await collectInto(this, ({ labels: of, value }) => this.inc(of, value))
      },
    })
  } else {
    new Gauge({
      ...options,
      async collect() {
        await collectInto(this, ({ labels: of, value }) => this.set(of, value))
      },
    })
  }
}
