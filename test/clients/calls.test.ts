import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type AnswerHead,
  Watchdog,
  WatchdogError,
  type WatchdogOptions,
} from '../../clients/typescript/src/index.ts'

/** The client against a server with scripted answers: lost connections, limits, garbage. */

type Answer = (request: IncomingMessage, response: ServerResponse) => void

let answers: Answer[]
let requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[]
let close: () => void
let baseUrl: string

const TOKEN = 'fwd_secret-of-this-test'

beforeEach(async () => {
  answers = []
  requests = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url = '', headers } = request
    requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    const answer = answers.shift()
    if (answer === undefined) throw new Error('one request too many')
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/x402`
  close = () => {
    server.closeAllConnections()
    server.close()
  }
})
afterEach(() => close())

const client = (over: Partial<WatchdogOptions> = {}) =>
  new Watchdog({ baseUrl, token: TOKEN, ...over })

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(JSON.stringify(body))
const text =
  (status: number, body: string): Answer =>
  (_request, response) =>
    void response.writeHead(status).end(body)
const problem = (status: number, code: string, headers?: Record<string, string>) =>
  json(
    status,
    { type: 'about:blank', title: 'T', detail: 'D', status, code, requestId: 'r-1' },
    headers,
  )
const cut: Answer = (request) => void request.socket.destroy()
const silence: Answer = () => undefined
const AT_ONCE = { 'retry-after': '0' }
const WATCH = { type: 'wallet-balance', target: {}, settings: {} } as never

async function failureOf(call: Promise<unknown>): Promise<WatchdogError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof WatchdogError) return error
  throw new Error(`not refused as expected: ${inspect(error)}`)
}

describe('a call', () => {
  test('sends the token, the language and its parameters, and returns the result', async () => {
    answers = [json(200, { data: [], nextCursor: null }, { ratelimit: '"read";r=1;t=2' })]
    const heads: AnswerHead[] = []
    const onAnswer = (head: AnswerHead) => heads.push(head)
    const query = { limit: 5, cursor: undefined }
    const page = await client({ locale: 'de' }).listWatches(query as never, { onAnswer })
    expect(page).toEqual({ data: [], nextCursor: null })
    expect(requests).toMatchObject([
      {
        method: 'GET',
        url: '/api/x402/watches?limit=5',
        headers: { authorization: `Bearer ${TOKEN}`, 'accept-language': 'de' },
      },
    ])
    expect(heads[0]?.headers.get('ratelimit')).toBe('"read";r=1;t=2')
  })

  test('encodes a parameter of the path so that it stays one segment', async () => {
    answers = [json(200, {})]
    await client().testChannel('../a b?c')
    expect(requests[0]?.url).toBe('/api/x402/channels/..%2Fa%20b%3Fc/test')
  })

  test('returns undefined for a response without a body', async () => {
    answers = [text(204, '')]
    expect(await client().deleteWatch(7)).toBeUndefined()
  })

  test('throws an error with the code of the problem', async () => {
    answers = [problem(409, 'no_free_slot')]
    const error = await failureOf(client().createWatch(WATCH))
    expect(error).toMatchObject({ code: 'no_free_slot', status: 409, requestId: 'r-1', errors: [] })
    expect(error.message).toBe('T: D')
  })

  test('throws an error of its own if the response is not from the service', async () => {
    answers = [text(200, '<html>'), text(404, '<html>')]
    for (const status of [200, 404]) {
      const error = await failureOf(client().getStats())
      expect(error).toMatchObject({ code: 'unexpected_answer', status })
    }
  })

  test('follows no redirect, which would show the token to another host', async () => {
    answers = [(_request, response) => void response.writeHead(302, { location: '/else' }).end()]
    const error = await failureOf(client({ retries: 0 }).getAccount())
    expect([error.code, error.status]).toEqual(['unexpected_answer', 302])
    expect(requests.length).toBe(1)
  })
})

test('a browser shows no status of a redirect, which is an unexpected answer all the same', async () => {
  const opaque = Object.defineProperty(new Response(null), 'type', { value: 'opaqueredirect' })
  const modes: (string | undefined)[] = []
  const fetching: typeof fetch = async (_url, init) => {
    modes.push(init?.redirect)
    return opaque
  }
  const error = await failureOf(client({ fetch: fetching }).getAccount())
  expect(error.code).toBe('unexpected_answer')
  // Cloudflare Workers refuse `error`.
  expect(modes).toEqual(['manual'])
})

describe('retries', () => {
  test('repeat a read after a lost connection, a limit and a failure', async () => {
    answers = [cut, problem(429, 'rate_limited', AT_ONCE), json(200, { watchesActive: 1 })]
    expect(await client().getStats()).toEqual({ watchesActive: 1 })
    expect(requests.length).toBe(3)
  })

  test('repeat a call with its idempotency key; the next call has a new key', async () => {
    answers = [cut, problem(503, 'dependency_unavailable', AT_ONCE), json(201, {}), json(201, {})]
    await client().createWatch(WATCH)
    await client().createWatch(WATCH)
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect(new Set(keys.slice(0, 3)).size).toBe(1)
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(keys[3]).not.toBe(keys[0])
  })

  test('wait while the first request with the key is still running', async () => {
    answers = [problem(409, 'idempotency_in_progress', AT_ONCE), json(201, {})]
    await client().createWatch(WATCH, { idempotencyKey: 'mine' })
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['mine', 'mine'])
  })

  test('never repeat a change without a key', async () => {
    answers = [cut]
    expect((await failureOf(client().updateWatch(1, {}))).code).toBe('connection_failed')
    answers = [problem(503, 'dependency_unavailable', AT_ONCE)]
    expect((await failureOf(client().deleteWatch(1))).code).toBe('dependency_unavailable')
    expect(requests.length).toBe(2)
  })

  test('never repeat a refusal that is final', async () => {
    answers = [problem(400, 'validation_failed')]
    expect((await failureOf(client().getStats())).code).toBe('validation_failed')
  })

  test('end after the set number', async () => {
    const refused = problem(503, 'dependency_unavailable', AT_ONCE)
    answers = [refused, refused, refused]
    expect((await failureOf(client().getStats())).status).toBe(503)
    expect(requests.length).toBe(3)
  })

  test('do not begin when the service asks for a longer wait than allowed', async () => {
    answers = [problem(429, 'rate_limited', { 'retry-after': '3600' })]
    const error = await failureOf(client().getStats())
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 3600 })
    expect(requests.length).toBe(1)
  })

  test.each(['9999999999', '9'.repeat(400)])('do not begin when it asks for %s', async (wait) => {
    answers = [problem(429, 'rate_limited', { 'retry-after': wait })]
    const error = await failureOf(client().getStats())
    expect(error.retryAfterSeconds).toBe(2 ** 31)
    expect(requests.length).toBe(1)
  })

  test('follow a timeout, and the last timeout is thrown', async () => {
    answers = [silence, json(200, {})]
    await client({ timeoutMs: 1000 }).getStats()
    answers = [silence]
    const error = await failureOf(client({ timeoutMs: 1000, retries: 0 }).getStats())
    expect(error.code).toBe('timeout')
  })
})

describe('an abort signal', () => {
  test('ends a call with the reason of the abort', async () => {
    const control = new AbortController()
    const reason = new Error('the user left')
    answers = [() => control.abort(reason)]
    await expect(client().getStats({ signal: control.signal })).rejects.toBe(reason)
    await expect(client().getStats({ signal: control.signal })).rejects.toBe(reason)
    expect(requests.length).toBe(1)
  })

  test('ends the wait for the next attempt', async () => {
    const control = new AbortController()
    answers = [
      (request, response) => {
        problem(429, 'rate_limited', { 'retry-after': '50' })(request, response)
        response.once('close', () => control.abort(new Error('enough')))
      },
    ]
    await expect(client().getStats({ signal: control.signal })).rejects.toThrow('enough')
  })
})

describe('pages', () => {
  const page = (ids: number[], nextCursor: string | null) =>
    json(200, { data: ids.map((id) => ({ id })), nextCursor })

  test('are requested one after the other when they are needed, with the filter', async () => {
    answers = [page([1, 2], 'a'), page([3], null)]
    const ids: number[] = []
    for await (const { id } of client().allWatches({ limit: 2 })) ids.push(id)
    expect(ids).toEqual([1, 2, 3])
    expect(requests.map(({ url }) => url.split('?')[1])).toEqual(['limit=2', 'limit=2&cursor=a'])
    answers = [page([1, 2], 'a')]
    for await (const { id } of client().allWatches()) if (id === 1) break
    expect(requests.length).toBe(3)
  })

  test('go on after an empty page that names a next one', async () => {
    answers = [page([], 'a'), page([3], 'b'), page([], 'c'), page([4], null)]
    const ids: number[] = []
    for await (const { id } of client().allAlerts({ severity: 'critical' })) ids.push(id)
    expect(ids).toEqual([3, 4])
    expect(requests.length).toBe(4)
  })

  test('end with an error if a cursor repeats', async () => {
    answers = [page([1], 'a'), page([1], 'b'), page([1], 'a')]
    const read = async () => {
      for await (const _one of client().allAlerts());
    }
    expect((await failureOf(read())).code).toBe('unexpected_answer')
  })
})

describe('the token', () => {
  test('appears in no text of a client or of its errors', async () => {
    answers = [cut, problem(401, 'invalid_token')]
    const watchdog = client({ retries: 0 })
    const errors = [await failureOf(watchdog.getAccount()), await failureOf(watchdog.getAccount())]
    for (const shown of [watchdog, ...errors]) {
      expect(inspect(shown, { depth: 9, showHidden: true })).not.toContain(TOKEN)
      expect(JSON.stringify(shown)).not.toContain(TOKEN)
    }
  })

  test('is not sent without TLS to another machine', () => {
    expect(() => client({ baseUrl: 'http://watchdog.example.org/api' })).toThrow(TypeError)
    expect(() => client({ baseUrl: 'ftp://127.0.0.1/api' })).toThrow(TypeError)
    expect(() => client({ baseUrl: 'http://127.0.0.1.example.org/api' })).toThrow(TypeError)
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect(() => client({ baseUrl: `http://${host}:1/api` })).not.toThrow()
    }
  })
})
