import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import Fastify from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { credit } from '#src/billing/account/service.ts'
import { takeFreeCalls } from '#src/billing/metering/store.ts'
import { registerData } from '#src/http/data.ts'
import { answerError } from '#src/http/errors.ts'
import type { Account } from '../generated/api.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { runs } from '../support/runs.ts'

const BASE = '/api/v1'
let upstream: Awaited<ReturnType<typeof startUpstream>>
let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
/** Port of the service. */
let port: number

beforeAll(async () => {
  upstream = await startUpstream()
  service = await serviceOnly({
    METERED_UPSTREAMS: JSON.stringify({
      'ftso-analytics': `http://127.0.0.1:${upstream.port}${BASE}/`,
      'providers-rewards': 'http://127.0.0.1:1',
      'rewards-intelligence-reports': `http://127.0.0.1:${upstream.port}`,
    }),
  })
  const address = await service.server.listen({ host: '127.0.0.1', port: 0 })
  port = Number(new URL(address).port)
  alice = await signIn(service, 'alice')
  const { wallet } = alice.caller
  const { db, clock } = service.app
  await takeFreeCalls(db, wallet, '2026-11-20', 50)
  const at = clock.now()
  await credit(db, { wallet, type: 'topup', amountCredits: 1000, reference: 'seed', at })
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await service.close()
  await upstream.close()
})

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** Sends one request with the path unchanged, which clients would normalise. */
async function send(path: string, { method = 'GET', headers, body }: Sent = {}): Promise<Answer> {
  const authorization = `Bearer ${alice.token}`
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const request = ask({
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: { authorization, ...length, ...headers },
  })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const { statusCode: status = 0, headers: got } = response
  return { status, headers: got, text: Buffer.concat(chunks).toString() }
}

const balanceOf = async () => (await alice.request<Account>('GET', '/account')).body.balanceCredits

/** Credits that an action took from the wallet. */
async function costOf(act: () => Promise<unknown>): Promise<number> {
  const before = await balanceOf()
  await act()
  return before - (await balanceOf())
}

