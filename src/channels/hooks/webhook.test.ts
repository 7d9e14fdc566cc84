import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { envelopeOf, HOSTILE_TEXTS } from '../../../test/support/envelopes.ts'
import type { SendContext } from '../define.ts'
import { retryAfterSeconds } from '../requests/http-answer.ts'
import {
  makeSecret,
  maskUrl,
  rotateSecret,
  signBody,
  signStandard,
  WebhookDestination,
  WebhookPayload,
  webhook,
  webhookBody,
} from './webhook.ts'

const OLD = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const NEW = 'whsec_Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA='
const NOW = new Date('2026-11-20T12:00:00.000Z')
const URL_TEXT = 'https://hooks.example.org:8443/a/b?c=d'

test.each([
  ['https://hooks.example.org/a/f3a1', 'hooks.example.org/…f3a1'],
  ['https://hooks.example.org:8443/a/b?c=d', 'hooks.example.org:8443/…?c=d'],
  ['https://hooks.example.org/hook', 'hooks.example.org/…'],
  ['http://localhost/', 'localhost'],
  ['http://localhost', 'localhost'],
])('of %s is shown %s', (url, shown) => {
  expect(maskUrl(url)).toBe(shown)
})

describe('sign', () => {
  test('gives the known answer', () => {
    expect(signBody(OLD, 1763640000, '{"payloadVersion":2}')).toBe(
      'sha256=6c713b863e27d58e4344f45bb6c915d760fc5c67673b79eb2a30985387fd19b7',
    )
  })

  test('gives the known answer of Standard Webhooks', () => {
    const secret = 'whsec_plJ3nmyCDGBKInavdOK15jsl'
    const body = '{"event_type":"ping","data":{"success":true}}'
    expect(signStandard(secret, 'msg_loFOjxBNrRLzqYUf', 1731705121, body)).toBe(
      'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    )
  })

  test('differs for every other body, timestamp and secret', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(), fc.nat(), (a, b, at, then) => {
        fc.pre(a !== b && at !== then)
        expect(signBody(OLD, at, a)).not.toBe(signBody(OLD, at, b))
        expect(signBody(OLD, at, a)).not.toBe(signBody(OLD, then, a))
        expect(signBody(OLD, at, a)).not.toBe(signBody(NEW, at, a))
      }),
    )
  })
})

describe('makeSecret', () => {
  test('gives 32 random bytes that a destination takes', () => {
    const secrets = new Set(Array.from({ length: 50 }, makeSecret))
    expect(secrets.size).toBe(50)
    for (const secret of secrets) {
      expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32)
      expect(WebhookDestination.safeParse({ url: URL_TEXT, secret }).success).toBe(true)
    }
  })
})

describe('payload', () => {
  test('holds every field of version 2 and no other', () => {
    const envelope = envelopeOf()
    const { isRecovery: _, canRecover: __, ...renderedMessage } = envelope.message
    expect(JSON.parse(webhookBody(envelope))).toEqual({
      payloadVersion: 2,
      signal: 'balance-change',
      group: 'alerts',
      deliveryId: envelope.deliveryId,
      alertId: 4711,
      watchId: 42,
      label: 'Treasury',
      type: 'wallet-balance',
      event: 'wallet-balance.moved',
      severity: 'info',
      data: envelope.data,
      firedAt: '2026-11-20T13:02:31.000Z',
      rendered: {
        locale: 'en',
        title: envelope.message.title,
        body: envelope.message.body,
      },
      renderedMessage: { ...renderedMessage, chainId: 14, network: 'flare' },
    })
  })

  test('keeps null where there is no alert, watch, signal or type', () => {
    const body = JSON.parse(
      webhookBody(
        envelopeOf({
          type: null,
          signal: null,
          group: null,
          message: { alertId: null, watchId: null, watchLabel: null },
        }),
      ),
    )
    expect(body).toMatchObject({ alertId: null, watchId: null, label: null, type: null })
    expect(body).toMatchObject({ signal: null, group: null })
  })

  test('is what its published schema describes, without what a message has for people', () => {
    const secret = { key: 'a', label: 'A', value: '1', internal: true }
    const source = { type: 'feed-move', signal: 'price-move' }
    const whole = envelopeOf({ message: { stated: ['a'], source, fields: [secret] } })
    const body = JSON.parse(webhookBody(whole))
    expect(WebhookPayload.parse(body)).toEqual(body)
    expect(body.renderedMessage).not.toHaveProperty('stated')
    expect(body.renderedMessage).not.toHaveProperty('source')
    expect(body.renderedMessage.fields).toEqual([{ key: 'a', label: 'A', value: '1' }])
  })

  test('is the same string in whatever order the message was put together', () => {
    const { message, ...rest } = envelopeOf()
    const turned = Object.fromEntries(Object.entries(message).reverse())
    expect(webhookBody({ ...rest, message: { ...message, ...turned } })).toBe(
      webhookBody(envelopeOf()),
    )
  })

  test('is valid JSON and well-formed text whatever it holds', () => {
    for (const title of HOSTILE_TEXTS) {
      const body = webhookBody(envelopeOf({ message: { title } }))
      expect(body.isWellFormed()).toBe(true)
      expect(JSON.parse(body).rendered.title).toBe(title)
    }
  })
})

