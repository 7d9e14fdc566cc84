/**
 * JSON-RPC endpoints whose answers are checked: the transactions of a block against the root in its header,
 * the header against its hash, one endpoint against the others.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { eachAtOnce } from './each-at-once.ts'
import { keccak } from './keccak.ts'
import { hasHash, receiptsRoot, senderOf, transactionsRoot } from './roots.ts'

/** The chain says something else than the evidence. */
export class Refuted extends Error {}
/** The evidence could not be checked: an endpoint is unreachable, pruned, or lies. */
export class Unchecked extends Error {}

export type Fields = Record<string, unknown>

export interface Transaction {
  readonly hash: string
  readonly blockHash: string
  readonly from: string
  readonly to: string | null
  readonly input: string
  readonly blockNumber: string
  readonly transactionIndex: string
}

export interface Block {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Epoch seconds. */
  readonly at: number
  readonly transactions: readonly Transaction[]
  readonly receiptsRoot: string
  readonly bloom: Buffer
}

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly block: number
  readonly index: number
}

export interface LogFilter {
  readonly addresses: readonly string[]
  /** Alternatives by position; undefined: any. */
  readonly topics: readonly (readonly string[] | undefined)[]
}

/** Public endpoints of Flare answer for at most 30 blocks. */
const LOG_BLOCKS = 30
const TIMEOUT_MS = 30_000
const TRIES = 4
const PAUSE_MS = 500

export interface Rpc {
  /** Answer of the first endpoint, if all others answer the same; `eth_blockNumber` is of the first alone. */
  call(method: string, params: readonly unknown[]): Promise<unknown>
  /** A block with checked transactions. */
  block(number: number): Promise<Block>
  /** Blocks without gaps, each the parent of the next. */
  blocks(from: number, to: number): Promise<readonly Block[]>
  /** Events in blocks; where a block's filter says that there may be some, receipts confirm their absence. */
  logs(filter: LogFilter, from: number, to: number): Promise<readonly Log[]>
  /** The signer of a transaction, in lower case. @throws Unchecked if the endpoint names another sender */
  sender(transaction: Transaction): string
  /** The receipt of a transaction in a block, checked against the header where the endpoint has them all. */
  receipt(hash: string, block: number): Promise<Fields>
  /** What was taken from the endpoint without a proof; empty if nothing was. */
  unproven(): readonly string[]
}

