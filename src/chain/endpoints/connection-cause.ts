/** Codes of connections that took too long. */
const TIMEOUTS: readonly string[] = [
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]
/** Codes of certificates that are not accepted. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECRYPT)|TLS/
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/

/**
 * Why there was no connection, as an operator searches for it: `timeout`, or the code of the innermost error that has
 * one, such as `ENOTFOUND`, `ECONNREFUSED` or `certificate CERT_HAS_EXPIRED`. undefined if no error has one. It contains
 * no part of an address.
 */
export function connectionCause(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const [first] = error instanceof AggregateError ? error.errors : []
  const inner = connectionCause(error.cause) ?? connectionCause(first)
  if (inner !== undefined) return inner
  if (error.name === 'TimeoutError') return 'timeout'
  const code = 'code' in error ? error.code : undefined
  if (typeof code !== 'string' || !CODE.test(code)) return undefined
  if (TIMEOUTS.includes(code)) return 'timeout'
  if (code === 'UND_ERR_SOCKET') return 'closed by the host'
  return CERTIFICATE.test(code) ? `certificate ${code}` : code
}