describe('a webhook', () => {
  test('sends what it signs, with every header', async () => {
    const { headers, body, url } = await sent({ url: URL_TEXT, secret: OLD })
    expect(url).toBe(URL_TEXT)
    expect(body).toBe(webhookBody(envelopeOf()))
    expect(headers).toEqual({
      'Content-Type': 'application/json',
      'User-Agent': 'watchdog test',
      'X-Watchdog-Signature': signBody(OLD, 1795176000, body),
      'X-Watchdog-Timestamp': '1795176000',
      'X-Watchdog-Delivery': envelopeOf().deliveryId,
      'X-Watchdog-Event': 'wallet-balance.moved',
      'X-Watchdog-Attempt': '3',
      'webhook-id': envelopeOf().deliveryId,
      'webhook-timestamp': '1795176000',
      'webhook-signature': signStandard(OLD, envelopeOf().deliveryId, 1795176000, body),
    })
  })

  test('signs with both secrets for 24 hours after a rotation', async () => {
    const rotated = rotateSecret({ url: URL_TEXT, secret: OLD }, NEW, hoursAgo(23.999))
    const { headers, body } = await sent(rotated)
    const id = envelopeOf().deliveryId
    expect(headers['X-Watchdog-Signature']).toBe(signBody(OLD, 1795176000, body))
    expect(headers['X-Watchdog-Signature-Next']).toBe(signBody(NEW, 1795176000, body))
    expect(headers['webhook-signature']?.split(' ')).toEqual([
      signStandard(OLD, id, 1795176000, body),
      signStandard(NEW, id, 1795176000, body),
    ])
  })

  test('signs with the new secret alone afterwards', async () => {
    const rotated = rotateSecret({ url: URL_TEXT, secret: OLD }, NEW, hoursAgo(24))
    const { headers, body } = await sent(rotated)
    expect(headers['X-Watchdog-Signature']).toBe(signBody(NEW, 1795176000, body))
    expect(headers).not.toHaveProperty('X-Watchdog-Signature-Next')
    expect(headers['webhook-signature']).not.toContain(' ')
  })

  test('keeps the secret in force through a second rotation', () => {
    const first = rotateSecret({ url: URL_TEXT, secret: OLD }, NEW, hoursAgo(1))
    const third = makeSecret()
    expect(rotateSecret(first, third, NOW)).toMatchObject({ secret: OLD, nextSecret: third })
    const late = rotateSecret({ url: URL_TEXT, secret: OLD }, NEW, hoursAgo(30))
    expect(rotateSecret(late, third, NOW)).toMatchObject({ secret: NEW, nextSecret: third })
  })

  test('takes every 2xx as success', async () => {
    for (const statusCode of [200, 201, 202, 204, 299]) {
      await expect(answered(statusCode)).resolves.toEqual({ statusCode })
    }
  })

  test('takes redirects and errors as failures, and 410 as final', async () => {
    for (const [statusCode, reason, permanent] of [
      [301, 'redirect', false],
      [304, 'redirect', false],
      [400, 'status_400', false],
      [404, 'status_404', false],
      [410, 'gone', true],
      [429, 'status_429', false],
      [500, 'status_500', false],
    ] as const) {
      await expect(answered(statusCode)).rejects.toMatchObject({ statusCode, reason, permanent })
    }
  })

  test('passes on how long it is asked to wait', async () => {
    await expect(answered(503, '120')).rejects.toMatchObject({ retryAfterSeconds: 120 })
    await expect(answered(500)).rejects.toMatchObject({ retryAfterSeconds: undefined })
  })

  test('shows its host and the end of its path', () => {
    const channel = webhook.create({ post: answering(200), allowPrivate: false, userAgent: '' })
    const destination = { url: 'https://hooks.example.org:8443/secret/path-1234', secret: OLD }
    expect(channel.mask(destination)).toBe('hooks.example.org:8443/…1234')
    expect(channel.partitionKey(destination)).toBe('hooks.example.org:8443')
  })
})

describe('retryAfterSeconds', () => {
  test('reads seconds and dates', () => {
    expect(retryAfterSeconds('0', NOW)).toBe(0)
    expect(retryAfterSeconds(' 90 ', NOW)).toBe(90)
    expect(retryAfterSeconds('Fri, 20 Nov 2026 12:02:00 GMT', NOW)).toBe(120)
    expect(retryAfterSeconds('Fri, 20 Nov 2026 11:00:00 GMT', NOW)).toBe(0)
  })

  test.each(['9999999999', '9'.repeat(400)])('takes %s for a very long wait', (value) => {
    expect(retryAfterSeconds(value, NOW)).toBe(2 ** 31)
  })

  test('says nothing where nothing usable is said', () => {
    for (const value of [undefined, '', '-5', '1.5', 'soon', '1e9']) {
      expect(retryAfterSeconds(value, NOW)).toBeUndefined()
    }
  })
})

interface Sent {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

async function sent(destination: WebhookDestination): Promise<Sent> {
  const requests: Sent[] = []
  const channel = webhook.create({
    allowPrivate: false,
    userAgent: 'watchdog test',
    post: async (url, { headers, body }) => {
      requests.push({ url, headers, body })
      return { statusCode: 200, retryAfter: undefined, text: '' }
    },
  })
  await channel.send(destination, envelopeOf(), context())
  const [first] = requests
  if (first === undefined) throw new Error('nothing was sent')
  return first
}

function answered(statusCode: number, retryAfter?: string) {
  const channel = webhook.create({
    allowPrivate: false,
    userAgent: '',
    post: answering(statusCode, retryAfter),
  })
  return channel.send({ url: URL_TEXT, secret: OLD }, envelopeOf(), context())
}

function answering(statusCode: number, retryAfter?: string) {
  return async () => ({ statusCode, retryAfter, text: '' })
}

function context(): SendContext {
  return { attempt: 3, now: NOW, signal: new AbortController().signal, wallet: '0x' }
}

function hoursAgo(hours: number): Date {
  return new Date(NOW.getTime() - hours * 3_600_000)
}
