import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RATE_CLASSES } from '#src/operations/gate/limits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client as Person, signIn } from '../support/people.ts'

/** Messages of agents as bytes: what they accept, what they cost, and what they may not do. */

let service: Awaited<ReturnType<typeof serviceOnly>>
let url: URL
let alice: Person

beforeAll(async () => {
  service = await serviceOnly({ TRUST_PROXY: '1' })
  url = new URL('/mcp', await service.server.listen({ port: 0, host: '127.0.0.1' }))
  alice = await signIn(service, 'alice')
})
afterAll(() => service.close())

const BOTH = 'application/json, text/event-stream'
let networks = 0
/** Headers of a client in a network of its own. */
const elsewhere = () => ({ 'x-forwarded-for': `198.51.100.${++networks}` })

async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept: BOTH, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, type: response.headers.get('content-type') ?? '', text }
}

const message = (method: string, params: unknown = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
})
const toolCall = (name: string, args: unknown = {}) =>
  message('tools/call', { name, arguments: args })

/** The message in an answer, whatever its media type. */
function read({ type, text }: { readonly type: string; readonly text: string }) {
  const lines = text.split('\n').filter((line) => line.startsWith('data: '))
  return JSON.parse(type.includes('event-stream') ? (lines.at(-1)?.slice(6) ?? '') : text)
}

describe('an answer', () => {
  const MODERN = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  }
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }

  test.each([
    ['*/*', undefined],
    ['application/json', /^application\/json/],
    ['application/*', /^application\/json/],
    ['text/event-stream', /^text\/event-stream/],
    ['application/json, text/event-stream;q=0', /^application\/json/],
    [BOTH, undefined],
  ])('has a type that the client accepts: %s', async (accept, type) => {
    for (const [headers, params] of [
      [{}, {}],
      [MODERN, { _meta: META }],
    ] as const) {
      const answer = await post(message('tools/list', params), {
        accept,
        ...headers,
        ...elsewhere(),
      })
      expect(answer.status).toBe(200)
      if (type !== undefined) expect(answer.type).toMatch(type)
      expect(read(answer).result.tools.map(({ name }: { name: string }) => name)).toContain(
        'getStats',
      )
    }
  })

  test('is given to a client that does not say what it accepts', async () => {
    const payload = message('tools/list')
    // A browser and fetch always send the header.
    const request = { method: 'POST', url: '/mcp', headers: elsewhere(), payload } as const
    const { statusCode, headers, payload: text } = await service.server.inject(request)
    expect(statusCode).toBe(200)
    expect(read({ type: String(headers['content-type']), text }).result.tools).not.toEqual([])
  })

  test('of another type is none', async () => {
    const { status, text } = await post(message('ping'), { accept: 'text/html', ...elsewhere() })
    expect([status, JSON.parse(text).code]).toEqual([406, 'not_acceptable'])
  })

  test('to a subscription acknowledges it and ends, because nothing ever changes', async () => {
    const headers = { ...MODERN, 'mcp-method': 'subscriptions/listen', ...elsewhere() }
    const params = { notifications: { toolsListChanged: true }, _meta: META }
    const answer = await post(message('subscriptions/listen', params), headers)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('notifications/subscriptions/acknowledged')
    expect(read(answer)).toMatchObject({ id: 1, result: { resultType: 'complete' } })
    const json = await post(message('subscriptions/listen', params), {
      ...headers,
      accept: 'application/json',
    })
    expect(read(json)).toMatchObject({ id: 1, result: { resultType: 'complete' } })
  })
})

describe('a page of another origin', () => {
  test('may call with a token, and reads every header that it needs', async () => {
    const origin = 'https://app.example'
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,mcp-protocol-version',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
    const answer = await post(message('tools/list'), {
      origin,
      authorization: `Bearer ${alice.token}`,
    })
    expect(read(answer).result.tools.length).toBeGreaterThan(20)
  })
})

describe('a refused message is counted', () => {
  const { requests } = RATE_CLASSES.public

  /** Sends the same message until it is refused for its number. @returns how many were answered otherwise */
  async function countUntilLimited(
    send: () => Promise<{ readonly status: number; readonly text: string }>,
    most: number,
  ): Promise<number> {
    for (let count = 0; count <= most; count++) {
      const { status, text } = await send()
      if (status === 429 || text.includes('rate_limited')) return count
    }
    return Number.POSITIVE_INFINITY
  }

  test.each([
    ['of an anonymous caller', toolCall('getAccount')],
    ['of an unknown tool', toolCall('noSuchTool')],
    ['without an id', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'getStats' } }],
    ['with a wrong argument', toolCall('getStats', { wrong: 1 })],
    ['in a batch', [message('ping')]],
    ['that is no JSON', '{'],
  ])('%s', async (_what, body) => {
    const headers = elsewhere()
    expect(await countUntilLimited(() => post(body, headers), requests)).toBe(requests)
  })

  test('with a wrong token', async () => {
    const headers = { ...elsewhere(), authorization: 'Bearer fwd_wrong' }
    expect(await countUntilLimited(() => post(message('ping'), headers), requests)).toBe(requests)
  })

  test('with a token and wrong arguments', async () => {
    const headers = { authorization: `Bearer ${alice.token}` }
    const most = RATE_CLASSES.read.requests
    const send = () => post(toolCall('getAccount', { wrong: 1 }), headers)
    expect(await countUntilLimited(send, most)).toBeLessThanOrEqual(most)
  })
})

describe('an answer to bad input is bounded', () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x${index}`, 1]))
  const sizes = async (body: unknown) => {
    const text = JSON.stringify(body)
    const answer = await post(text, elsewhere())
    return { sent: text.length, got: answer.text.length }
  }

  test.each([
    ['many unknown arguments', toolCall('getStats', many)],
    ['one long name', toolCall('getStats', { ['~'.repeat(60_000)]: 1 })],
    ['one long name of quotation marks', toolCall('getStats', { ['"\\'.repeat(14_000)]: 1 })],
    ['a long name of a tool', toolCall('x'.repeat(60_000))],
    ['a long method', message('y'.repeat(60_000))],
    ['parameters of another type', message('tools/call', Array(10_000).fill({}))],
    [
      'arguments of another type',
      message('tools/call', { name: 'getStats', arguments: Array(10_000).fill(1) }),
    ],
  ])('%s', async (_what, body) => {
    const { sent, got } = await sizes(body)
    expect(got).toBeLessThanOrEqual(2 * sent)
  })

  test('also for a token and a tool with a body', async () => {
    const text = JSON.stringify(
      toolCall('createWatch', { body: { ...many, signals: Array(2000).fill({}) } }),
    )
    const answer = await post(text, { authorization: `Bearer ${alice.token}` })
    expect(answer.text.length).toBeLessThanOrEqual(2 * text.length)
  })

  test('also in REST, for unknown query parameters', async () => {
    const query = Object.keys(many).slice(0, 1500).join('=1&')
    const { body } = await alice.request('GET', `/settings?${query}`)
    expect(body['errors']).toHaveLength(20)
  })
})
