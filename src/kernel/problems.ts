/** Kind and HTTP status of each error code, for documents and checks. */
import texts from '../../locales/en/errors.json' with { type: 'json' }
import { ERROR_STATUS, type ErrorCode, type ErrorKind } from './errors.ts'

/**
 * The kind each error code is thrown with, where that is not `conflict`. A test compares it with every
 * place that throws.
 */
const KINDS: { readonly [Code in ErrorCode]?: ErrorKind } = {
  malformed_json: 'invalid',
  validation_failed: 'invalid',
  invalid_idempotency_key: 'invalid',
  missing_token: 'unauthenticated',
  invalid_token: 'unauthenticated',
  invalid_signature: 'unauthenticated',
  message_mismatch: 'unauthenticated',
  nonce_expired: 'unauthenticated',
  nonce_used: 'unauthenticated',
  payment_required: 'payment_required',
  insufficient_credits: 'payment_required',
  payment_invalid: 'payment_required',
  payment_used: 'payment_required',
  insufficient_scope: 'forbidden',
  terms_not_accepted: 'forbidden',
  wallet_banned: 'forbidden',
  not_found: 'not_found',
  link_not_valid: 'not_found',
  provider_not_watched: 'not_found',
  method_not_allowed: 'method_not_allowed',
  not_acceptable: 'not_acceptable',
  etag_mismatch: 'stale',
  payload_too_large: 'too_large',
  unsupported_media_type: 'unsupported_media_type',
  idempotency_key_reused: 'key_reused',
  rate_limited: 'rate_limited',
  too_many_backtests: 'rate_limited',
  internal: 'internal',
  dependency_unavailable: 'upstream',
  channel_unavailable: 'upstream',
  payment_pending: 'upstream',
  settlement_unavailable: 'upstream',
}

/** Every error code, ordered by status. */
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(texts)
  .filter((key) => key.endsWith('.title'))
  .map((key) => key.slice(0, -'.title'.length))
  .filter(isErrorCode)
  .sort((a, b) => statusOfErrorCode(a) - statusOfErrorCode(b))

/** Whether an error code with this name exists. */
export function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(texts, `${name}.title`)
}

/** The kind an error code is thrown with. */
export function kindOfErrorCode(code: ErrorCode): ErrorKind {
  return KINDS[code] ?? 'conflict'
}

/** The HTTP status of an error code. */
export function statusOfErrorCode(code: ErrorCode): number {
  return ERROR_STATUS[kindOfErrorCode(code)]
}
