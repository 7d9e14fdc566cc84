import { describe, expect, test } from 'vitest'
import { headersForClient, headersForUpstream } from './data-headers.ts'

describe('a request to an upstream', () => {
  const request = { id: 'r-1', method: 'POST' }

  test('has the client’s headers about its content, and our request id', () => {
    const headers = { accept: '*/*', 'content-type': 'text/csv', 'content-length': '3', range: 'x' }
    expect(headersForUpstream(headers, request)).toEqual({ ...headers, 'x-request-id': 'r-1' })
  })

  test.each([
    'authorization',
    'cookie',
    'proxy-authorization',
    'x-payment',
    'payment-signature',
    'x-forwarded-for',
    'x-forwarded-host',
    'forwarded',
    'x-real-ip',
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'expect',
  ])('does not carry %s', (name) => {
    expect(headersForUpstream({ [name]: 'x' }, request)).toEqual({ 'x-request-id': 'r-1' })
  })

  test.each(['GET', 'HEAD'])('with the method %s has no headers of a body', (method) => {
    const headers = { accept: '*/*', 'content-length': '5', 'content-type': 'text/plain' }
    const sent = headersForUpstream(headers, { id: 'r-1', method })
    expect(sent).toEqual({ accept: '*/*', 'x-request-id': 'r-1' })
  })
})

describe('an answer of an upstream', () => {
  const place = { upstream: 'http://10.0.0.7:9000/api/v1', prefix: '/data/ftso-analytics' }

  const POLICY = { 'content-security-policy': ["sandbox; default-src 'none'"] }

  test('carries its own headers', () => {
    const headers = {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      etag: '"1"',
      'cache-control': 'max-age=60',
      'retry-after': '7',
      'www-authenticate': 'Basic',
      link: ['<a>', '<b>'],
    }
    expect(headersForClient(headers, place)).toEqual({ ...headers, ...POLICY })
  })

  test.each([
    [[], ["sandbox; default-src 'none'"]],
    ["default-src 'self'", ["default-src 'self'", "sandbox; default-src 'none'"]],
    [
      ["a 'b'", "frame-ancestors 'none'"],
      ["a 'b'", "frame-ancestors 'none'", "sandbox; default-src 'none'"],
    ],
  ])('has our policy beside its own: %j', (own, sent) => {
    const headers = { 'content-security-policy': own, location: '/x' }
    expect(headersForClient(headers, place)['content-security-policy']).toEqual(sent)
  })

  test.each([
    'set-cookie',
    'connection',
    'keep-alive',
    'transfer-encoding',
    'upgrade',
    'x-request-id',
    'x-credits-charged',
    'x-credits-balance',
    'x-free-tier-remaining',
    'payment-required',
    'ratelimit',
    'access-control-allow-origin',
    'strict-transport-security',
    'x-content-type-options',
    'clear-site-data',
  ])('does not carry %s', (name) => {
    expect(headersForClient({ [name]: 'x' }, place)).toEqual(POLICY)
  })

  test('does not forward headers named in Connection', () => {
    const headers = { connection: 'close, X-Internal', 'x-internal': '1', 'x-other': '2' }
    expect(headersForClient(headers, place)).toEqual({ 'x-other': '2', ...POLICY })
  })

  test.each([
    ['http://10.0.0.7:9000/api/v1/feeds?page=2#top', '/data/ftso-analytics/feeds?page=2#top'],
    ['/api/v1/feeds', '/data/ftso-analytics/feeds'],
    ['/api/v1', '/data/ftso-analytics'],
    ['/api/v10/feeds', '/api/v10/feeds'],
    ['feeds/1', 'feeds/1'],
    ['?page=2', '?page=2'],
    ['https://flare.network/', 'https://flare.network/'],
    ['http://[', 'http://['],
  ])('has the location %s rewritten to %s', (location, expected) => {
    expect(headersForClient({ location }, place)).toMatchObject({ location: expected })
  })

  test('has its location rewritten also if the upstream’s URL has no path', () => {
    const bare = { upstream: 'http://10.0.0.7:9000', prefix: '/data/ftso-analytics' }
    expect(headersForClient({ location: '/feeds' }, bare)).toMatchObject({
      location: '/data/ftso-analytics/feeds',
    })
  })
})
