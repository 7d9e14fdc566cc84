import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** A name server of one test, for false answers. */
export interface NameServer {
  readonly port: number
  readonly questions: string[]
  /** Sets the answers of a name, given in sequence; the last one repeats. */
  answer(name: string, ...answers: readonly (readonly string[])[]): void
  silence(): void
  close(): Promise<void>
}

const TYPE_A = 1
const TYPE_AAAA = 28
const NO_SUCH_NAME = 3

/**
 * Starts a name server for a few names.
 * @see RFC 1035, section 4.1
 */
export async function startNameServer(): Promise<NameServer> {
  const known = new Map<string, readonly (readonly string[])[]>()
  const asked = new Map<string, number>()
  const questions: string[] = []
  let isSilent = false
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query)
    questions.push(`${name} ${type === TYPE_A ? 'A' : 'AAAA'}`)
    questions.sort()
    if (isSilent) return
    const question = `${name} ${type}`
    const times = asked.get(question) ?? 0
    asked.set(question, times + 1)
    const answers = known.get(name)
    const addresses = answers?.[times] ?? answers?.at(-1)
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
    answer: (name, ...answers) => known.set(name, answers),
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

/** A record of the requested name, valid for a minute. */
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
