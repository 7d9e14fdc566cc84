import { describe, expect, test } from 'vitest'
import { makeSecret, signBody, webhookBody } from '#src/channels/hooks/webhook.ts'
import { EVENTS, findEventSource } from '#src/watches/events.ts'
import {
  verifyWebhook,
  type Webhook,
  WebhookError,
  type WebhookRequest,
} from '../../clients/typescript/src/index.ts'
import { envelopeOf } from '../support/envelopes.ts'

const SECRET = makeSecret()
const NOW = 1_795_176_000

function signed(body: string, over: Partial<WebhookRequest> = {}): WebhookRequest {
  const headers = {
    'x-watchdog-timestamp': String(NOW),
    'x-watchdog-signature': signBody(SECRET, NOW, body),
  }
  return { secret: SECRET, headers, body, nowSeconds: NOW, ...over }
}

const reasonOf = (request: WebhookRequest) =>
  verifyWebhook(request).then(
    () => 'valid',
    (error: unknown) => (error instanceof WebhookError ? error.reason : error),
  )

describe('verifyWebhook', () => {
  test.each(EVENTS)('accepts %s with its data', async (event) => {
    const data = findEventSource(event)?.signal.examples[event]
    if (data === undefined) throw new Error(`${event} has no example`)
    const envelope = envelopeOf()
    const message = { ...envelope.message, event }
    const webhook = await verifyWebhook(signed(webhookBody({ ...envelope, data, message })))
    expect(webhook).toMatchObject({ payloadVersion: 2, event, data })
  })

  test('narrows the data by the event', async () => {
    const show = (webhook: Webhook): string => {
      switch (webhook.event) {
        case 'wallet-balance.moved':
          return webhook.data.changeAmount
        case 'feed-move.threshold':
          return webhook.data.feed
        default:
          return webhook.rendered.title
      }
    }
    // @ts-expect-error a balance has no feed
    const wrong = (webhook: Webhook<'wallet-balance.moved'>) => webhook.data.feed
    expect([show, wrong].map((value) => typeof value)).toEqual(['function', 'function'])
  })

  test('accepts the body as bytes or text, and the headers of fetch', async () => {
    const body = webhookBody(envelopeOf())
    const bytes = new TextEncoder().encode(body)
    const { headers } = signed(body)
    for (const over of [
      { body: bytes },
      { body: bytes.buffer },
      { headers: new Headers(headers as Record<string, string>) },
    ]) {
      expect(await reasonOf(signed(body, over))).toBe('valid')
    }
  })

  test('accepts a signature of any of several secrets, and refuses an empty secret', async () => {
    const body = webhookBody(envelopeOf())
    expect(await reasonOf(signed(body, { secret: [makeSecret(), SECRET] }))).toBe('valid')
    expect(await reasonOf(signed(body, { secret: [makeSecret()] }))).toBe('wrong signature')
    expect(await reasonOf(signed(body, { secret: '' }))).toBeInstanceOf(TypeError)
  })

  test('refuses a signed body that is not a payload of this version', async () => {
    for (const body of ['', '[]', 'null', '{', '{"payloadVersion":3}']) {
      expect(await reasonOf(signed(body))).toBe('unknown payload')
    }
  })

  test('refuses a timestamp that is not a number', async () => {
    const body = webhookBody(envelopeOf())
    expect(await reasonOf(signed(body, { nowSeconds: Number.NaN }))).toBe('too old or too new')
  })
})

describe('verifyWebhook reads the headers', () => {
  const body = webhookBody(envelopeOf())
  const time = String(NOW)
  const signature = signBody(SECRET, NOW, body)
  const pairs = [
    ['X-Watchdog-Timestamp', time],
    ['X-Watchdog-Signature', signature],
  ] as const
  /** Headers of another implementation than the global one. */
  class OtherHeaders {
    get(name: string): string | null {
      return pairs.find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? null
    }
  }
  const kinds: Readonly<Record<string, WebhookRequest['headers']>> = {
    'of the Fetch API': new Headers(pairs.map(([name, value]): [string, string] => [name, value])),
    'of another implementation': new OtherHeaders(),
    'of a map': new Map(pairs),
    'of a map in lower case': new Map(pairs.map(([name, value]) => [name.toLowerCase(), value])),
    'of an object in their own case': Object.fromEntries(pairs),
    'of an object in upper case': Object.fromEntries(
      pairs.map(([name, value]) => [name.toUpperCase(), value]),
    ),
    'of an object with lists': Object.fromEntries(pairs.map(([name, value]) => [name, [value]])),
    'in pairs': pairs,
    'as raw headers of Node': pairs.flat(),
  }

  test.each(Object.entries(kinds))('%s', async (_kind, headers) => {
    expect(await reasonOf(signed(body, { headers }))).toBe('valid')
  })

  test('but takes no value of another name', async () => {
    const headers = [
      'x-watchdog-signature',
      signature,
      'x-other',
      'x-watchdog-timestamp',
      'y',
      time,
    ]
    expect(await reasonOf(signed(body, { headers }))).toBe('no timestamp')
  })
})

test.each([
  ['a parsed body', { event: 'x' }],
  ['nothing', undefined],
  ['null', null],
  ['a DataView', new DataView(new ArrayBuffer(4))],
  ['a Blob', new Blob(['x'])],
  ['a list', [1, 2]],
  ['a number', 7],
])('verifyWebhook says that %s is not the body as it came', async (_what, body) => {
  const request = { ...signed('x'), body } as unknown as WebhookRequest
  await expect(verifyWebhook(request)).rejects.toThrow(TypeError)
  await expect(verifyWebhook(request)).rejects.toThrow(/before any parser/)
})
