import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES } from '#src/kernel/caller.ts'
import { examplesAt } from '#src/operations/examples/index.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { every } from '../support/every.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, request, signIn } from '../support/people.ts'

const EXAMPLES = examplesAt('https://watchdog.example.org')

let service: Awaited<ReturnType<typeof serviceOnly>>
let reader: Client
let writer: Client

beforeAll(async () => {
  service = await serviceOnly()
  reader = await signIn(service, 'carol', [])
  writer = await signIn(service, 'bob')
})
afterAll(() => service.close())

const routed = REGISTRY.flatMap((operation) => {
  const path = operation.path
    ?.replace('{id}', '1')
    .replace('{key}', 'email')
    .replace('{type}', 'wallet-balance')
    .replace('{provider}', `0x${'1'.repeat(40)}`)
    .replace('{epoch}', '1')
    .replace('{handle}', `0x${'1'.repeat(64)}`)
  return path === undefined
    ? []
    : [[`${operation.method} ${operation.path}`, operation, path] as const]
})
const guarded = routed.filter(([, { scope }]) => scope !== 'none')

describe('every operation', () => {
  test('needs a token', () =>
    every(guarded, async (_name, { method }, path) => {
      const answer = await request(service, method, path)
      expect(answer).toMatchObject({ status: 401, body: { code: 'missing_token' } })
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    }))

  test('refuses an unknown token', () =>
    every(guarded, async (_name, { method }, path) => {
      const authorization = `Bearer fwd_${'x'.repeat(49)}`
      const answer = await request(service, method, path, undefined, { authorization })
      expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
    }))

  test('needs its scope', () =>
    every(guarded, async (_name, { method, scope }, path) => {
      const answer = await reader.request(method, path)
      const isHeld = scope === SCOPES[0]
      if (isHeld) expect(answer.status).not.toBe(403)
      else {
        expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_scope', scope } })
        expect(answer.headers['www-authenticate']).toContain(`scope="${scope}"`)
      }
    }))

  test('refuses an unknown query parameter', () =>
    every(routed, async (_name, { method }, path) => {
      const answer = await writer.request(method, `${path}?surprise=1`)
      expect(answer.status).toBe(400)
      expect(answer.body.errors).toContainEqual(
        expect.objectContaining({ pointer: '/surprise', code: 'unknown' }),
      )
    }))

  const withBody = routed.filter(([, { body, bodyOptional }]) => body && bodyOptional !== true)
  const send = (path: string, method: string, body: unknown, headers = {}) =>
    writer.request(method, path, body, headers)

  test('needs a JSON body', () =>
    every(withBody, async (_name, { method }, path) => {
      const invalid = await send(path, method, '{"half":')
      expect(invalid).toMatchObject({ status: 400, body: { code: 'malformed_json' } })
      const other = await send(path, method, 'a=b', { 'content-type': 'text/plain' })
      expect(other).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
      const huge = await send(path, method, `{"x":"${'x'.repeat(70_000)}"}`)
      expect(huge).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
      const none = await send(path, method, undefined)
      expect(none).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
      for (const body of [null, [], 'text', 7, true]) {
        const answer = await send(path, method, body === 'text' ? '"text"' : body)
        expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
      }
    }))

  test('refuses an unknown property', () =>
    every(
      routed.filter(([, { body }]) => body),
      async (_name, { id, method }, path) => {
        const answer = await send(path, method, { ...EXAMPLES[id]?.request, surprise: 1 })
        expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
        expect(answer.body.errors).toContainEqual(
          expect.objectContaining({ pointer: '/surprise', code: 'unknown' }),
        )
      },
    ))

  const withId = REGISTRY.filter(({ path }) => path?.includes('{id}'))
  const notNumbers = ['0', '-1', 'abc', '1.5', '1e3', '2147483648', '99999999999999999999', 'NaN']
  const notNames = ['%20', 'a%20b', 'a.b', 'é', 'x'.repeat(37)]

  test('refuses a malformed id, and does not find an id of another wallet', () =>
    every(
      withId.map((operation) => [`${operation.method} ${operation.path}`, operation] as const),
      async (_name, { method, path = '', params, body, id: name }) => {
        const isNumber = params?.safeParse({ id: 'abc' }).success === false
        const ids = isNumber ? [...notNumbers, ...notNames] : notNames
        const isEmptyAllowed = body?.safeParse({}).success === true
        const payload = body && (isEmptyAllowed ? {} : EXAMPLES[name]?.request)
        for (const id of ids) {
          const answer = await send(path.replace('{id}', id), method, payload)
          expect([id, answer.status, answer.body.errors?.[0]?.pointer]).toEqual([id, 400, '/id'])
        }
        const answer = await send(path.replace('{id}', '2147483647'), method, payload)
        expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
      },
    ))

  test('an unknown path is not found, and another method is not allowed', async () => {
    expect(await request(service, 'GET', '/nowhere')).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
    const answer = await request(service, 'PUT', '/watches')
    expect(answer).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
    expect(answer.headers.allow).toBe('GET, HEAD, POST')
  })

  test('a body that is not JSON, too large or of another type is a named problem', async () => {
    const post = (body: string, type = 'application/json') =>
      request(service, 'POST', '/auth/challenge', body, { 'content-type': type })
    expect(await post('{')).toMatchObject({ status: 400, body: { code: 'malformed_json' } })
    expect(await post('x', 'text/plain')).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    })
    expect(await post(`"${'x'.repeat(70_000)}"`)).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    })
  })

  test('a token in the URL is refused', async () => {
    const answer = await request(service, 'GET', `/pricing?key=${reader.token}`)
    expect(answer.status).toBe(400)
    expect(answer.body.errors[0].code).toBe('token_in_query')
    expect(answer.text).not.toContain(reader.token)
  })

  test('a problem is in the reader’s language and has the same code in each', async () => {
    const answer = await request(service, 'GET', '/watches', undefined, {
      'accept-language': 'fr-CH, de;q=0.5',
      'x-request-id': 'abc-123',
    })
    expect(answer.headers['content-language']).toBe('fr')
    expect(answer.headers['x-request-id']).toBe('abc-123')
    expect(answer.body).toMatchObject({
      code: 'missing_token',
      requestId: 'abc-123',
      type: 'http://127.0.0.1:8080/problems/missing_token',
    })
    expect(answer.body.title).not.toBe('API token missing')
  })
})