/** Creates the client of these endpoints. */
export function createRpc(urls: readonly string[]): Rpc {
  const known = new Map<number, Promise<Block>>()
  const answers = new Map<string, Promise<unknown>>()
  const receiptsOf = new Map<number, Promise<readonly Fields[] | undefined>>()
  let [proven, unproven] = [0, 0]
  const taken = new Set<string>()

  async function ask(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await request(url, method, params)
      } catch (error) {
        if (error instanceof Unchecked || attempt === TRIES) {
          throw new Unchecked(`${method}: ${(error as Error).message}`)
        }
        // Public endpoints limit requests.
        await wait(PAUSE_MS * 2 ** attempt)
      }
    }
  }
  /** Asks once what stays as it is: all but the newest block, and what is asked of it. */
  function call(method: string, params: readonly unknown[]): Promise<unknown> {
    if (method === 'eth_blockNumber' || params.includes('latest')) return askAll(method, params)
    const key = JSON.stringify([method, params])
    const answer = answers.get(key) ?? askAll(method, params)
    answers.set(key, answer)
    const forget = () => answers.delete(key)
    answer.then((found) => found ?? forget(), forget)
    return answer
  }

  async function askAll(method: string, params: readonly unknown[]): Promise<unknown> {
    const asked = method === 'eth_blockNumber' ? urls.slice(0, 1) : urls
    const said = await Promise.all(asked.map((url) => ask(url, method, params)))
    if (new Set(said.map((answer) => JSON.stringify(matterOf(method, answer)))).size > 1) {
      throw new Unchecked(`the endpoints contradict each other about ${method}`)
    }
    return said[0]
  }

  async function readBlock(number: number): Promise<Block> {
    const params = [`0x${number.toString(16)}`, true]
    const answers = await Promise.all(
      urls.map((url) => ask(url, 'eth_getBlockByNumber', params) as Promise<Fields | null>),
    )
    if (answers.some((answer) => answer === null)) {
      throw new Unchecked(`an endpoint has no block ${number}: it is behind, or pruned`)
    }
    const contents = new Set(answers.map((answer) => JSON.stringify(contentOf(answer as Fields))))
    if (contents.size > 1)
      throw new Unchecked(`the endpoints contradict each other about block ${number}`)
    const blocks = (answers as readonly Fields[]).map((raw) => readBlockOf(raw, number))
    const [block] = blocks
    if (block === undefined) throw new Unchecked('no endpoint was given')
    return block
  }

  function readBlockOf(raw: Fields, number: number): Block {
    const transactions = raw['transactions'] as readonly Transaction[]
    const hash = text(raw['hash'])
    if (Number(raw['number']) !== number) throw lie(`answers with another block than ${number}`)
    if (transactions.some((transaction) => transaction.blockHash?.toLowerCase() !== hash)) {
      throw lie(`has transactions of another block in block ${number}`)
    }
    const root = transactionsRoot(transactions as unknown as readonly Fields[])
    if (root !== undefined && root !== text(raw['transactionsRoot'])) {
      throw lie(
        `leaves out or changes transactions of block ${number}: its header has another root`,
      )
    }
    // Headers of later upgrades may have fields that this script does not know: then none can be proven.
    if (hasHash(raw, hash)) proven += 1
    else unproven += 1
    if (proven > 0 && unproven > 0)
      throw lie(`has a header of block ${number} that is not its hash`)
    return {
      number,
      hash,
      parentHash: text(raw['parentHash']),
      at: Number(raw['timestamp']),
      transactions,
      receiptsRoot: text(raw['receiptsRoot']),
      bloom: Buffer.from(text(raw['logsBloom']).slice(2), 'hex'),
    }
  }

  const block = (number: number): Promise<Block> => {
    const found = known.get(number) ?? readBlock(number)
    known.set(number, found)
    return found
  }

  async function blocks(from: number, to: number): Promise<readonly Block[]> {
    const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
    const found = await eachAtOnce(numbers, block)
    for (const [index, block] of found.entries()) {
      const parent = found[index - 1]
      if (parent !== undefined && parent.hash !== block.parentHash) {
        throw lie(`has a block ${block.number} that does not follow block ${parent.number}`)
      }
    }
    return found
  }

  async function logs(filter: LogFilter, from: number, to: number): Promise<readonly Log[]> {
    const starts: number[] = []
    for (let start = from; start <= to; start += LOG_BLOCKS) starts.push(start)
    const found = (
      await eachAtOnce(starts, async (start) => {
        const end = Math.min(to, start + LOG_BLOCKS - 1)
        const place = { fromBlock: hex(start), toBlock: hex(end) }
        const asked = { ...place, address: filter.addresses, topics: filter.topics.map(orNull) }
        const raws = (await call('eth_getLogs', [asked])) as readonly Fields[]
        return raws.map(readLog)
      })
    ).flat()
    for (const log of found) {
      if (!fits(filter, log)) throw lie('answers with events that were not asked for')
    }
    const having = new Set(found.map((log) => log.block))
    const mayHave = bloomTest(filter)
    for (const block of await blocks(from, to)) {
      if (!having.has(block.number) && mayHave(block.bloom)) await confirmNone(filter, block)
    }
    return found
  }

  async function confirmNone(filter: LogFilter, block: Block): Promise<void> {
    const receipts = await eachAtOnce(
      block.transactions,
      ({ hash }) => call('eth_getTransactionReceipt', [hash]) as Promise<Fields | null>,
    )
    for (const receipt of receipts) {
      if (receipt === null)
        throw new Unchecked(`the endpoint has no receipts of block ${block.number}`)
      const own = (receipt['logs'] as readonly Fields[]).map(readLog)
      if (own.some((log) => fits(filter, log)))
        throw lie(`leaves out events of block ${block.number}`)
    }
  }

  function sender(transaction: Transaction): string {
    const from = transaction.from.toLowerCase()
    const signer = senderOf(transaction as unknown as Fields)
    if (signer === undefined) taken.add('senders')
    else if (signer !== from) throw lie(`names a sender of ${transaction.hash} who did not sign it`)
    return from
  }

  /** All receipts of a block; undefined if the endpoint does not give them at once. */
  async function readReceipts(block: Block): Promise<readonly Fields[] | undefined> {
    let answer: unknown
    try {
      answer = await call('eth_getBlockReceipts', [hex(block.number)])
    } catch (error) {
      if (error instanceof Unchecked && !error.message.includes('contradict')) return undefined
      throw error
    }
    if (!Array.isArray(answer)) return undefined
    const receipts = answer as readonly Fields[]
    if (receiptsRoot(receipts) !== block.receiptsRoot) {
      throw lie(`changes receipts of block ${block.number}: its header has another root`)
    }
    return receipts
  }

  async function receipt(hash: string, number: number): Promise<Fields> {
    const found = receiptsOf.get(number) ?? block(number).then(readReceipts)
    receiptsOf.set(number, found)
    const all = await found
    const place = all?.findIndex((receipt) => text(receipt['transactionHash']) === text(hash)) ?? -1
    if (all !== undefined && place >= 0) {
      const gas = (at: number) => BigInt(text(all[at]?.['cumulativeGasUsed'] ?? '0x0'))
      return { ...all[place], gasUsed: `0x${(gas(place) - gas(place - 1)).toString(16)}` }
    }
    const alone = (await call('eth_getTransactionReceipt', [hash])) as Fields | null
    if (alone === null) throw new Unchecked(`the endpoint has no receipt of ${hash}`)
    taken.add('outcomes of transactions')
    return alone
  }

  return {
    ...{ call, block, blocks, logs, sender, receipt },
    unproven: () => [...(unproven === 0 ? [] : ['hashes of headers']), ...taken],
  }
}

