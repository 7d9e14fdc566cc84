import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { startReceiver } from '#sandbox/receiver.ts'
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
  test('report how many requests are left, and refuse the first request above the limit', async () => {
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

  test('do not affect other clients', async () => {
    expect((await challenge('192.0.2.11')).status).toBe(200)
  })

  test('count an IPv6 network as one client', async () => {
    await times(5, () => challenge('2001:db8:0:1::1'))
    await times(5, () => challenge('2001:db8:0:1::2'))
    expect((await challenge('2001:db8:0:1::3')).status).toBe(429)
    expect((await challenge('2001:db8:0:2::1')).status).toBe(200)
  })

  test('do not count a successful sign-in, and allow ten failed ones', async () => {
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

  test('do not count requests that are refused as malformed', async () => {
    const from = '192.0.2.13'
    await times(20, () => request(service, 'POST', '/auth/challenge', {}, {}, from))
    expect((await challenge(from)).status).toBe(200)
  })

  test('count test messages per target, however its address is written and whichever token is used', async () => {
    const receiver = await startReceiver({ clock: service.clock })
    const from = '192.0.2.14'
    const alice = await signIn(service, 'alice', ['write'], from)
    const { body: first } = await alice.request('PUT', '/channels/webhook', { url: receiver.url() })
    const { body: two } = await alice.request('POST', '/recipients', {
      ...{ name: 'Two', channel: 'webhook', url: receiver.url('two') },
    })
    receiver.setSecret('main', first.secret)
    receiver.setSecret('two', two.secret)
    const send = (path: string) => alice.request('POST', path)
    const paths = [
      `/recipients/${two.id}/test`,
      `/recipients/0${two.id}/test`,
      `/recipients/000${two.id}/test`,
      `/recipients/%3${two.id}/test`,
    ]
    for (const path of [...paths, ...paths]) expect((await send(path)).status).toBe(200)
    const again = await signIn(service, 'alice', ['write'], from)
    await times(2, () => again.request('POST', paths[0] ?? ''))
    const refused = await send(paths[1] ?? '')
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(refused.headers['ratelimit-policy']).toBe('"test";q=10;w=3600')
    expect((await again.request('POST', paths[2] ?? '')).status).toBe(429)
    expect(receiver.deliveries).toHaveLength(10)
    // Another target has its own count.
    expect((await send('/channels/webhook/test')).status).toBe(200)
    expect((await times(9, () => send('/channels/w%65bhook/test'))).at(-1)?.status).toBe(200)
    expect((await send('/channels/webhook/test')).status).toBe(429)
    await receiver.close()
  })

  test('count requests for unknown targets against the caller only', async () => {
    const bob = await signIn(service, 'bob', ['write'], '192.0.2.17')
    const answers = await times(12, () => bob.request('POST', '/recipients/2147483647/test'))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
    expect(answers.at(-1)?.headers['ratelimit']).toMatch(/^"write";r=108;/)
    const invented = await times(120, () => bob.request('POST', '/channels/nothing/test'))
    expect(invented.at(-1)?.status).toBe(429)
  })

  test('allow a token 600 lists of usual length a minute', async () => {
    const reader = await signIn(service, 'alice', [], '192.0.2.18')
    const answers = await times(601, () => reader.request('GET', '/watches'))
    expect(answers.slice(0, 600).every(({ status }) => status === 200)).toBe(true)
    expect(answers[600]).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  })

  test('count all tokens of a wallet together, and there a read by the rows that it may answer with', async () => {
    const tokens = await Promise.all(
      [1, 2, 3].map(() => signIn(service, 'carol', ['write'], '192.0.2.19')),
    )
    // 1,800 a minute, of which a list of 250 takes 11.
    const lists = Math.floor(1800 / 11)
    for (let n = 0; n < lists; n += 1) {
      expect((await tokens[n % 3]?.request('GET', '/alerts?limit=250'))?.status).toBe(200)
    }
    for (const token of tokens) {
      const refused = await token.request('GET', '/alerts?limit=250')
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      expect(refused.headers.ratelimit).toMatch(/^"read";r=0;t=\d+$/)
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    }
    const provider = '/provider-fsp?rounds=100&provider=0x0000000000000000000000000000000000000001'
    expect((await tokens[0]?.request('GET', provider))?.status).toBe(429)
    // Writes are another class, and other wallets have their own counts.
    expect((await tokens[1]?.request('DELETE', '/alerts?ids=1'))?.status).toBe(200)
    const bob = await signIn(service, 'bob', [], '192.0.2.20')
    expect((await bob.request('GET', '/alerts?limit=250')).status).toBe(200)
  })

  test('allow 120 public reads a minute, per client', async () => {
    const from = '192.0.2.15'
    await times(120, () => request(service, 'GET', '/pricing', undefined, {}, from))
    expect((await request(service, 'GET', '/pricing', undefined, {}, from)).status).toBe(429)
  })
})

describe('a public operation', () => {
  test('may be read by a page of any origin, without credentials', async () => {
    for (const path of ['/pricing', '/openapi.json', '/stats']) {
      const { headers } = await request(service, 'GET', path)
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
    }
  })

  test('responds with JSON only', async () => {
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
