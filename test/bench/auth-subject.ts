import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { createServer } from '#src/http/server.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createLimits } from '#src/operations/gate/limits.ts'
import { testEnvironment } from '../support/environment.ts'

/**
 * The service's own server, its rate limits counted but out of reach. `GET /busy` gives the CPU seconds of
 * this process and the longest delay of its event loop since the last time. Run as a process of its own:
 * `auth-subject.ts <database url>`.
 */
const config = loadConfig(testEnvironment())
const { app } = createApp(config, { databaseUrl: process.argv[2] ?? '', log: silentLogger })
const server = createServer({ ...app, limits: createLimits(app, 1e6) }, config.http)
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
server.get('/busy', async () => {
  const { user, system } = process.cpuUsage()
  const answer = { cpuSeconds: (user + system) / 1e6, longestMs: delay.max / 1e6 }
  delay.reset()
  return answer
})
const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${address}\n`)
