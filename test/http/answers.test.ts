import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceOnly } from '../support/harness.ts'
import { type Client, request, signIn } from '../support/people.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let port: number

beforeAll(async () => {
  // Neither a bot token nor a mail server.
  service = await serviceOnly({ METERED_UPSTREAMS: '{"ftso-analytics":"http://127.0.0.1:1"}' })
  alice = await signIn(service, 'alice')
  port = Number(new URL(await service.server.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(() => service.close())

/** The server's answer to these bytes, as text. */
async function sendBytes(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(bytes)
  return text(socket)
}

const sendHead = (line: string, ...headers: readonly string[]) =>
  sendBytes([line, 'host: x', 'connection: close', ...headers, '', ''].join('\r\n'))

describe('every response', () => {
  const NOSNIFF = /^x-content-type-options: nosniff\r?$/im

  test.each([
    ['JSON', 'GET /api/x402/pricing HTTP/1.1'],
    ['an OpenAPI document', 'GET /api/x402/openapi.json HTTP/1.1'],
    ['a refusal', 'GET /api/x402/watches HTTP/1.1'],
    ['an unknown path', 'GET /api/x402/nowhere HTTP/1.1'],
    ['a method that the path lacks', 'PUT /api/x402/watches HTTP/1.1'],
    ['a path that cannot be read', 'GET /api/x402/%zz HTTP/1.1'],
    ['a page', 'GET /docs HTTP/1.1'],
    ['a style sheet', 'GET /assets/style.css HTTP/1.1'],
    ['a metered call', 'GET /data/ftso-analytics HTTP/1.1'],
    ['an unknown metered resource', 'GET /data/unknown HTTP/1.1'],
    ['an address of another server', 'GET http://example.org/api/x402/pricing HTTP/1.1'],
    ['no HTTP at all', 'what is this'],
  ])('has nosniff: %s', async (_what, line) => {
    expect(await sendHead(line)).toMatch(NOSNIFF)
  })

  test('has nosniff: a 304, CSV, and a 204', async () => {
    const { headers } = await request(service, 'GET', '/pricing')
    const again = { 'if-none-match': String(headers.etag) }
    const answers = [
      await request(service, 'GET', '/pricing', undefined, again),
      await alice.request('GET', '/alerts/export'),
      await alice.request('DELETE', `/auth/tokens/${await spareToken()}`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([304, 200, 204])
    for (const answer of answers) {
      expect(answer.headers['x-content-type-options']).toBe('nosniff')
    }
  })
})

/** A token that may be revoked. */
async function spareToken(): Promise<number> {
  await signIn(service, 'alice')
  const { body } = await alice.request('GET', '/auth/tokens')
  return Math.max(...body.data.map(({ id }: { id: number }) => id))
}

describe('a request target', () => {
  test.each([
    'http://example.org/api/x402/pricing',
    'https://127.0.0.1/docs',
    '*',
  ])('without a slash at its start is not found: %s', async (target) => {
    const method = target === '*' ? 'OPTIONS' : 'GET'
    const answer = await sendHead(`${method} ${target} HTTP/1.1`)
    expect(answer).toMatch(/^HTTP\/1\.1 404 /)
  })
})

describe('a method that no route has', () => {
  test.each([
    ['QUERY', '/api/x402/pricing', 'GET, HEAD'],
    ['QUERY', '/api/x402/watches/7', 'GET, HEAD, PATCH, DELETE'],
    ['PUT', '/api/x402/watches', 'GET, HEAD, POST'],
    ['QUERY', '/docs', 'GET, HEAD'],
    ['PUT', '/docs/watches/wallet-balance', 'GET, HEAD'],
    ['DELETE', '/', 'GET, HEAD'],
    ['QUERY', '/data/ftso-analytics/x', 'DELETE, GET, HEAD, PATCH, POST, PUT, OPTIONS'],
  ])('is not allowed, with any body: %s %s', async (method, path, allow) => {
    for (const headers of [{}, { 'content-type': 'text/strange' }]) {
      const {
        statusCode,
        headers: got,
        body,
      } = await service.server.inject({
        method: method as 'PUT',
        url: path,
        headers,
        ...('content-type' in headers && { payload: 'x' }),
      })
      expect([statusCode, got.allow]).toEqual([405, allow])
      expect(JSON.parse(body)).toMatchObject({ code: 'method_not_allowed' })
    }
  })

  test.each([
    ['GET', '/api/x402/watches/backtest', 'POST'],
    ['PATCH', '/api/x402/watches/backtest', 'POST'],
    ['DELETE', '/api/x402/watches/backtest?x=1', 'POST'],
    ['DELETE', '/api/x402/watches/%62acktest', 'POST'],
    ['QUERY', '/api/x402/watches/backtest', 'POST'],
    ['PATCH', '/api/x402/recipients/telegram-link', 'POST'],
    ['DELETE', '/api/x402/recipients/telegram-link', 'POST'],
    ['DELETE', '/api/x402/alerts/export', 'GET, HEAD'],
    ['POST', '/api/x402/subscriptions/quote', 'GET, HEAD'],
  ])('is not allowed by the routes of other paths: %s %s', async (method, url, allow) => {
    const answer = await service.server.inject({ method: method as 'PUT', url })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow])
  })

  test.each([
    `/api/x402/watches/${'1'.repeat(101)}`,
    `/api/x402/topup/0x${'0'.repeat(120)}`,
    `/api/x402/channels/${'%41'.repeat(101)}`,
    `/a/${'a'.repeat(101)}`,
    `/a/${'a'.repeat(101)}/evidence`,
    `/providers/${'a'.repeat(5000)}`,
    `/providers/${'a'.repeat(101)}/badge.svg`,
    `/docs/watches/${'a'.repeat(101)}/x`,
  ])('is not found with any method on a path that is too long: %s', async (url) => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']) {
      const answer = await service.server.inject({ method: method as 'GET', url })
      expect([method, answer.statusCode, answer.headers.allow]).toEqual([method, 404, undefined])
    }
  })

  test('is not allowed on a path with a parameter of the greatest length', async () => {
    const url = `/api/x402/channels/${'%41'.repeat(100)}`
    const answer = await service.server.inject({ method: 'POST', url })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'PUT, DELETE'])
  })

  test('is not found on an unknown path', async () => {
    for (const path of ['/api/x402/nowhere', '/nowhere', '/data/unknown']) {
      const { statusCode } = await service.server.inject({ method: 'QUERY' as 'PUT', url: path })
      expect([path, statusCode]).toEqual([path, 404])
    }
  })
})

