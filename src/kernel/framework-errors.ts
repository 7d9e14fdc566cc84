import { AppError, type ErrorCode, type ErrorKind } from './errors.ts'

/**
 * Refusals for errors that the HTTP framework raises before a route runs, by the framework's error code. The code
 * decides where the status is not specific enough.
 */
const BY_CODE: Readonly<Record<string, readonly [ErrorKind, ErrorCode]>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid', 'malformed_json'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid', 'malformed_json'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid', 'malformed_json'],
  FST_ERR_BAD_URL: ['not_found', 'not_found'],
}

const BY_STATUS: Readonly<Record<number, readonly [ErrorKind, ErrorCode]>> = {
  404: ['not_found', 'not_found'],
  405: ['method_not_allowed', 'method_not_allowed'],
  406: ['not_acceptable', 'not_acceptable'],
  413: ['too_large', 'payload_too_large'],
  // A path longer than any route.
  414: ['not_found', 'not_found'],
  415: ['unsupported_media_type', 'unsupported_media_type'],
  429: ['rate_limited', 'rate_limited'],
}

/**
 * Converts an error of the HTTP framework or one of its plugins into a refusal. Every error with a 4xx
 * `statusCode` is an error of the client.
 *
 * @returns undefined for all other errors, which are faults of the service
 */
export function frameworkRefusal(error: unknown): AppError | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  const status = Number(error.statusCode)
  if (!(status >= 400 && status < 500)) return undefined
  const code = 'code' in error ? String(error.code) : ''
  const [kind, name] = BY_CODE[code] ?? BY_STATUS[status] ?? ['invalid', 'validation_failed']
  return new AppError(kind, name, {}, { cause: error })
}
