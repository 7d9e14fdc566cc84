import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#src/sandbox/devnet/people.ts'
import { serviceOnly } from '../support/harness.ts'
import { request, signIn } from '../support/people.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>

beforeAll(async () => {
  service = await serviceOnly()
})
afterAll(() => service.close())

const { account } = PEOPLE.alice
const challenge = (from: string) =>
  request(service, 'POST', '/auth/challenge', { wallet: account.address }, {}, from)

async function times<T>(count: number, send: () => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  for (let n = 0; n < count; n++) answers.push(await send())
  return answers
}

describe('rate limits', () => {
  test('tell how many requests are left, and refuse the one too many', async () => {
    const from = '192.0.2.10'
    const [first, ...others] = await times(10, () => challenge(from))
    expect(first?.headers).toMatchObject({
      'ratelimit-policy': '"challenge";q=10;w=60',
      ratelimit: expect.stringMatching(/^"challenge";r=9;t=\d+$/),
    })
    expect(others.every(({ status }) => status === 200)).toBe(true)
    const refused = await challenge(from)
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.headers.ratelimit).toMatch(/^"challenge";r=0;t=\d+$/)
  })

  test('hold up nobody else', async () => {
    expect((await challenge('192.0.2.11')).status).toBe(200)
  })

  test('count a whole IPv6 network as one', async () => {
    await times(5, () => challenge('2001:db8:0:1::1'))
    await times(5, () => challenge('2001:db8:0:1::2'))
    expect((await challenge('2001:db8:0:1::3')).status).toBe(429)
    expect((await challenge('2001:db8:0:2::1')).status).toBe(200)
  })

  test('let a wallet sign in as often as it likes, and guess ten times', async () => {
    const from = '192.0.2.12'
    const guess = () =>
      request(service, 'POST', '/auth/token', { message: 'x', signature: '0x00' }, {}, from)
    await times(9, guess)
    const { body } = await request(
      service,
      'POST',
      '/auth/challenge',
      { wallet: account.address },
      {},
      from,
    )
    const signature = await account.signMessage({ message: body.message })
    const exchange = { message: body.message, signature }
    expect((await request(service, 'POST', '/auth/token', exchange, {}, from)).status).toBe(200)
    expect((await guess()).status).toBe(401)
    expect((await guess()).status).toBe(429)
  })

  test('do not count what was refused for its form', async () => {
    const from = '192.0.2.13'
    await times(20, () => request(service, 'POST', '/auth/challenge', {}, {}, from))
    expect((await challenge(from)).status).toBe(200)
  })

  test('count tests per target', async () => {
    const alice = await signIn(service, 'alice', ['write'], '192.0.2.14')
    const send = (path: string) => alice.request('POST', path)
    await times(10, () => send('/recipients/1/test'))
    expect((await send('/recipients/1/test')).status).toBe(429)
    expect((await send('/recipients/2/test')).status).toBe(404)
  })

  test('allow 120 public reads a minute, per client', async () => {
    const from = '192.0.2.15'
    await times(120, () => request(service, 'GET', '/pricing', undefined, {}, from))
    expect((await request(service, 'GET', '/pricing', undefined, {}, from)).status).toBe(429)
  })
})

describe('what is public', () => {
  test('may be read by a page of any origin, what is not may not', async () => {
    for (const path of ['/pricing', '/openapi.json', '/stats']) {
      const { headers } = await request(service, 'GET', path)
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
    }
    const bob = await signIn(service, 'bob', [], '192.0.2.16')
    const { headers } = await bob.request('GET', '/watches')
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })

  test('comes as JSON or not at all', async () => {
    const accept = (value: string) =>
      request(service, 'GET', '/stats', undefined, { accept: value })
    expect(await accept('text/html')).toMatchObject({
      status: 406,
      body: { code: 'not_acceptable' },
    })
    expect((await accept('application/json;q=0, */*')).status).toBe(200)
    expect((await accept('text/html, application/*;q=0.1')).status).toBe(200)
  })
})
