import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceOnly } from '../support/harness.ts'
import { type Client, request, signIn } from '../support/people.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
})
afterAll(() => service.close())

const ORIGIN = { origin: 'https://app.example' }
const EXPOSED = ['ratelimit', 'ratelimit-policy', 'retry-after', 'etag', 'location', 'x-request-id']

describe('a page of any origin', () => {
  test('reads answers and refusals with their headers, never with credentials', async () => {
    for (const answer of [
      await alice.request('GET', '/watches', undefined, ORIGIN),
      await alice.request('GET', '/watches/999', undefined, ORIGIN),
      await request(service, 'GET', '/watches', undefined, ORIGIN),
      await request(service, 'GET', '/nothing', undefined, ORIGIN),
      await request(service, 'PUT', '/watches', undefined, ORIGIN),
      await request(service, 'POST', '/auth/challenge', { wallet: 1 }, ORIGIN),
      await request(service, 'GET', '/watches/%zz', undefined, ORIGIN),
    ]) {
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
      const exposed = String(answer.headers['access-control-expose-headers']).split(', ')
      for (const name of EXPOSED) expect(exposed).toContain(name)
    }
  })

  test('gets its preflight answered for each method and header of the API', async () => {
    const { statusCode, headers } = await service.server.inject({
      method: 'OPTIONS',
      url: '/api/x402/watches/1',
      headers: {
        ...ORIGIN,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization,content-type,if-match',
      },
    })
    expect(statusCode).toBe(204)
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers['access-control-allow-methods']).toContain('PATCH')
    for (const name of [
      'authorization',
      'content-type',
      'if-match',
      'idempotency-key',
      'accept-language',
    ]) {
      expect(headers['access-control-allow-headers']).toContain(name)
    }
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test('cannot read pages for people', async () => {
    for (const method of ['GET', 'OPTIONS'] as const) {
      const asked = method === 'OPTIONS' ? { 'access-control-request-method': 'GET' } : {}
      const { headers } = await service.server.inject({
        method,
        url: '/docs',
        headers: { ...ORIGIN, ...asked },
      })
      expect(headers).not.toHaveProperty('access-control-allow-origin')
    }
  })
})

describe('an unknown path of the API', () => {
  test.each([
    ['GET', '/watch', 'GET /watches'],
    ['GET', '/alert', 'GET /alerts'],
    ['POST', '/auth/challenges', 'POST /auth/challenge'],
    ['DELETE', '/recipient/7/x', 'DELETE /recipients/{id}'],
  ] as const)('%s %s names the closest operation', async (method, path, closest) => {
    expect(await request(service, method, path)).toMatchObject({
      status: 404,
      body: { code: 'not_found', detail: `No such operation. Closest: ${closest}` },
    })
  })
})
