type LogMethod = (fields: Record<string, unknown>, message: string) => void

/**
 * The few log methods a room may use. The message is a fixed phrase, the values are fields.
 *
 * `error`: someone must act. `warn`: we will retry. `info`: a state changed. `debug`: the rest.
 * Messages sent to people are never logged.
 */
export interface Logger {
  readonly error: LogMethod
  readonly warn: LogMethod
  readonly info: LogMethod
  readonly debug: LogMethod
}

const ignore: LogMethod = () => undefined

/** A logger that says nothing. */
export const silentLogger: Logger = { error: ignore, warn: ignore, info: ignore, debug: ignore }
