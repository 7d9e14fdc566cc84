import { Api, GrammyError, HttpError } from 'grammy'
import { isConnectionFailure } from '#src/db/session.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { traceOf } from '#src/kernel/trace.ts'
import { pause } from './waker.ts'

/** Longest an ordinary call to Telegram may take, in seconds. grammY's own limit is 500. */
export const API_TIMEOUT_SECONDS = 30

/** Where the Bot API is, and as whom. */
export interface ApiAccess {
  readonly token: string
  readonly apiRoot: string
}

/** A client of the Bot API. @param timeoutSeconds longest a call may take */
export function createApi({ token, apiRoot }: ApiAccess, timeoutSeconds: number): Api {
  return new Api(token, { apiRoot, timeoutSeconds })
}

type ApiSignal = NonNullable<Parameters<Api['getMe']>[0]>

/** grammY names the type of an older package; what Node makes has all of its members. */
export function apiSignal(signal: AbortSignal): ApiSignal {
  return signal as unknown as ApiSignal
}

/** The wait Telegram asks for, in milliseconds; undefined for every other failure. */
export function floodWaitMs(error: unknown): number | undefined {
  if (!(error instanceof GrammyError) || error.error_code !== 429) return undefined
  return (error.parameters.retry_after ?? 1) * 1000
}

/** Whether the token is wrong: nothing helps but another one. */
export function isTokenRefused(error: unknown): boolean {
  return error instanceof GrammyError && (error.error_code === 401 || error.error_code === 404)
}

/** Whether somebody else fetches the updates: another process, or a webhook. */
export function isConflict(error: unknown): boolean {
  return error instanceof GrammyError && error.error_code === 409
}

/** Whether the same may work a little later: Telegram or the database is not there right now. */
export function isPassing(error: unknown): boolean {
  if (error instanceof HttpError) return true
  if (error instanceof GrammyError) return error.error_code >= 500 || error.error_code === 429
  return isConnectionFailure(error)
}

const BACKOFF_MS_MAX = 60_000

/**
 * Runs a call until Telegram has taken it, however long that is.
 *
 * @param what a fixed phrase for the log, such as `webhook not set`
 * @returns undefined when the signal came first, or Telegram refuses the call or the token for good;
 * that is logged
 */
export async function patiently<T>(
  log: Logger,
  what: string,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T | undefined> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await run()
    } catch (error) {
      if (signal.aborted) return undefined
      const waitMs = floodWaitMs(error)
      if (!isPassing(error)) {
        const phrase = isTokenRefused(error) ? 'telegram refuses the bot token' : what
        log.error({ error: describe(error) }, phrase)
        return undefined
      }
      if (failures === 0) log.warn({ error: describe(error) }, what)
      await pause(waitMs ?? Math.min(1000 * 2 ** failures, BACKOFF_MS_MAX), signal)
    }
  }
  return undefined
}

/** An error in one line for a log, with its stack where it is a bug. */
export function describe(error: unknown): string {
  if (error instanceof GrammyError) return `${error.method}: ${error.description}`
  if (error instanceof HttpError) {
    return error.error instanceof Error ? error.error.message : error.message
  }
  return traceOf(error)
}
