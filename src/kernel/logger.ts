type LogMethod = (fields: Record<string, unknown>, message: string) => void

/**
 * The log methods a room may use. The message is a fixed phrase, the values are fields.
 *
 * `error`: an operator must act. `warn`: the service retries. `info`: a state changed. `debug`: everything
 * else. Messages sent to people are never logged.
 */
export interface Logger {
  readonly error: LogMethod
  readonly warn: LogMethod
  readonly info: LogMethod
  readonly debug: LogMethod
}

const ignore: LogMethod = () => undefined

/** A logger that discards everything. */
export const silentLogger: Logger = { error: ignore, warn: ignore, info: ignore, debug: ignore }
