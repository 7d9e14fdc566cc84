import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let origin: string
let watchId: number

beforeAll(async () => {
  service = await serviceOnly({
    SMTP_URL: 'smtp://127.0.0.1:1',
    EMAIL_FROM: 'Watchdog <watchdog@example.org>',
  })
  alice = await withTrial(await signIn(service, 'alice'))
  const { body } = await alice.request('POST', '/watches', {
    type: 'wallet-balance',
    target: { address: alice.caller.wallet, asset: 'FLR' },
    settings: { threshold: '1' },
  })
  watchId = body.id
  origin = await service.server.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

/** Sends a body as it is, with the token. */
async function send(
  method: string,
  path: string,
  body: string | Buffer | undefined,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json' },
) {
  const response = await fetch(`${origin}/api/x402${path}`, {
    method,
    headers: { authorization: `Bearer ${alice.token}`, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  })
  const answer = await response.text()
  return { status: response.status, code: answer === '' ? undefined : JSON.parse(answer).code }
}

/** Bytes of Latin-1, which are no UTF-8 where a letter is above 127. */
const latin = (body: string) => Buffer.from(body, 'latin1')

describe('a body', () => {
  test.each([
    ['PATCH', () => `/watches/${watchId}`, '{"label":"Müller"}'],
    ['POST', () => '/recipients', '{"name":"J","channel":"email","address":"jörg@example.org"}'],
    ['POST', () => '/recipients', '{"name":"J","channel":"webhook","url":"https://e.example/é"}'],
    ['PUT', () => '/settings', '{"timezone":"é"}'],
    ['POST', () => '/auth/challenge', '{"wallet":"é"}'],
  ])('that is not UTF-8 is no JSON: %s %s %s', async (method, path, body) => {
    const malformed = { status: 400, code: 'malformed_json' }
    expect(await send(method, path(), latin(body))).toEqual(malformed)
    const half = Buffer.from(body).subarray(0, Buffer.from(body).indexOf(0xc3) + 1)
    expect(await send(method, path(), Buffer.concat([half, Buffer.from('"}')]))).toEqual(malformed)
  })

  test('that is not UTF-8 uses up no idempotency key', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'the-same' }
    const hook = (end: string) =>
      `{"name":"A","channel":"webhook","url":"https://e.example/${end}"}`
    for (const end of ['café', 'cafü']) {
      const answer = await send('POST', '/recipients', latin(hook(end)), headers)
      expect(answer).toEqual({ status: 400, code: 'malformed_json' })
    }
    expect((await send('POST', '/recipients', hook('café'), headers)).status).toBe(201)
  })

  test.each([
    ['application/json; charset=iso-8859-1', 415],
    ['application/json; charset="windows-1252"', 415],
    ['application/json;Charset=UTF-16', 415],
    ['application/json; a=b; charset=latin1', 415],
    ['application/json; charset=utf-8', 200],
    ['application/json;charset="UTF-8"', 200],
    ['application/json; charset=utf8', 200],
    ['application/json; profile="x"', 200],
  ])('of type %s is answered with %i', async (type, status) => {
    const answer = await send('PATCH', `/watches/${watchId}`, '{"label":"A"}', {
      'content-type': type,
    })
    expect(answer.status).toBe(status)
  })

  test.each([
    'gzip',
    'GZIP',
    'br',
    'deflate',
    'identity, gzip',
    'x',
  ])('in the encoding %s is refused', async (encoding) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
    const refused = { status: 415, code: 'unsupported_media_type' }
    expect(await send('PATCH', `/watches/${watchId}`, gzipSync('{"label":"A"}'), headers)).toEqual(
      refused,
    )
    const form = await fetch(`${origin}/unsubscribe/none`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: new Uint8Array(gzipSync('answer=off')),
    })
    expect(form.status).toBe(415)
  })

  test('in no encoding may say so', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'identity' }
    expect((await send('PATCH', `/watches/${watchId}`, '{"label":"A"}', headers)).status).toBe(200)
  })
})

describe('a request without a body', () => {
  const TYPES = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    ';;',
  ]

  test.each(TYPES)('may have the content type %s', async (type) => {
    const headers = { 'content-type': type }
    expect((await send('DELETE', '/recipients/2147483647', undefined, headers)).status).toBe(404)
    // The trial is used up already.
    expect((await send('POST', '/subscriptions/trial', undefined, headers)).status).toBe(409)
    expect((await send('POST', '/channels/email/test', '', headers)).status).toBe(404)
    expect((await send('PATCH', `/watches/${watchId}`, undefined, headers)).status).toBe(400)
  })

  test('may announce one in pieces that has none, and is refused if it has one', async () => {
    const chunked = async (...pieces: readonly string[]) => {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1')
      await once(socket, 'connect')
      const head = [
        'POST /api/x402/subscriptions/trial HTTP/1.1',
        'host: x',
        'connection: close',
        `authorization: Bearer ${alice.token}`,
        'content-type: text/plain',
        'transfer-encoding: chunked',
      ]
      socket.write([...head, '', ...pieces, '0', '', ''].join('\r\n'))
      return (await text(socket)).slice(9, 12)
    }
    expect(await chunked()).toBe('409')
    expect(await chunked('2', '{}')).toBe('415')
  })
})

describe('a public document', () => {
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const {
      statusCode,
      headers: got,
      rawPayload,
    } = await service.server.inject({
      url: `/api/x402${path}`,
      headers,
    })
    return { status: statusCode, headers: got, bytes: rawPayload }
  }

  test.each([
    '/pricing',
    '/openapi.json',
  ])('is compressed for clients that accept gzip: %s', async (path) => {
    const plain = await get(path)
    expect(plain.headers).not.toHaveProperty('content-encoding')
    expect(plain.headers.vary).toBe('accept-language, accept-encoding')
    for (const accepted of ['gzip', 'br, gzip;q=0.5', 'x-gzip', '*', 'GZIP']) {
      const zipped = await get(path, { 'accept-encoding': accepted })
      expect(zipped.headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-type': 'application/json; charset=utf-8',
        vary: 'accept-language, accept-encoding',
      })
      expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 3)
      expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true)
      // A strong tag is one of bytes.
      expect(zipped.headers.etag).not.toBe(plain.headers.etag)
      const again = { 'accept-encoding': accepted, 'if-none-match': String(zipped.headers.etag) }
      expect((await get(path, again)).status).toBe(304)
    }
    for (const refused of ['br', 'gzip;q=0', 'identity', '*;q=0', '']) {
      const { bytes } = await get(path, { 'accept-encoding': refused })
      expect(bytes.equals(plain.bytes)).toBe(true)
    }
  })

  test('is the only answer that is compressed', async () => {
    const { headers } = await alice.request('GET', '/watches', undefined, {
      'accept-encoding': 'gzip',
    })
    expect(headers).not.toHaveProperty('content-encoding')
  })
})
