import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSafePost } from '#src/channels/safe-fetch.ts'

/** Asks a name server of its own, so that names can lie. */
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

  test('is refused when one of its addresses is private, in either family', async () => {
    names.answer('both.example.org', ['93.184.216.34', '192.168.0.1'])
    await expect(post('https://both.example.org/')).rejects.toMatchObject({
      reason: 'private_address',
    })
    names.answer('mixed.example.org', ['93.184.216.34', 'fe80::1'])
    await expect(post('https://mixed.example.org/')).rejects.toMatchObject({
      reason: 'private_address',
    })
  })

  test('asks once, in the step that connects, so that a second answer cannot differ', async () => {
    names.answer('hook.example.org', ['127.0.0.1'])
    await post('https://hook.example.org/').catch(() => undefined)
    expect(names.questions).toEqual(['hook.example.org A', 'hook.example.org AAAA'])
  })

  test('does not know the names of this machine', async () => {
    await expect(post('https://localhost.localdomain/')).rejects.toMatchObject({
      reason: 'unknown_host',
    })
    expect(names.questions).toContain('localhost.localdomain A')
  })

  test('that nobody knows says so', async () => {
    await expect(post('https://nowhere.example.org/')).rejects.toMatchObject({
      reason: 'unknown_host',
    })
  })

  test('that no name server answers for gives up in time', async () => {
    names.silence()
    const startedAt = performance.now()
    await expect(post('https://hook.example.org/')).rejects.toMatchObject({ reason: 'timeout' })
    expect(performance.now() - startedAt).toBeLessThan(3000)
  })
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

  test('reaches nobody on this machine, whatever the port answers', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    names.answer('hook.example.org', ['127.0.0.1'])
    await post('https://hook.example.org:8443/').catch(() => undefined)
    expect(connections).toBe(0)
    server.close()
  })
})

function post(url: string) {
  const send = createSafePost({
    allowPrivate: false,
    timeoutMs: 1000,
    nameServers: [`127.0.0.1:${names.port}`],
  })
  return send(url, { headers: {}, body: '{}', signal: new AbortController().signal })
}

interface NameServer {
  readonly port: number
  readonly questions: string[]
  answer(name: string, addresses: readonly string[]): void
  silence(): void
  close(): Promise<void>
}

const TYPE_A = 1
const TYPE_AAAA = 28
const NO_SUCH_NAME = 3

/** A name server for a handful of names. @see RFC 1035, section 4.1 */
async function startNameServer(): Promise<NameServer> {
  const known = new Map<string, readonly string[]>()
  const questions: string[] = []
  let isSilent = false
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query)
    questions.push(`${name} ${type === TYPE_A ? 'A' : 'AAAA'}`)
    questions.sort()
    if (isSilent) return
    const addresses = known.get(name)
    const records = (addresses ?? [])
      .filter((address) => address.includes(':') === (type === TYPE_AAAA))
      .map((address) => record(type, address))
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | (addresses === undefined ? NO_SUCH_NAME : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    const answer = Buffer.concat([header, query.subarray(12, end), ...records])
    socket.send(answer, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    questions,
    answer: (name, addresses) => known.set(name, addresses),
    silence: () => {
      isSilent = true
    },
    close: async () => {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** A record of the name asked for, good for a minute. */
function record(type: number, address: string): Buffer {
  const data = type === TYPE_A ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function ipv6Bytes(address: string): Buffer {
  const hex = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [before = '', after] = hex.split('::')
  const groups = (part: string | undefined) => (part ? part.split(':') : [])
  const start = groups(before)
  const end = groups(after)
  const middle = Array.from({ length: 8 - start.length - end.length }, () => '0')
  return Buffer.from(
    [...start, ...middle, ...end].map((group) => group.padStart(4, '0')).join(''),
    'hex',
  )
}
