/** The error that code throws to refuse a request: `AppError`, with its kinds, codes and details. */
import type texts from '../../locales/en/errors.json'

/** Kinds of refusals with their HTTP status. */
export const ERROR_STATUS = {
  invalid: 400,
  unauthenticated: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  stale: 412,
  too_large: 413,
  unsupported_media_type: 415,
  key_reused: 422,
  rate_limited: 429,
  internal: 500,
  upstream: 503,
} as const

export type ErrorKind = keyof typeof ERROR_STATUS

/** HTTP status of an error. */
export type ErrorStatus = (typeof ERROR_STATUS)[ErrorKind]

type TitleKey<Key> = Key extends `${infer Code}.title` ? Code : never

/** Every error code. Derived from the English texts, so a code without a text does not compile. */
export type ErrorCode = TitleKey<keyof typeof texts>

/** Texts that replace the detail of a code where more is known. */
type DetailKey = 'not_found.operation' | 'not_found.tool' | 'internal.support'

/** What is wrong with a value. */
export interface FieldProblem {
  /** For programs. Its text is `errors:field.<code>`. */
  readonly code: string
  /** Key of another text where more is known: `errors:field.<detail>`. */
  readonly detail?: string
  /** Values for the placeholders of the text. */
  readonly values?: Readonly<Record<string, string | number>>
}

/** One invalid place in an input. `pointer` is an RFC 6901 JSON pointer. */
export interface FieldError extends FieldProblem {
  readonly pointer: string
}

/** Maximum number of errors that are reported for one input, so that an answer is not much larger than its request. */
export const FIELD_ERRORS_MAX = 20

export interface ErrorDetails {
  readonly errors?: readonly FieldError[]
  readonly retryAfterSeconds?: number
  /** Whether the refusal is the stored refusal of an earlier request with the same idempotency key. */
  readonly isReplay?: boolean
  /** Key of another text than the code's own detail. */
  readonly detail?: DetailKey
  /** Members added unchanged to the problem body, such as `shortfallCredits`. */
  readonly members?: Readonly<Record<string, unknown>>
  /** Values for the placeholders of the code's text. */
  readonly values?: Readonly<Record<string, string | number>>
}

/**
 * A refusal that a person or program can act on.
 *
 * The kind decides the HTTP status, the code names the problem and its text, the details carry values.
 */
export class AppError extends Error {
  readonly kind: ErrorKind
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(
    kind: ErrorKind,
    code: ErrorCode,
    details: ErrorDetails = {},
    options?: { readonly cause?: unknown },
  ) {
    super(code, options)
    this.name = 'AppError'
    this.kind = kind
    this.code = code
    this.details = details
  }
}

/** `Retry-After` of a 503 that states no time, in seconds. */
const UPSTREAM_RETRY_SECONDS = 30

/** The `Retry-After` of a refusal in seconds; defined for every 503. */
export function retryAfterOf({ kind, details }: AppError): number | undefined {
  return details.retryAfterSeconds ?? (kind === 'upstream' ? UPSTREAM_RETRY_SECONDS : undefined)
}
