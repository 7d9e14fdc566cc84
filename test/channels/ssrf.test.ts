import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeSecret } from '#src/channels/hooks/webhook.ts'
import { createChannels } from '#src/channels/index.ts'
import { createSafeSend } from '#src/channels/requests/safe-fetch.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { type NameServer, startNameServer } from '../support/name-server.ts'
import { contextOf } from './worlds.ts'

/**
 * Addresses by which an attacker may try to reach this machine or its network. A socket listens on
 * every address of this machine, at an allowed port; no connection may arrive.
 */
let listener: Server
let visits = 0
let names: NameServer

beforeAll(async () => {
  listener = createServer((socket) => {
    visits += 1
    socket.destroy()
  })
  listener.listen({ host: '::', port: 8443, ipv6Only: false })
  await once(listener, 'listening')
})

afterAll(() => listener.close())

beforeEach(async () => {
  visits = 0
  names = await startNameServer()
})

afterEach(() => names.close())

const REFUSED = /^(url|private_address)$/

describe('a webhook to an address of this machine', () => {
  test.each([
    ['plain', '127.0.0.1'],
    ['another of the range', '127.8.9.10'],
    ['decimal', '2130706433'],
    ['octal', '0177.0.0.1'],
    ['octal, long', '00000000177.0.0.1'],
    ['hexadecimal', '0x7f000001'],
    ['hexadecimal by parts', '0x7f.0x0.0x0.0x1'],
    ['mixed', '0x7f.0.0.01'],
    ['short', '127.1'],
    ['shorter', '127.0.1'],
    ['unspecified', '0.0.0.0'],
    ['unspecified, short', '0'],
    ['with a dot at its end', '127.0.0.1.'],
    ['in full-width digits', '１２７.０.０.１'],
    ['in circled digits', '①②⑦.⓪.⓪.①'],
    ['percent-encoded', '%31%32%37.0.0.1'],
    ['with other dots', '127。0。0。1'],
    ['IPv6', '[::1]'],
    ['IPv6 unspecified', '[::]'],
    ['IPv6, long', '[0:0:0:0:0:0:0:1]'],
    ['v4-mapped', '[::ffff:127.0.0.1]'],
    ['v4-mapped, hexadecimal', '[::ffff:7f00:1]'],
    ['v4-compatible', '[::127.0.0.1]'],
    ['v4-translated', '[::ffff:0:127.0.0.1]'],
    ['NAT64', '[64:ff9b::7f00:1]'],
    ['NAT64 of one’s own', '[64:ff9b:1::7f00:1]'],
    ['6to4', '[2002:7f00:1::]'],
    ['Teredo', '[2001:0:7f00:1::80ff:fffe]'],
    ['by name', 'localhost'],
    ['by name, with a dot', 'localhost.'],
    ['by a name below it', 'x.localhost'],
    ['behind credentials', 'example.org@127.0.0.1'],
    ['behind credentials and a port', 'example.org:8443@127.0.0.1'],
  ])('is never sent: %s', async (_how, host) => {
    const error = await refusalOf(post(`https://${host}:8443/`))
    expect(error).toMatchObject({ reason: expect.stringMatching(REFUSED), permanent: false })
    expect(visits).toBe(0)
    expect(names.questions).toEqual([])
  })

  test('is never sent because of a URL that parsers read differently', async () => {
    for (const url of [
      'https://example.org\\@127.0.0.1:8443/',
      'https://example.org#@127.0.0.1:8443/',
      'https://example.org/@127.0.0.1:8443/',
      'https://example.org?@127.0.0.1:8443/',
    ]) {
      expect(await refusalOf(post(url))).toMatchObject({ reason: 'unknown_host' })
    }
    expect(new Set(names.questions)).toEqual(new Set(['example.org A', 'example.org AAAA']))
    expect(visits).toBe(0)
  })
})

