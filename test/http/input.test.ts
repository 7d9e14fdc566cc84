import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let watchId: number

beforeAll(async () => {
  service = await serviceOnly()
  alice = await withTrial(await signIn(service, 'alice'))
  const { body } = await alice.request('POST', '/watches', newWatch())
  watchId = body.id
})
afterAll(() => service.close())

const newWatch = (address: string = alice.caller.wallet) => ({
  type: 'wallet-balance',
  target: { address, asset: 'FLR' },
  settings: { threshold: '1' },
})

/** The digest at the end of a cursor; it needs no secret, so every client can compute one. */
const digest = (filter: unknown) =>
  createHash('sha256').update(canonicalJson(filter)).digest('base64url').slice(0, 6)

describe('no input of a client causes a 500', () => {
  test.each([
    `/account?cursor=zzzzzzzzzzz.1.${digest({})}`,
    `/account?cursor=zzzzzzzzzz.1.${digest({})}`,
    `/account?cursor=1.zzzzzzzzzzzz.${digest({})}`,
    `/alerts?cursor=zzzzzzzzzzz.1.${digest({})}`,
    `/alerts?cursor=1.zzzzzzz.${digest({})}`,
    `/watches?cursor=zzzzzzz.${digest('watches')}`,
    `/subscriptions?cursor=zzzzzzz.${digest('subscriptions')}`,
    `/recipients?cursor=zzzzzzz.${digest('recipients')}`,
    '/alerts?signal=%00',
    '/alerts?event=a%00b',
    '/provider-fsp?provider=%00',
    '/account?type=%00',
  ])('GET %s is refused as malformed', async (path) => {
    const answer = await alice.request('GET', path)
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
  })

  test.each([
    '0000-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59-23:59',
  ])('%s is refused as a time in a query or a body', async (time) => {
    for (const path of ['/account?from=', '/account?to=', '/alerts?from=', '/alerts?to=']) {
      const answer = await alice.request('GET', path + encodeURIComponent(time))
      expect([path, answer.status, answer.body.errors?.[0]?.code]).toEqual([path, 400, 'instant'])
    }
    for (const [method, path, body] of [
      ['PATCH', `/watches/${watchId}`, { mutedUntil: time }],
      ['DELETE', '/alerts', { before: time }],
    ] as const) {
      const answer = await alice.request(method, path, body)
      expect([path, answer.status, answer.body.errors?.[0]?.code]).toEqual([path, 400, 'instant'])
    }
  })

  test('the first and the last accepted instant are accepted', async () => {
    for (const time of ['1970-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z']) {
      expect((await alice.request('GET', `/account?from=${time}`)).status).toBe(200)
      expect((await alice.request('GET', `/alerts?from=${time}`)).status).toBe(200)
      expect(
        (await alice.request('PATCH', `/watches/${watchId}`, { mutedUntil: time })).status,
      ).toBe(200)
    }
  })

  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

  test('a body nested 33 levels deep is refused, a body of 32 levels is read', async () => {
    const preview = (levels: number) =>
      alice.request(
        'POST',
        '/message-preview',
        // The body itself is the first level.
        `{"event":"wallet-balance.moved","data":${deep(levels - 1)}}`,
      )
    expect((await preview(32)).status).toBe(200)
    for (const levels of [33, 8000]) {
      const answer = await preview(levels)
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
      expect(answer.body.errors[0]).toMatchObject({ code: 'too_deep' })
    }
  })

  test('a body that is too deep is refused also with an idempotency key', async () => {
    const body = `{"type":"wallet-balance","target":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
    const answer = await alice.request('POST', '/watches', body, { 'idempotency-key': 'deep' })
    expect(answer.body.errors[0]).toMatchObject({ code: 'too_deep' })
  })

  test('text that PostgreSQL cannot store is refused, and the problem points to it', async () => {
    const event = 'wallet-balance.moved'
    for (const [data, pointer, code] of [
      ['{"a":"\\u0000"}', '/data/a', 'control_characters'],
      ['{"a\\u0000":1}', '/data', 'control_characters'],
      ['{"a":["\\ud800"]}', '/data/a/0', 'malformed_text'],
    ] as const) {
      const body = `{"event":"${event}","data":${data}}`
      const answer = await alice.request('POST', '/message-preview', body)
      expect([answer.status, answer.body.errors]).toEqual([
        400,
        [expect.objectContaining({ pointer, code })],
      ])
    }
  })
})

describe('an address', () => {
  const checksummed = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'
  const wrong = checksummed.replace('3f12B8', '3F12B8')
  /** The reads and writes that take an address. */
  const uses = [
    [
      'POST /auth/challenge',
      (wallet: string) => alice.request('POST', '/auth/challenge', { wallet }),
    ],
    ['GET /provider-fsp', (text: string) => alice.request('GET', `/provider-fsp?provider=${text}`)],
    ['POST /watches', (text: string) => alice.request('POST', '/watches', newWatch(text))],
  ] as const

  test.each(uses)('with a wrong checksum is refused: %s', async (_name, use) => {
    const answer = await use(wrong)
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(answer.body.errors).toMatchObject([{ code: 'checksum' }])
  })

  test.each([
    ['checksummed', checksummed],
    ['in lower case', checksummed.toLowerCase()],
    ['in upper case', `0x${checksummed.slice(2).toUpperCase()}`],
    ['in upper case with its prefix', checksummed.toUpperCase()],
  ])('is accepted %s, and shown with its checksum', async (_name, wallet) => {
    const answer = await alice.request('POST', '/auth/challenge', { wallet })
    expect(answer).toMatchObject({ status: 200, body: { wallet: checksummed } })
    expect((await alice.request('GET', `/provider-fsp?provider=${wallet}`)).status).not.toBe(400)
  })
})

describe('the answer to wrong input', () => {
  const MANY = Array.from({ length: 1500 }, (_, n) => `unknown${n}`)
  const LONG = 'k'.repeat(3000)
  const HEAVY = '"~/\u{1F600}'.repeat(500)

  /** Bytes of a request's body or query, and of its answer. */
  async function sizes(method: string, path: string, body?: unknown) {
    const { status, text } = await alice.request(
      method,
      path.replace('{id}', String(watchId)),
      body,
    )
    expect(status).toBe(400)
    const sent = body === undefined ? path : JSON.stringify(body)
    return { sent: Buffer.byteLength(sent), got: Buffer.byteLength(text) }
  }

  test.each<[string, string, string, unknown]>([
    [
      'many unknown parameters',
      'GET',
      `/alerts?${MANY.map((name) => `${name}=1`).join('&')}`,
      undefined,
    ],
    ['many tokens', 'GET', `/alerts?${MANY.map((name) => `${name}=fwd_x`).join('&')}`, undefined],
    ['one parameter with a long name', 'GET', `/alerts?${LONG}=1`, undefined],
    [
      'a name of characters that are escaped',
      'GET',
      `/alerts?${encodeURIComponent(HEAVY)}=1`,
      undefined,
    ],
    [
      'many unknown properties',
      'PATCH',
      '/watches/{id}',
      Object.fromEntries(MANY.map((name) => [name, 1])),
    ],
    [
      'a long name around many errors',
      'PATCH',
      '/watches/{id}',
      { [LONG]: { [LONG]: MANY.map(() => 'a\0b') } },
    ],
    ['many wrong items', 'DELETE', '/alerts', { ids: MANY.map(() => 'x') }],
    [
      'many misspelt choices',
      'POST',
      '/auth/challenge',
      { wallet: '0x123', scopes: MANY.map(() => 'wrte') },
    ],
    ['a long wrong value', 'PATCH', '/watches/{id}', { minSeverity: LONG, status: HEAVY }],
  ])('is not larger than twice the request: %s', async (_what, method, path, body) => {
    const { sent, got } = await sizes(method, path, body)
    expect(got).toBeLessThan(2 * sent)
    expect(got).toBeLessThan(8000)
  })

  test('names the property, the signal and the parameter that were probably meant', async () => {
    const patch = async (change: object) => {
      const { body } = await alice.request('PATCH', `/watches/${watchId}`, change)
      return body.errors?.map(({ code, detail }: { code: string; detail: string }) => [
        code,
        detail,
      ])
    }
    const meant = (name: string) => expect.stringContaining(`Did you mean ${name}?`)
    expect(await patch({ lable: 'A', min_severity: 'info', colour: 'red' })).toEqual([
      ['unknown', meant('label')],
      ['unknown', meant('minSeverity')],
      ['unknown', 'Unknown property.'],
    ])
    expect(await patch({ signals: [{ id: 'balance-chnage' }] })).toEqual([
      ['signal', meant('balance-change')],
    ])
    expect(await patch({ signals: [{ id: 'weather' }] })).toEqual([
      ['signal', 'This watch type has no such signal.'],
    ])
  })

  test('lists the first 20 errors, with the beginning of a long place', async () => {
    const { body } = await alice.request('PATCH', `/watches/${watchId}`, {
      [LONG]: 1,
      ...Object.fromEntries(MANY.map((name) => [name, 1])),
    })
    expect(body.errors).toHaveLength(20)
    expect(body.errors[0]).toMatchObject({ pointer: `/${'k'.repeat(198)}…`, code: 'unknown' })
    expect(body.errors[1]).toMatchObject({ pointer: '/unknown0', code: 'unknown' })
  })
})
