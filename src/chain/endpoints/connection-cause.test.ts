import { expect, test } from 'vitest'
import { connectionCause } from './connection-cause.ts'

const withCode = (code: string) => Object.assign(new Error('secret'), { code })

test.each([
  [
    'the innermost code',
    new TypeError('fetch failed', { cause: withCode('ENOTFOUND') }),
    'ENOTFOUND',
  ],
  ['the first address of several', new AggregateError([withCode('ECONNREFUSED')]), 'ECONNREFUSED'],
  ['a certificate', withCode('CERT_HAS_EXPIRED'), 'certificate CERT_HAS_EXPIRED'],
  [
    'a certificate of another name',
    withCode('ERR_TLS_CERT_ALTNAME_INVALID'),
    'certificate ERR_TLS_CERT_ALTNAME_INVALID',
  ],
  ['a slow connection', withCode('UND_ERR_CONNECT_TIMEOUT'), 'timeout'],
  ['a time limit', new DOMException('too late', 'TimeoutError'), 'timeout'],
  ['a closed connection', withCode('UND_ERR_SOCKET'), 'closed by the host'],
  ['no code', new TypeError('fetch failed'), undefined],
  ['a code that may be a secret', withCode('https://x/key'), undefined],
])('the cause of a failed connection is that of %s', (_name, error, cause) => {
  expect(connectionCause(error)).toBe(cause)
})