/** Sends a request of JSON-RPC. @throws Unchecked when the endpoint refuses it */
export async function request(url: string, method: string, params: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`the endpoint answers ${response.status}`)
  const answer = (await response.json()) as { result?: unknown; error?: { message?: unknown } }
  if (answer.error) throw new Unchecked(String(answer.error.message))
  if (answer.result === undefined) throw new Error('the endpoint gives no result')
  return answer.result
}

/** What endpoints must agree on about a block. */
function contentOf(raw: Fields): unknown {
  const transactions = raw['transactions'] as readonly Transaction[]
  return [text(raw['hash']), transactions.map(({ hash, from }) => [text(hash), text(from)])]
}

/** What endpoints must agree on in an answer; programs add properties of their own. */
function matterOf(method: string, answer: unknown): unknown {
  if (method === 'eth_getLogs') return (answer as readonly Fields[]).map(readLog)
  if (method === 'eth_getBlockReceipts') {
    return (answer as readonly Fields[] | null)?.map((receipt) =>
      matterOf('eth_getTransactionReceipt', receipt),
    )
  }
  if (answer === null) return null
  const some = answer as Fields
  const of = (...names: readonly string[]) => names.map((name) => text(some[name]))
  if (method === 'eth_getTransactionByHash') {
    return of('hash', 'blockNumber', 'from', 'to', 'input', 'gas')
  }
  if (method === 'eth_getTransactionReceipt') {
    const logs = (some['logs'] as readonly Fields[]).map(readLog)
    return [...of('transactionHash', 'blockNumber', 'status', 'gasUsed'), logs]
  }
  return answer
}

function lie(what: string): Unchecked {
  return new Unchecked(`the endpoint lies: it ${what}`)
}

function text(value: unknown): string {
  return String(value).toLowerCase()
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}

function orNull(topics: readonly string[] | undefined): readonly string[] | null {
  return topics ?? null
}

function readLog(raw: Fields): Log {
  return {
    address: text(raw['address']),
    topics: (raw['topics'] as readonly string[]).map(text),
    data: text(raw['data']),
    block: Number(raw['blockNumber']),
    index: Number(raw['logIndex']),
  }
}

function fits({ addresses, topics }: LogFilter, log: Log): boolean {
  if (!addresses.includes(log.address)) return false
  return topics.every((some, at) => some === undefined || some.includes(log.topics[at] ?? ''))
}

/** Tells from the bloom filter of a block whether it may have an event of the filter. */
function bloomTest({ addresses, topics }: LogFilter): (bloom: Buffer) => boolean {
  const bitsOf = (value: string) => {
    const hash = keccak(Buffer.from(value.slice(2), 'hex'))
    return [0, 2, 4].map((at) => hash.readUInt16BE(at) & 2047)
  }
  const wanted = [addresses, ...topics].flatMap((some) => (some ? [some.map(bitsOf)] : []))
  const has = (bloom: Buffer, bit: number) => ((bloom[255 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1
  return (bloom) => wanted.every((any) => any.some((bits) => bits.every((bit) => has(bloom, bit))))
}
