import { createApp } from '#src/app.ts'
import { type Config, ConfigError, loadConfig } from '#src/config.ts'
import { startEmbedded } from '#src/db/embedded.ts'
import { createLogger } from '#src/log.ts'

const config = readConfig()
if (config !== undefined) await run(config)

/** One line per problem on standard error, and exit code 1, for an environment that does not do. */
function readConfig(): Config | undefined {
  try {
    return loadConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const problem of error.problems) process.stderr.write(`${problem}\n`)
    process.exitCode = 1
    return undefined
  }
}

async function run(config: Config): Promise<void> {
  const log = createLogger(config.logLevel)
  const { url, dataDir } = config.database
  const embedded = url === undefined ? await startEmbedded({ dataDir, logger: log }) : undefined
  const service = createApp(config, { databaseUrl: url ?? embedded?.url ?? '', log })
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= (async () => {
      log.info({}, 'stopping')
      await service.stop()
      await embedded?.stop()
      log.info({}, 'stopped')
    })()
    return stopping
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    await service.start()
    log.info({ publicUrl: config.publicUrl, roles: config.roles }, 'ready')
  } catch (error) {
    log.error({ error: error instanceof Error ? error.stack : String(error) }, 'start failed')
    process.exitCode = 1
    await stop()
  }
}
