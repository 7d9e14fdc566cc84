import Fastify, { type FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { closePromptly } from './closing.ts'

/** One thing the service needs: its name, and what is wrong with it, if anything. */
export interface Check {
  readonly name: string
  problem(): Promise<string | undefined>
}

/** One number of the service, read when it is asked for; undefined: not known. */
export interface Reading {
  /** Of the metric. */
  readonly name: string
  readonly help: string
  read(): Promise<number | undefined>
}

/**
 * Health and metrics for the operator, on a port of its own.
 *
 * `/livez`: the process turns. `/readyz`: 200, or 503 with what is missing. `/metrics`: Prometheus.
 */
export function createInternalServer(
  checks: readonly Check[],
  readings: readonly Reading[],
): FastifyInstance {
  const server = Fastify({ logger: false })
  closePromptly(server)
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const { name, help, read } of readings) {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        // What cannot be read now is not shown; the other metrics are.
        const value = await read().catch(() => undefined)
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  }
  server.get('/livez', async () => ({ status: 'ok' }))
  server.get('/readyz', async (_request, reply) => {
    const results = await Promise.all(
      checks.map(async ({ name, problem }) => ({ name, problem: await problem() })),
    )
    const problems = results.filter((result) => result.problem !== undefined)
    reply.code(problems.length === 0 ? 200 : 503)
    return { status: problems.length === 0 ? 'ok' : 'not ready', problems }
  })
  server.get('/metrics', async (_request, reply) => {
    reply.type(registry.contentType)
    return registry.metrics()
  })
  return server
}