describe('a refusal of the framework', () => {
  test.each([
    [
      'a content length that is no number',
      'POST /api/x402/auth/challenge HTTP/1.1',
      'content-length: x',
    ],
    ['a path part of 300 characters', `GET /api/x402/watches/${'1'.repeat(300)} HTTP/1.1`],
    [
      'a malformed content type',
      'POST /api/x402/auth/challenge HTTP/1.1',
      'content-type: ;;',
      'content-length: 0',
    ],
  ])('has a 4xx status, never a 500: %s', async (_what, line, ...headers) => {
    expect(await sendHead(line, ...headers)).toMatch(/^HTTP\/1\.1 4\d\d /)
  })

  test('of an unreadable request is a problem document with that status', async () => {
    const answer = await sendBytes('what is this\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(answer).toContain('Content-Type: application/problem+json')
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
    })
  })
})

describe('the host of a request', () => {
  const get = (...lines: readonly string[]) =>
    sendBytes([...lines, 'connection: close', '', ''].join('\r\n'))

  test.each([
    ['two lines', ['GET /docs HTTP/1.1', 'host: x', 'host: y']],
    ['two equal lines', ['GET /api/x402/pricing HTTP/1.1', 'Host: x', 'hOST: x']],
    ['two lines for an unknown path', ['GET /nowhere HTTP/1.1', 'host: x', 'host: y']],
    ['two lines of HTTP/1.0', ['GET /docs HTTP/1.0', 'host: x', 'host: y']],
    ['none', ['GET /docs HTTP/1.1']],
  ])('is named once: %s are refused with a problem document', async (_what, lines) => {
    const answer = await get(...lines)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toMatch(/^x-content-type-options: nosniff\r?$/im)
    expect(answer).toMatch(/^content-type: application\/problem\+json/im)
  })

  test('may be left out in HTTP/1.0', async () => {
    expect(await get('GET /docs HTTP/1.0')).toMatch(/^HTTP\/1\.1 200 /)
  })

  test('is protected by HSTS alone, without the hosts below it', async () => {
    const { headers } = await service.server.inject({ url: '/docs' })
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
  })
})

test('an expectation that is unknown is refused with a problem document', async () => {
  const answer = await sendHead('GET /docs HTTP/1.1', 'expect: the impossible')
  expect(answer).toMatch(/^HTTP\/1\.1 417 /)
  expect(answer).toMatch(/^content-type: application\/problem\+json/im)
})

describe('a problem document', () => {
  test.each([
    ['GET', '/api/x402/nowhere', 404],
    ['PUT', '/api/x402/watches', 405],
    ['GET', '/api/x402/watches', 401],
    ['GET', '/api/x402/stats?x=1', 400],
    ['GET', '/data/unknown', 404],
    ['GET', '/api/x402/%zz', 404],
  ])("is in the reader's language, and no cache keeps it: %s %s", async (method, url, status) => {
    const { statusCode, headers } = await service.server.inject({
      method: method as 'GET',
      url,
      headers: { 'accept-language': 'de' },
    })
    expect(statusCode).toBe(status)
    expect(headers).toMatchObject({
      'content-language': 'de',
      vary: 'accept-language',
      'cache-control': 'no-store',
    })
  })
})

describe('every 503', () => {
  test.each([
    ['POST', '/recipients/telegram-link', undefined],
    ['PUT', '/channels/email', { address: 'ops@example.org' }],
    ['POST', '/recipients', { name: 'Ops', channel: 'email', address: 'ops@example.org' }],
  ])('has Retry-After: %s %s', async (method, path, body) => {
    const answer = await alice.request(method, path, body)
    expect(answer).toMatchObject({ status: 503, body: { code: 'channel_unavailable' } })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  })
})
