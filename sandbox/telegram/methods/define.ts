import type { Arguments } from '../arguments.ts'
import type { Backend } from '../backend.ts'

/** One method of the Bot API. */
export interface BotApiMethod {
  /** Documented name, such as `sendMessage`; calls may use any case. */
  readonly name: string
  /**
   * Runs the method.
   * @returns content of `result`
   *
   * @param signal aborted when the client disconnects
   * @throws BotApiRefusal with `error_code` and `description`
   */
  run(backend: Backend, args: Arguments, signal: AbortSignal): unknown
}
