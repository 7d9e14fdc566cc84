import type { Problem } from './generated/models.ts'
import type { ErrorCode } from './generated/operations.ts'

/**
 * Problems that the service did not report itself. connection_failed: no answer came. timeout: an attempt took
 * longer than `timeoutMs`. unexpected_answer: the answer is not one of this service.
 */
export type ClientCode = 'connection_failed' | 'timeout' | 'unexpected_answer'

/** A code of this release, or one that a later release of the service adds. */
export type AnyErrorCode = ErrorCode | ClientCode | (string & {})

/** Details of a failed call. */
export interface WatchdogErrorDetails {
  readonly code: AnyErrorCode
  readonly message: string
  readonly status?: number | undefined
  readonly problem?: Problem | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/** A call that failed. It contains neither the token nor the body of the request. */
export class WatchdogError extends Error {
  override readonly name = 'WatchdogError'
  /** Names the problem; stable, in contrast to the texts. */
  readonly code: AnyErrorCode
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined
  /** The problem as the service described it (RFC 9457); undefined without one. */
  readonly problem: Problem | undefined
  /** Earliest time of another attempt, in seconds from the answer. */
  readonly retryAfterSeconds: number | undefined

  constructor(details: WatchdogErrorDetails) {
    super(details.message, details.cause === undefined ? {} : { cause: details.cause })
    this.code = details.code
    this.status = details.status
    this.problem = details.problem
    this.retryAfterSeconds = details.retryAfterSeconds
  }

  /** Number of the request in the log of the service. */
  get requestId(): string | undefined {
    return this.problem?.requestId
  }

  /** Invalid places of the input, by JSON pointer. */
  get errors(): NonNullable<Problem['errors']> {
    return this.problem?.errors ?? []
  }
}