describe('a call to a metered resource', () => {
  test('is forwarded to its upstream, whose response is returned, and charged', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv', etag: '"7"', 'x-own': 'yes' })
      response.end('a,b\n')
    })
    const before = await balanceOf()
    const answer = await send('/data/ftso-analytics/feeds/FLR%2FUSD?from=1&to=a%20b&x[]=1&x[]=2')
    expect(answer).toMatchObject({ status: 200, text: 'a,b\n' })
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv',
      etag: '"7"',
      'x-own': 'yes',
      'x-credits-charged': '1',
      'x-credits-balance': String(before - 1),
      'x-free-tier-remaining': '0',
    })
    const path = `${BASE}/feeds/FLR%2FUSD?from=1&to=a%20b&x[]=1&x[]=2`
    expect(upstream.asked).toMatchObject([{ method: 'GET', url: path }])
  })

  test.each([
    'GET',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
  ])('is forwarded and charged by %s', async (method) => {
    const body = method === 'GET' ? undefined : '{"a":1}'
    const headers = { ...(body && { 'content-type': 'application/json' }) }
    const act = () => send('/data/ftso-analytics/x', { method, headers, ...(body && { body }) })
    expect(await costOf(act)).toBe(1)
    expect(upstream.asked).toMatchObject([{ method, body: body ?? '' }])
  })

  test('is forwarded as HEAD, and has the length of the body that is not sent', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-length': '1234' })
      response.end()
    })
    const answer = await send('/data/ftso-analytics/x', { method: 'HEAD' })
    expect(answer).toMatchObject({ status: 200, text: '', headers: { 'content-length': '1234' } })
    expect(upstream.asked).toMatchObject([{ method: 'HEAD' }])
  })

  test.each([
    ['/data/ftso-analytics', BASE],
    ['/data/ftso-analytics/', `${BASE}/`],
    ['/data/ftso-analytics?a=1', `${BASE}?a=1`],
    ['/data/ftso-analytics/a/./b', `${BASE}/a/b`],
    [`/data/ftso-analytics/${'a'.repeat(3000)}`, `${BASE}/${'a'.repeat(3000)}`],
  ])('to %s goes to %s', async (path, expected) => {
    expect((await send(path)).status).toBe(200)
    expect(upstream.asked.map(({ url }) => url)).toEqual([expected])
  })

  test.each([
    ['/data/rewards-intelligence-reports', '/'],
    ['/data/rewards-intelligence-reports/', '/'],
    ['/data/rewards-intelligence-reports?epoch=1', '/?epoch=1'],
    ['/data/rewards-intelligence-reports?', '/'],
    ['/data/rewards-intelligence-reports?a=/../b?c=d', '/?a=/../b?c=d'],
    ['/data/rewards-intelligence-reports/x?epoch=1', '/x?epoch=1'],
  ])('to %s goes to %s of an upstream without a path', async (path, expected) => {
    expect((await send(path)).status).toBe(200)
    expect(upstream.asked.map(({ url }) => url.replace(/\?$/, ''))).toEqual([expected])
  })

  test('is forwarded without the token and without data about the caller', async () => {
    await send('/data/ftso-analytics/x', {
      headers: {
        accept: 'text/csv',
        cookie: 'session=1',
        'x-forwarded-for': '10.0.0.1',
        'x-request-id': 'mine-1',
        te: 'trailers',
        connection: 'close, x-hop',
        'x-hop': '1',
      },
    })
    const headers = upstream.asked[0]?.headers ?? {}
    expect(headers).toMatchObject({
      host: `127.0.0.1:${upstream.port}`,
      accept: 'text/csv',
      'x-request-id': 'mine-1',
    })
    for (const name of ['authorization', 'cookie', 'x-forwarded-for', 'te', 'x-hop']) {
      expect(headers).not.toHaveProperty(name)
    }
  })

  test('returns no header of the upstream that only this service may set', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, {
        'set-cookie': ['a=1', 'b=2'],
        'x-credits-balance': '999999',
        'x-request-id': 'theirs',
        'access-control-allow-origin': '*',
        'keep-alive': 'timeout=500',
      })
      response.end('ok')
    })
    const { headers } = await send('/data/ftso-analytics/x', { headers: { 'x-request-id': 'r-2' } })
    expect(headers).toMatchObject({ 'x-request-id': 'r-2', 'x-credits-charged': '1' })
    expect(headers['x-credits-balance']).not.toBe('999999')
    expect(headers['keep-alive']).not.toBe('timeout=500')
    expect(headers).not.toHaveProperty('set-cookie')
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })

  test('follows no redirect, and rewrites one to the upstream to this service', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${upstream.port}${BASE}/y?z=1` })
      response.end()
    })
    const answer = await send('/data/ftso-analytics/x')
    expect(answer).toMatchObject({
      status: 302,
      headers: { location: '/data/ftso-analytics/y?z=1' },
    })
    expect(upstream.asked).toHaveLength(1)
  })

  test.each([
    204, 304, 400, 404, 429, 451,
  ])('is charged if the upstream responds with %i', async (status) => {
    upstream.answer((_request, response) => {
      response.writeHead(status, { 'x-own': 'yes' })
      response.end(status < 400 ? undefined : 'theirs')
    })
    const before = await balanceOf()
    const answer = await send('/data/ftso-analytics/x')
    expect(answer).toMatchObject({ status, text: status < 400 ? '' : 'theirs' })
    expect(answer.headers).toMatchObject({ 'x-own': 'yes', 'x-credits-charged': '1' })
    expect(await balanceOf()).toBe(before - 1)
  })
})

describe('bodies', () => {
  test('larger than other routes allow are streamed', async () => {
    const body = Buffer.alloc(5_000_000, 'x')
    const headers = { 'content-type': 'application/octet-stream' }
    const answer = await send('/data/ftso-analytics/x', { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    expect(upstream.asked[0]?.body).toHaveLength(5_000_000)
  })

  test.each([
    ['malformed JSON', 'application/json', '{"half":'],
    ['no type', '', 'raw'],
    ['a strange type', 'application/x-strange; a=b', '\u0000\u0001'],
  ])('are forwarded unchanged: %s', async (_name, type, body) => {
    const headers = { ...(type !== '' && { 'content-type': type }) }
    await send('/data/ftso-analytics/x', { method: 'POST', headers, body })
    expect(upstream.asked).toMatchObject([{ body }])
    expect(upstream.asked[0]?.headers['content-type']).toBe(type === '' ? undefined : type)
  })

  test('of unknown length are forwarded', async () => {
    const request = ask({
      port,
      host: '127.0.0.1',
      method: 'PUT',
      path: '/data/ftso-analytics/x',
      headers: { authorization: `Bearer ${alice.token}`, 'content-type': 'text/plain' },
    })
    request.write('one,')
    await wait(20)
    request.end('two')
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    expect(upstream.asked).toMatchObject([{ body: 'one,two' }])
  })

  test('are streamed back as they arrive', async () => {
    const rest = Promise.withResolvers<void>()
    upstream.answer((_request, response) => {
      response.write('first')
      void rest.promise.then(() => response.end(' last'))
    })
    const request = ask({
      port,
      host: '127.0.0.1',
      path: '/data/ftso-analytics/x',
      headers: { authorization: `Bearer ${alice.token}` },
    })
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const pieces: string[] = []
    for await (const piece of response) {
      pieces.push(String(piece))
      rest.resolve()
    }
    expect(pieces).toEqual(['first', ' last'])
  })

  test('of a call that is not paid never reach the upstream', async () => {
    const bob = await signIn(service, 'bob', [])
    await takeFreeCalls(service.app.db, bob.caller.wallet, '2026-11-20', 50)
    const headers = { authorization: `Bearer ${bob.token}`, 'content-type': 'text/plain' }
    const body = 'x'.repeat(100_000)
    const answer = await send('/data/ftso-analytics/x', { method: 'POST', headers, body })
    expect(answer.status).toBe(402)
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'payment_required', x402Version: 1 })
    expect(upstream.asked).toEqual([])
  })
})

describe('every answer', () => {
  const OURS = "sandbox; default-src 'none'"

  test('runs nothing in the origin of this service, whatever the upstream says', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200, {
        'content-type': 'text/html',
        'content-security-policy': "frame-ancestors 'none'",
      })
      response.end('<script src="x.js"></script>')
    })
    const stricter = await send('/data/ftso-analytics/x')
    expect(stricter.headers['content-security-policy']).toBe(`frame-ancestors 'none', ${OURS}`)
    upstream.answer((_request, response) => response.writeHead(404).end('<h1>x</h1>'))
    expect((await send('/data/ftso-analytics/x')).headers['content-security-policy']).toBe(OURS)
    upstream.answer((_request, response) => response.writeHead(500).end())
    expect((await send('/data/ftso-analytics/x')).headers['content-security-policy']).toBe(OURS)
    const refused = await send('/data/ftso-analytics/x', { headers: { authorization: 'x' } })
    expect(refused.status).toBe(401)
    expect(refused.headers['content-security-policy']).toBe(OURS)
    expect((await send('/data/ftso-analytics/%2e%2e/x')).headers).toMatchObject({
      'content-security-policy': OURS,
    })
  })
})

describe('an upstream that fails', () => {
  const problem = (answer: Answer) => {
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    return JSON.parse(answer.text)
  }

  test.each([
    500, 502, 503, 599,
  ])('with %i becomes a problem document of this service, and is free', async (status) => {
    upstream.answer((_request, response) => {
      response.writeHead(status, {
        'x-own': 'yes',
        'content-type': 'text/html',
        'retry-after': '9',
      })
      response.end('<h1>at theirs</h1>')
    })
    const before = await balanceOf()
    const answer = await send('/data/ftso-analytics/x')
    expect(answer.status).toBe(503)
    expect(problem(answer)).toMatchObject({ status: 503, code: 'dependency_unavailable' })
    expect(answer.headers).toMatchObject({
      'retry-after': '60',
      'x-credits-charged': '0',
      'x-credits-balance': String(before),
    })
    expect(answer.headers).not.toHaveProperty('x-own')
    expect(await balanceOf()).toBe(before)
    // The caller decides about a retry.
    expect(upstream.asked).toHaveLength(1)
  })

  test('because it is unreachable causes a problem document of this service, and costs nothing', async () => {
    const before = await balanceOf()
    const answer = await send('/data/providers-rewards/x')
    expect(answer.status).toBe(503)
    expect(problem(answer)).toMatchObject({ code: 'dependency_unavailable' })
    expect(await balanceOf()).toBe(before)
  })

  test('because it closes the connection causes a problem document of this service, and costs nothing', async () => {
    upstream.answer((request) => request.socket.destroy())
    const before = await balanceOf()
    const answer = await send('/data/ftso-analytics/x', { method: 'POST', body: 'x' })
    expect(problem(answer)).toMatchObject({ status: 503 })
    expect(await balanceOf()).toBe(before)
  })

  test('because it does not respond causes a problem document of this service, and costs nothing', async () => {
    const server = Fastify()
    const { app } = service
    server.setErrorHandler((error, request, reply) => answerError(app, error, request, reply))
    const upstreams = { 'ftso-analytics': `http://127.0.0.1:${upstream.port}` }
    await server.register(registerData, { app, upstreams, silenceMs: 500 })
    upstream.answer(() => undefined)
    const headers = { authorization: `Bearer ${alice.token}` }
    const before = await balanceOf()
    const answer = await server.inject({ url: '/data/ftso-analytics/x', headers })
    expect(answer.json()).toMatchObject({ status: 503, code: 'dependency_unavailable' })
    expect(await balanceOf()).toBe(before)
    await server.close()
  })

  test('in the middle of its response costs nothing', async () => {
    upstream.answer((request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half')
      setTimeout(() => request.socket.destroy(), 20)
    })
    const before = await balanceOf()
    await expect(send('/data/ftso-analytics/x')).rejects.toThrow('aborted')
    await expect.poll(balanceOf).toBe(before)
    const { body } = await alice.request<Account>('GET', '/account?limit=1')
    expect(body.ledger.data).toMatchObject([{ type: 'refund', deltaCredits: 1 }])
  })

  test('many times at once is refunded each time', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(500)
      response.end()
    })
    const before = await balanceOf()
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => send('/data/ftso-analytics/x')),
    )
    expect(answers.every(({ status }) => status === 503)).toBe(true)
    expect(await balanceOf()).toBe(before)
  })
})