describe('a webhook to an address of the network around this machine', () => {
  test.each([
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['link-local', '169.254.1.1'],
    ['metadata', '169.254.169.254'],
    ['metadata, decimal', '2852039166'],
    ['metadata, v4-mapped', '[::ffff:169.254.169.254]'],
    ['metadata, IPv6', '[fd00:ec2::254]'],
    ['metadata by name', 'metadata.google.internal'],
    ['metadata elsewhere', '100.100.100.200'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['carrier-grade NAT, last', '100.127.255.255'],
    ['benchmarking', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unique local', '[fd12:3456::1]'],
    ['link-local IPv6', '[fe80::1]'],
    ['site-local IPv6', '[fec0::1]'],
    ['multicast IPv6', '[ff02::1]'],
    ['without a dot', 'intranet'],
    ['of the local network', 'printer.local'],
  ])('is never sent: %s, %s', async (_what, host) => {
    const error = await refusalOf(post(`https://${host}:8443/latest/meta-data/`))
    expect(error).toMatchObject({ reason: 'url' })
    expect(names.questions).toEqual([])
  })

  test.each([
    'http://example.org/',
    'https://example.org:80/',
    'https://example.org:8080/',
  ])('is never sent with another scheme or port: %s', async (url) => {
    expect(await refusalOf(post(url))).toMatchObject({ reason: 'url' })
    expect(names.questions).toEqual([])
  })
})

describe('a webhook to a name', () => {
  test.each([
    ['127.0.0.1'],
    ['0.0.0.0'],
    ['::1'],
    ['::'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
    ['10.1.2.3'],
    ['169.254.169.254'],
    ['100.64.0.1'],
    ['fd00::1'],
    ['fe80::1'],
  ])('that resolves to %s is never sent', async (address) => {
    names.answer('hook.example.org', [address])
    const error = await refusalOf(post('https://hook.example.org:8443/'))
    expect(error).toMatchObject({ reason: 'private_address', permanent: false })
    expect(visits).toBe(0)
  })

  test.each([
    [['93.184.216.34', '127.0.0.1']],
    [['127.0.0.1', '93.184.216.34']],
    [['93.184.216.34', '::1']],
    [['2606:2800:220:1::1', '127.0.0.1']],
  ])('that resolves to public and private addresses is never sent: %j', async (addresses) => {
    names.answer('hook.example.org', addresses)
    const error = await refusalOf(post('https://hook.example.org:8443/'))
    expect(error).toMatchObject({ reason: 'private_address' })
    expect(visits).toBe(0)
  })

  test('that resolves differently the second time is resolved once per request, and the checked address is used', async () => {
    names.answer('hook.example.org', ['93.184.216.34'], ['127.0.0.1'])
    await refusalOf(post('https://hook.example.org:8443/'))
    expect(names.questions).toEqual(['hook.example.org A', 'hook.example.org AAAA'])
    expect(visits).toBe(0)
    expect(await refusalOf(post('https://hook.example.org:8443/'))).toMatchObject({
      reason: 'private_address',
    })
    expect(visits).toBe(0)
  })

  test('in other letters, or after credentials, is checked by what it resolves to', async () => {
    names.answer('hook.example.org', ['127.0.0.1'])
    for (const url of [
      'https://HOOK.example.ORG:8443/',
      'https://hook.example.org.:8443/',
      'https://ｈｏｏｋ.example.org:8443/',
      'https://user:pass@hook.example.org:8443/',
      'https://93.184.216.34@hook.example.org:8443/',
    ]) {
      const error = await refusalOf(post(url))
      expect(error).toMatchObject({ reason: expect.stringMatching(REFUSED) })
    }
    expect(visits).toBe(0)
  })
})

describe('every channel that posts to a typed address', () => {
  const channels = createChannels({
    telegram: undefined,
    mailer: undefined,
    from: '',
    publicUrl: 'https://watchdog.example.org',
    allowPrivateUrls: false,
  })

  test('refuses an address of this machine in its form and when sending', async () => {
    const url = 'https://127.0.0.1:8443/api/webhooks/12345678901/aB3-_aB3-_aB3-_aB3-_'
    const slackUrl = 'https://127.0.0.1:8443/services/T0ABCDEF/B0ABCDEF/aB3dE5fG7hI9'
    for (const [channel, destination] of [
      [channels.webhook, { url, secret: makeSecret() }],
      [channels.discord, { url }],
      [channels.slack, { url: slackUrl }],
      [channels.ntfy, { url: 'https://127.0.0.1:8443/watchdog-alerts' }],
      [channels.pagerduty, { url: `https://127.0.0.1:8443/integration/${'a'.repeat(32)}/enqueue` }],
    ] as const) {
      expect(channel.form?.check({ url: destination.url })).toHaveLength(1)
      await expect(channel.send(destination, envelopeOf(), contextOf())).rejects.toThrow()
    }
    expect(visits).toBe(0)
  })
})

test('the test server notices a connection if private addresses are allowed', async () => {
  const send = createSafeSend({ allowPrivate: true })
  const { signal } = new AbortController()
  const sent = send('https://127.0.0.1:8443/', { headers: {}, body: '{}', signal })
  await refusalOf(sent)
  expect(visits).toBe(1)
})

function post(url: string) {
  const send = createSafeSend({
    allowPrivate: false,
    timeoutMs: 5000,
    nameServers: [`127.0.0.1:${names.port}`],
  })
  return send(url, { headers: {}, body: '{}', signal: new AbortController().signal })
}

async function refusalOf(sent: Promise<unknown>): Promise<unknown> {
  return await sent.then(
    () => {
      throw new Error('it was sent')
    },
    (error: unknown) => error,
  )
}
