import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  makeSecret,
  rotateSecret,
  signBody,
  WEBHOOK_HEADERS,
  webhookBody,
} from '#src/channels/hooks/webhook.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { contextOf, NOW, type WebhookWorld, webhookWorld } from './worlds.ts'

let world: WebhookWorld

beforeEach(async () => {
  world = await webhookWorld()
})

afterEach(() => world.close())

describe('a delivery', () => {
  test('has signatures that are valid for the exact bytes of the body', async () => {
    await world.channel.send(world.destination(), envelopeOf(), contextOf({ attempt: 2 }))
    const [delivery] = world.receiver.deliveries
    expect(delivery?.verdicts).toMatchObject({
      watchdog: { ok: true, ageSeconds: 0 },
      watchdogNext: { ok: false, reason: 'missing' },
      standard: { ok: true },
    })
    expect(delivery?.rawBody.toString('utf8')).toBe(webhookBody(envelopeOf()))
    expect(delivery?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-watchdog-delivery': envelopeOf().deliveryId,
      'x-watchdog-event': 'wallet-balance.moved',
      'x-watchdog-attempt': '2',
      'webhook-id': envelopeOf().deliveryId,
    })
  })

  test('has the published headers, and no others of the service', async () => {
    const rotating = rotateSecret(
      { url: world.receiver.url(), secret: world.secret },
      makeSecret(),
      NOW,
    )
    const test = { ...envelopeOf(), message: { ...envelopeOf().message, test: true } }
    await world.channel.send(world.destination(), envelopeOf(), contextOf())
    await world.channel.send(rotating, test, contextOf())
    const sent = world.receiver.deliveries.map(({ headers }) =>
      Object.keys(headers).filter((name) => /^(x-watchdog|webhook)-/.test(name)),
    )
    const named = (headers: readonly { readonly name: string }[]) =>
      headers.map(({ name }) => name.toLowerCase()).toSorted()
    expect(sent.map((names) => names.toSorted())).toEqual([
      named(WEBHOOK_HEADERS.filter(({ isAlwaysSent }) => isAlwaysSent)),
      named(WEBHOOK_HEADERS),
    ])
  })

  test('has signatures of the old and the new secret during a rotation', async () => {
    const next = makeSecret()
    const destination = rotateSecret({ url: world.receiver.url(), secret: world.secret }, next, NOW)
    await world.channel.send(destination, envelopeOf(), contextOf())
    world.receiver.setSecret('main', next)
    await world.channel.send(destination, envelopeOf(), contextOf())
    const [old, fresh] = world.receiver.deliveries
    expect(old?.verdicts).toMatchObject({ watchdog: { ok: true }, standard: { ok: true } })
    expect(fresh?.verdicts).toMatchObject({
      watchdog: { ok: false, reason: 'mismatch' },
      watchdogNext: { ok: true },
      standard: { ok: true },
    })
  })
})

describe('a rotation', () => {
  test('sends both signatures for exactly 24 hours', async () => {
    const next = makeSecret()
    const destination = rotateSecret({ url: world.receiver.url(), secret: world.secret }, next, NOW)
    const day = 86_400_000
    world.receiver.answerAlways(200)
    for (const elapsed of [0, day - 1, day]) {
      const now = new Date(NOW.getTime() + elapsed)
      await world.channel.send(destination, envelopeOf(), contextOf({ now }))
    }
    const signed = world.receiver.deliveries.map(({ headers, rawBody }) => {
      const at = Number(headers['x-watchdog-timestamp'])
      const by = (header: string) =>
        [world.secret, next].findIndex(
          (secret) => headers[header] === signBody(secret, at, rawBody.toString('utf8')),
        )
      return [by('x-watchdog-signature'), by('x-watchdog-signature-next')]
    })
    const [OLD, NEW, NONE] = [0, 1, -1]
    expect(signed).toEqual([
      [OLD, NEW],
      [OLD, NEW],
      [NEW, NONE],
    ])
    const standard = world.receiver.deliveries.map(
      ({ headers }) => String(headers['webhook-signature']).split(' ').length,
    )
    expect(standard).toEqual([2, 2, 1])
  })
})

describe('a message that is not an alert', () => {
  test.each([
    'reminder',
    'group',
    'rollup',
    'summary',
    'notice',
  ] as const)('is never sent: %s', async (kind) => {
    const send = world.channel.send(world.destination(), envelopeOf({ kind }), contextOf())
    await expect(send).rejects.toThrow(kind)
    expect(world.receiver.deliveries).toHaveLength(0)
  })
})

describe('an endpoint', () => {
  test('that refuses connections fails with the reason `refused`', async () => {
    const url = world.receiver.url()
    await world.receiver.close()
    await expect(sendTo(url)).rejects.toMatchObject({ reason: 'refused', permanent: false })
  })

  test('that breaks the connection fails', async () => {
    world.receiver.answerNext('reset')
    await expect(sendTo(world.receiver.url())).rejects.toMatchObject({ reason: 'reset' })
  })

  test('that redirects fails, and the redirect is not followed', async () => {
    const headers = { Location: world.receiver.url('other') }
    world.receiver.answerNext({ status: 307, headers })
    await expect(sendTo(world.receiver.url())).rejects.toMatchObject({
      reason: 'redirect',
      statusCode: 307,
    })
    expect(world.receiver.deliveries).toHaveLength(1)
  })

  test('that responds with an endless body counts as delivered, and the connection is closed', async () => {
    let sentBytes = 0
    const isCut = Promise.withResolvers<void>()
    const server = await serve((_request, response) => {
      response.writeHead(200)
      response.once('close', isCut.resolve)
      const more = () => {
        while (!response.destroyed) {
          sentBytes += 1024
          if (!response.write('x'.repeat(1024))) break
        }
      }
      response.on('drain', more)
      more()
    })
    await expect(sendTo(server.url)).resolves.toEqual({ statusCode: 200 })
    await isCut.promise
    expect(sentBytes).toBeLessThan(8 * 1024 * 1024)
    await server.close()
  })

  test('that never ends its response counts as delivered', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200)
      response.write('begun')
    })
    await expect(sendTo(server.url)).resolves.toEqual({ statusCode: 200 })
    await server.close()
  })

  test('that does not speak HTTP fails', async () => {
    const server = await serve((_request, response) => {
      response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n\r\n')
    })
    await expect(sendTo(server.url)).rejects.toMatchObject({ reason: 'bad_answer' })
    await server.close()
  })

  test('with huge headers fails', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'X-Huge': 'x'.repeat(64 * 1024) }).end()
    })
    await expect(sendTo(server.url)).rejects.toMatchObject({ permanent: false })
    await server.close()
  })
})

function sendTo(url: string) {
  return world.channel.send({ url, secret: world.secret }, envelopeOf(), contextOf())
}

async function serve(listener: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