describe('a client that closes its connection', () => {
  test.each([
    ['before the answer', 30],
    ['in the middle of it', 80],
  ])('%s is charged, and disturbs no other call', async (_name, goneAfterMs) => {
    upstream.answer((_request, response) => {
      setTimeout(() => {
        response.writeHead(200)
        response.write('x'.repeat(10_000))
      }, 50)
      setTimeout(() => response.end('y'), 120)
    })
    const before = await balanceOf()
    const request = ask({
      port,
      host: '127.0.0.1',
      path: '/data/ftso-analytics/x',
      headers: { authorization: `Bearer ${alice.token}` },
    })
    request.on('error', () => undefined)
    request.end()
    await wait(goneAfterMs)
    request.destroy()
    await wait(150)
    expect(await balanceOf()).toBe(before - 1)
    upstream.reset()
    expect((await send('/data/ftso-analytics/x')).status).toBe(200)
  })
})

describe('an address', () => {
  test.each([
    '/data/unknown/x',
    '/data/rewards-intelligence-reportsx',
    'http://127.0.0.1/data/ftso-analytics/x',
    '/data/ftso-analyticsx',
    '/data/',
    '/data',
  ])('of an unknown resource is 404 and free: %s', async (path) => {
    expect(
      await costOf(async () => {
        const answer = await send(path)
        expect(answer.status).toBe(404)
        expect(JSON.parse(answer.text)).toMatchObject({ code: 'not_found' })
        expect(answer.headers).not.toHaveProperty('x-credits-charged')
      }),
    ).toBe(0)
    expect(upstream.asked).toEqual([])
  })

  test.each([
    '/data/ftso-analytics/..',
    '/data/ftso-analytics/../secret',
    '/data/ftso-analytics/a/../../secret',
    '/data/ftso-analytics/%2e%2e/secret',
    '/data/ftso-analytics/%2E%2E%2Fsecret',
    '/data/ftso-analytics/..%5csecret',
    '/data/ftso-analytics/%5c%5c127.0.0.1/secret',
    '/data/ftso-analytics//127.0.0.1:1/secret',
    '/data/ftso-analytics/...',
    '/data/ftso-analytics/%00',
    '/data/ftso-analytics/%0d%0aHost:%20x',
    '/data/ftso-analytics/%zz',
    '/data/ftso-analytics/%ff',
  ])('that could lead elsewhere is 404 and free: %s', async (path) => {
    expect(await costOf(async () => expect((await send(path)).status).toBe(404))).toBe(0)
    expect(upstream.asked).toEqual([])
  })

  test('of any form gets a response, and never leads outside of the base path of its upstream', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '%2e',
        '%2f',
        '%5c',
        '\\',
        '//',
        '%',
        '%25',
        '@',
        ':',
        ';',
        '?',
        '#',
      ),
      fc.string({ unit: 'grapheme-ascii', maxLength: 5 }),
    )
    const path = fc
      .array(piece, { maxLength: 6 })
      .map((pieces) => pieces.join('/').replaceAll(/[^\x21-\x7e]/g, ''))
    await fc.assert(
      fc.asyncProperty(path, async (tail) => {
        upstream.reset()
        const { status } = await send(`/data/ftso-analytics/${tail}`)
        expect([200, 400, 404]).toContain(status)
        for (const { url } of upstream.asked) {
          expect(new URL(url, 'http://x').pathname).toMatch(new RegExp(`^${BASE}(/|$)`))
        }
        expect(upstream.asked).toHaveLength(status === 200 ? 1 : 0)
      }),
      { numRuns: runs(200, 1000) },
    )
  })

  test('is charged like any metered route', async () => {
    const authorization = `Bearer fwd_${'x'.repeat(49)}`
    const refused = await send('/data/ftso-analytics/x', { headers: { authorization } })
    expect(refused.status).toBe(401)
    const paying = await send('/data/ftso-analytics/x', { headers: { 'x-payment': 'e30=' } })
    expect(paying.status).toBe(402)
    expect(upstream.asked).toEqual([])
  })
})

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Respond = (request: IncomingMessage, response: ServerResponse) => void

/** A server on loopback that records its requests. */
async function startUpstream() {
  const asked: Asked[] = []
  const ok: Respond = (_request, response) => response.end('ok')
  let respond = ok
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      // The caller has disconnected.
      return
    }
    const { method = '', url = '', headers } = request
    asked.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    respond(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    asked,
    /** Sets the answer to all requests until the next reset. */
    answer: (how: Respond) => {
      respond = how
    },
    reset: () => {
      asked.length = 0
      respond = ok
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
