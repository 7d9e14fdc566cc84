/**
 * The floor of a start: Fastify with one answer, in a process that has loaded the packages which the service is to use.
 * Prints its address.
 */
import fastify from 'fastify'

await Promise.all([
  ...[import('drizzle-orm/postgres-js'), import('postgres'), import('zod'), import('undici')],
  ...[import('viem'), import('grammy'), import('i18next'), import('pino'), import('prom-client')],
])
const server = fastify()
server.get('/', () => 'hello')
process.stdout.write(`${await server.listen({ port: 0, host: '127.0.0.1' })}\n`)
