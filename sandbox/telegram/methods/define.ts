import type { Arguments } from '../arguments.ts'
import type { Backend } from '../backend.ts'

/** One method of the Bot API. */
export interface Method {
  /** As documented, such as `sendMessage`; calls may write it in any case. */
  readonly name: string
  /**
   * Gives what goes into `result`.
   *
   * @param signal aborts when the client has gone away
   * @throws Refusal what goes into `error_code` and `description`
   */
  run(backend: Backend, args: Arguments, signal: AbortSignal): unknown
}
