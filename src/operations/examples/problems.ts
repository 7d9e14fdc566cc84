import type { TextValues, Translate } from '#src/i18n/translate.ts'
import type { ErrorCode, ErrorStatus, FieldError } from '#src/kernel/errors.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { problemBody } from '../problem.ts'
import { PAID } from './subscriptions.ts'

/** Example of an error: the values of its text, and the members of its body. */
interface ProblemExample {
  readonly code: ErrorCode
  readonly values?: TextValues
  readonly members?: JsonObject
  /** Errors by pointer: code and values of each. */
  readonly errors?: readonly (readonly [
    pointer: string,
    code: string,
    values?: FieldError['values'],
  ])[]
}

/** One error for every status. */
const PROBLEMS: Readonly<Record<ErrorStatus, ProblemExample>> = {
  400: {
    code: 'validation_failed',
    errors: [
      ['/settings/threshold', 'required'],
      ['/cooldownSeconds', 'too_big', { maximum: 2_592_000 }],
    ],
  },
  401: { code: 'invalid_token' },
  402: {
    code: 'insufficient_credits',
    values: { count: PAID.credits },
    members: { shortfallCredits: PAID.credits },
  },
  403: { code: 'insufficient_scope', values: { scope: 'write' }, members: { scope: 'write' } },
  404: { code: 'not_found' },
  405: { code: 'method_not_allowed' },
  406: { code: 'not_acceptable' },
  409: { code: 'no_free_slot', values: { count: 3 } },
  412: { code: 'etag_mismatch' },
  413: { code: 'payload_too_large' },
  415: { code: 'unsupported_media_type' },
  422: { code: 'idempotency_key_reused' },
  429: { code: 'rate_limited', values: { seconds: 40 } },
  500: { code: 'internal' },
  503: { code: 'dependency_unavailable', values: { seconds: 10 } },
}

const REQUEST_ID = '6f1c2a9e-3b1d-4f0a-9c55-2f8f5d1f7f10'

/** Body of the example for this status, in the reader's language. */
export function problemExample(t: Translate, publicUrl: string, status: ErrorStatus): unknown {
  const { errors, ...problem } = PROBLEMS[status]
  const places = errors?.map(([pointer, code, values]) => ({
    pointer,
    code,
    ...(values && { values }),
  }))
  return problemBody(t, publicUrl, { ...problem, errors: places, requestId: REQUEST_ID })
}
