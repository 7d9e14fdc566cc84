import { createApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { createMeter } from '#src/http/meter.ts'
import { createServer } from '#src/http/server.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { testEnvironment } from '../support/environment.ts'

/**
 * The service's own server with one route behind the metering gate. Run as a process of its own:
 * `metering-subject.ts <database url>`.
 */
const config = loadConfig(testEnvironment())
const { app } = createApp(config, { databaseUrl: process.argv[2] ?? '', log: silentLogger })
const server = createServer(app, config.http)
const { meter } = createMeter(server, app)
server.get('/metered', { preHandler: meter('ftso-analytics') }, async () => ({ ok: true }))
const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${address}\n`)
