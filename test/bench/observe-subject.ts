import { createInterface } from 'node:readline'
import * as alerts from '#src/alerts/service.ts'
import { createApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { testEnvironment } from '../support/environment.ts'
import { observeWatches } from '../support/observe.ts'

/**
 * Observes the chain once for each line of its input; prints the cost of each.
 *
 * Arguments: the database, the chain's endpoint, the contract registry.
 */
const [, , databaseUrl = '', rpcUrl = '', registry = ''] = process.argv
const config = loadConfig(
  testEnvironment({
    FLARE_RPC_URLS: rpcUrl,
    FLARE_CONTRACT_REGISTRY: registry,
    CONFIRMATIONS: '1',
  }),
)
const { app } = createApp(config, { databaseUrl, log: silentLogger })
const signal = new AbortController().signal

process.stdout.write('ready\n')
for await (const _line of createInterface({ input: process.stdin })) {
  const before = process.cpuUsage()
  const startedAt = performance.now()
  await observeWatches(
    { ...app, recordAlerts: (tx, candidates) => alerts.recordAlerts(app, tx, candidates) },
    signal,
  )
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - startedAt) / 1000
  process.stdout.write(`${JSON.stringify({ cpuSeconds: (user + system) / 1e6, seconds })}\n`)
}
process.exit()
