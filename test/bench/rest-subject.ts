import { createApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { createServer } from '#src/http/server.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createLimits } from '#src/operations/gate/limits.ts'
import { testEnvironment } from '../support/environment.ts'

/**
 * The service's own server over a database, its rate limits counted but out of reach. Run as a process
 * of its own: `rest-subject.ts <database url>`.
 */
const config = loadConfig(testEnvironment())
const { app } = createApp(config, { databaseUrl: process.argv[2] ?? '', log: silentLogger })
const server = createServer({ ...app, limits: createLimits(app, 1e6) }, config.http)
const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${address}\n`)
