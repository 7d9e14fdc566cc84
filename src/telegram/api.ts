import { Api, GrammyError, HttpError } from 'grammy'
import { traceOf } from '#src/kernel/trace.ts'

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

/** Whether Telegram cannot be reached, or asks for a pause: the same call may work a little later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof HttpError) return true
  return error instanceof GrammyError && (error.error_code >= 500 || error.error_code === 429)
}

/** An error in one line for a log, with its stack where it is a bug. */
export function describe(error: unknown): string {
  if (error instanceof GrammyError) return `${error.method}: ${error.description}`
  if (error instanceof HttpError) {
    return error.error instanceof Error ? error.error.message : error.message
  }
  return traceOf(error)
}
