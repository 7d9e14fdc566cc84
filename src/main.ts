import { once } from 'node:events'
import { createApp, type Service } from '#src/app.ts'
import { type Config, ConfigError, loadConfig } from '#src/config.ts'
import { startEmbedded } from '#src/db/embedded/embedded.ts'
import { examineQuickly } from '#src/doctor/examine.ts'
import { lineOf } from '#src/doctor/finding.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { createLogger, openLogOutput } from '#src/log.ts'

/** Deadline for the last lines of the log, in case their reader or another handle blocks the exit. */
const LAST_LINES_MS = 500
/** Deadline of a stop; one in which every wait reaches its limit takes 15 s. */
const STOP_MS_MAX = 30_000

const config = readConfig()
if (config !== undefined) await run(config)

/**
 * Reads the configuration; for an invalid environment writes one line per problem on standard error, and
 * sets exit code 1.
 */
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

/** What the line `ready` says of the release and the configuration. */
function startOf({ publicUrl, roles }: Config, { release, off }: Service) {
  return { ...release, publicUrl, roles, off }
}

/** Logs which features are off and why, and what is wrong with endpoints and router. Never rejects. */
async function reportQuickly(config: Config, log: Logger): Promise<void> {
  const findings = await examineQuickly(config, systemClock)
  const off = findings.filter(({ level }) => level === 'warn')
  if (off.length > 0)
    log.info({ off: off.map(lineOf) }, 'parts that are off; npm run doctor says more')
  for (const finding of findings) {
    if (finding.level === 'wrong') log.warn({ finding: lineOf(finding) }, 'something will not work')
  }
}

/** Runs the service until a signal stops it, also during the start. */
async function run(config: Config): Promise<void> {
  const output = openLogOutput()
  const log = createLogger(config.logLevel, output)
  const leave = async (code: number) => {
    await output.written(LAST_LINES_MS)
    output.exit(code)
  }
  const { url, dataDir } = config.database
  const stopping = new AbortController()
  const stopped = once(stopping.signal, 'abort')
  const stop = () => {
    stopping.abort()
    setTimeout(() => {
      log.error({ waitedMs: STOP_MS_MAX }, 'stop took too long; the process ends now')
      void leave(1)
    }, STOP_MS_MAX).unref()
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
  let isBroken = false
  // Node would print an uncaught error with all its properties, such as the parameters of a query.
  process.on('uncaughtException', (error) => {
    if (isBroken) return
    isBroken = true
    log.error({ error: loggableError(error) }, 'uncaught error; the service stops')
    void leave(1)
  })
  if (config.unknownVariables.length > 0) {
    log.warn({ variables: config.unknownVariables }, 'variables of unknown names are ignored')
  }
  await using undo = new AsyncDisposableStack()
  try {
    // Nothing can be saved any more. Whoever started this process starts it again, and the server with it.
    const onLost = () => void leave(1)
    const embedded =
      url === undefined ? await startEmbedded({ dataDir, logger: log, onLost }) : undefined
    if (embedded !== undefined) undo.defer(() => embedded.stop())
    const service = createApp(config, { databaseUrl: url ?? embedded?.url ?? '', log })
    undo.defer(() => service.stop())
    await service.start(stopping.signal)
    log.info(startOf(config, service), 'ready')
    void reportQuickly(config, log)
    await stopped
  } catch (error) {
    if (!stopping.signal.aborted) {
      log.error({ error: loggableError(error) }, 'start failed')
      process.exitCode = 1
    }
  }
  log.info({}, 'stopping')
  try {
    // In reverse order: the service, then the database, even if the service fails to stop.
    await undo.disposeAsync()
    log.info({}, 'stopped')
  } catch (error) {
    log.error({ error: loggableError(error) }, 'stop failed')
    process.exitCode = 1
  }
  // Connections to an unresponsive server would keep the process alive until their own timeout.
  setTimeout(() => output.exit(Number(process.exitCode ?? 0)), LAST_LINES_MS).unref()
}
