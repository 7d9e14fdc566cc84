import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSafeSend } from '#src/channels/requests/safe-fetch.ts'
import { type NameServer, startNameServer } from '../support/name-server.ts'

/** Uses a name server of the test, which can give false answers. */
let names: NameServer

beforeEach(async () => {
  names = await startNameServer()
})

afterEach(() => names.close())

describe('a post to a name', () => {
  test.each([
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['169.254.169.254'],
    ['100.64.0.1'],
    ['::1'],
    ['fd00::1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
  ])('that resolves to %s is refused', async (address) => {
    names.answer('hook.example.org', [address])
    await expect(post('https://hook.example.org/')).rejects.toMatchObject({
      reason: 'private_address',
      permanent: false,
    })
  })

  test('is refused if one of its addresses is private, whether IPv4 or IPv6', async () => {
    names.answer('both.example.org', ['93.184.216.34', '192.168.0.1'])
    await expect(post('https://both.example.org/')).rejects.toMatchObject({
      reason: 'private_address',
    })
    names.answer('mixed.example.org', ['93.184.216.34', 'fe80::1'])
    await expect(post('https://mixed.example.org/')).rejects.toMatchObject({
      reason: 'private_address',
    })
  })

  test('is resolved once, when connecting, so that no second lookup can return another address', async () => {
    names.answer('hook.example.org', ['127.0.0.1'])
    await post('https://hook.example.org/').catch(() => undefined)
    expect(names.questions).toEqual(['hook.example.org A', 'hook.example.org AAAA'])
  })

  test('is not resolved by the hosts file of this machine', async () => {
    await expect(post('https://localhost.localdomain/')).rejects.toMatchObject({
      reason: 'unknown_host',
    })
    expect(names.questions).toContain('localhost.localdomain A')
  })

  test('that cannot be resolved fails as an unknown host', async () => {
    await expect(post('https://nowhere.example.org/')).rejects.toMatchObject({
      reason: 'unknown_host',
    })
  })

  test('times out if no name server responds', async () => {
    names.silence()
    await expect(post('https://hook.example.org/', 500)).rejects.toMatchObject({
      reason: 'timeout',
    })
  })
})

test('reports the addresses that a name resolved to, so that hosts on one server can be grouped', async () => {
  const resolved: unknown[] = []
  names.answer('hook.example.org', ['93.184.216.34'])
  const send = createSafeSend({
    allowPrivate: false,
    timeoutMs: 300,
    nameServers: [`127.0.0.1:${names.port}`],
    onResolved: (host, addresses) => resolved.push([host, addresses]),
  })
  const signal = new AbortController().signal
  await send('https://hook.example.org/', { headers: {}, body: '', signal }).catch(() => undefined)
  expect(resolved).toEqual([['hook.example.org', ['93.184.216.34']]])
})

test('waits a shorter time where it is asked to', async () => {
  const server = createServer(() => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const send = createSafeSend({ allowPrivate: true })
  const signal = new AbortController().signal
  await expect(
    send(`http://127.0.0.1:${port}/`, { headers: {}, body: '', signal, timeoutMs: 50 }),
  ).rejects.toMatchObject({ reason: 'timeout' })
  server.closeAllConnections()
  server.close()
})

describe('a post to an address', () => {
  test.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]:8443/',
    'http://example.org/',
    'https://example.org:22/',
    'https://user:pass@example.org/',
  ])('is refused before anything is sent: %s', async (url) => {
    await expect(post(url)).rejects.toMatchObject({ reason: 'url' })
    expect(names.questions).toEqual([])
  })
})

function post(url: string, timeoutMs = 5000) {
  const send = createSafeSend({
    allowPrivate: false,
    timeoutMs,
    nameServers: [`127.0.0.1:${names.port}`],
  })
  return send(url, { headers: {}, body: '{}', signal: new AbortController().signal })
}
