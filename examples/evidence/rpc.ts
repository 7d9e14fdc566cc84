/**
 * JSON-RPC endpoints whose answers are checked: the transactions and receipts of a block against the roots in its header,
 * the header against its hash, one endpoint against the others. What contracts answer is compared only.
 */
import { setTimeout as wait } from 'node:timers/promises'
import {
  bloomTest,
  fits,
  type Log,
  type LogFilter,
  matterOf,
  type Receipt,
  receiptsIn,
  text,
  withoutRaw,
} from './answers.ts'
import { eachAtOnce } from './each-at-once.ts'
import { Lie, Reverted, request, Unchecked, unknownState } from './request.ts'
import { type Fields, hasHash, hashOf, receiptsRoot, senderOf, transactionsRoot } from './roots.ts'

export { Lie, Reverted, Unchecked } from './request.ts'

/** The chain says something else than the evidence. */
export class Refuted extends Error {}

/** A transaction of a block; addresses and hashes in lower case. */
export interface Transaction {
  readonly hash: string
  readonly from: string
  readonly to: string | null
  readonly input: string
  readonly gas: number
  /** As the endpoint gave it. */
  readonly raw: Fields
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

const TRIES = 4
const PAUSE_MS = 500
/** Blocks that are read before the events in them are looked for. */
const BLOCKS_AT_ONCE = 200

export interface Rpc {
  /** Whether no second endpoint can contradict. */
  readonly isAlone: boolean
  /** Answer of the first endpoint, if all others answer the same; `eth_blockNumber` is of the first alone. */
  call(method: string, params: readonly unknown[]): Promise<unknown>
  /** A block with checked transactions. */
  block(number: number): Promise<Block>
  /** Blocks without gaps, each the parent of the next. */
  blocks(from: number, to: number): Promise<readonly Block[]>
  /** Events in blocks without gaps, from the receipts of each block whose filter says that there may be some. */
  logs(filter: LogFilter, from: number, to: number): Promise<readonly Log[]>
  /** The signer of a transaction. @throws Unchecked if the endpoint names another sender */
  sender(transaction: Transaction): string
  /** The receipt of a transaction in a block. */
  receipt(hash: string, block: number): Promise<Receipt>
  /** What was taken from the endpoints because they agree, without a proof. */
  unproven(): readonly string[]
}

/** Creates the client of these endpoints. Addresses of the same host are one endpoint. */
export function createRpc(urls: readonly string[]): Rpc {
  const known = new Map<number, Promise<Block>>()
  const answers = new Map<string, Promise<unknown>>()
  const receiptsOf = new Map<number, Promise<readonly Receipt[]>>()
  const taken = new Set(['what contracts answer'])
  const isAlone = new Set(urls.map((url) => new URL(url).host)).size < 2

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
    const said = await Promise.allSettled(asked.map((url) => ask(url, method, params)))
    const failed = said.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    const other = failed.find((error) => !(error instanceof Reverted))
    if (other !== undefined) throw other
    const given = said.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const matters = new Set(given.map((answer) => JSON.stringify(matterOf(method, answer))))
    // That a contract reverts is an answer, too.
    if (matters.size + Math.min(1, failed.length) > 1) {
      throw new Lie(`the endpoints contradict each other about ${method}`)
    }
    if (failed.length > 0) throw failed[0]
    return given[0]
  }

  async function readBlock(number: number): Promise<Block> {
    const params = [hex(number), true]
    const raws = (await Promise.all(
      urls.map((url) => ask(url, 'eth_getBlockByNumber', params)),
    )) as readonly (Fields | null)[]
    const given = raws.filter((raw) => raw !== null)
    if (given.length < urls.length) {
      throw new Unchecked(`an endpoint has no block ${number}: it is behind, or pruned`)
    }
    const blocks = given.map((raw) => readBlockOf(raw, number))
    const [block] = blocks
    if (block === undefined) throw new Unchecked('no endpoint was given')
    // Of headers and transactions that are proven, equal hashes are enough; of others, everything that is used must agree.
    const others = blocks.slice(1)
    if (
      others.some(
        (other) => JSON.stringify(other, withoutRaw) !== JSON.stringify(block, withoutRaw),
      )
    ) {
      throw new Lie(`the endpoints contradict each other about block ${number}`)
    }
    return block
  }

  function readBlockOf(raw: Fields, number: number): Block {
    const hash = text(raw['hash'])
    if (Number(raw['number']) !== number) throw lie(`answers with another block than ${number}`)
    const listed = raw['transactions'] as readonly Fields[]
    const transactions = listed.map((own) => readTransaction(own, hash, number))
    const root = transactionsRoot(listed)
    if (root === undefined) taken.add('transactions of types that are not known here')
    else if (root !== text(raw['transactionsRoot'])) {
      throw lie(
        `leaves out or changes transactions of block ${number}: its header has another root`,
      )
    }
    // Headers of later upgrades may have fields that this script does not know: then none can be proven.
    if (!hasHash(raw, hash)) taken.add('hashes of headers')
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
    const found = await eachAtOnce(numbersOf(from, to), block)
    mustFollow(found)
    return found
  }

  async function logs(filter: LogFilter, from: number, to: number): Promise<readonly Log[]> {
    const mayHave = bloomTest(filter)
    const found: Log[] = []
    let last: Block | undefined
    for (let start = from; start <= to; start += BLOCKS_AT_ONCE) {
      const numbers = numbersOf(start, Math.min(to, start + BLOCKS_AT_ONCE - 1))
      // Blocks that are only looked through are not kept: a silence may have many.
      const some = await eachAtOnce(numbers, (number) => known.get(number) ?? readBlock(number))
      mustFollow(last === undefined ? some : [last, ...some])
      last = some.at(-1)
      const having = await eachAtOnce(
        some.filter(({ bloom }) => mayHave(bloom)),
        readReceipts,
      )
      found.push(...having.flat().flatMap((receipt) => receipt.logs))
    }
    return found.filter((log) => fits(filter, log))
  }

  function sender({ hash, from, raw }: Transaction): string {
    const signer = senderOf(raw)
    if (signer === undefined) taken.add('senders')
    else if (signer !== from) throw lie(`names a sender of ${hash} who did not sign it`)
    return from
  }

  /** The receipts of a block by the places of its transactions. */
  async function readReceipts(block: Block): Promise<readonly Receipt[]> {
    const { number, transactions } = block
    const raws =
      (await receiptsAtOnce(number)) ??
      (await eachAtOnce(transactions, ({ hash }) => call('eth_getTransactionReceipt', [hash])))
    if (raws.some((raw) => raw === null)) {
      throw new Unchecked(`the endpoint has no receipts of block ${number}`)
    }
    const all = raws as readonly Fields[]
    if (all.length !== transactions.length || receiptsRoot(all) !== block.receiptsRoot) {
      throw lie(`changes receipts of block ${number}: its header has another root`)
    }
    return receiptsIn(all, number)
  }

  /** All receipts of a block; undefined where an endpoint gives them one by one only. */
  async function receiptsAtOnce(number: number): Promise<readonly unknown[] | undefined> {
    try {
      const all = await call('eth_getBlockReceipts', [hex(number)])
      return Array.isArray(all) ? all : undefined
    } catch (error) {
      return unknownState(error)
    }
  }

  async function receipt(hash: string, number: number): Promise<Receipt> {
    const { transactions } = await block(number)
    const found = receiptsOf.get(number) ?? block(number).then(readReceipts)
    receiptsOf.set(number, found)
    const own = (await found)[transactions.findIndex((transaction) => transaction.hash === hash)]
    if (own === undefined) throw new Unchecked(`block ${number} has no transaction ${hash}`)
    return own
  }

  function readTransaction(raw: Fields, blockHash: string, number: number): Transaction {
    const hash = text(raw['hash'])
    const isHere = raw['blockHash'] === undefined || text(raw['blockHash']) === blockHash
    if (!isHere) throw lie(`has transactions of another block in block ${number}`)
    const computed = hashOf(raw)
    if (computed !== undefined && computed !== hash) {
      // A development chain gives its own hashes to transactions that nobody signed.
      if (senderOf(raw) !== undefined)
        throw lie(`changes a transaction of block ${number}: it has another hash`)
      taken.add('hashes of transactions without a signature')
    }
    const to = raw['to'] ?? null
    return {
      ...{ hash, from: text(raw['from']), to: to === null ? null : text(to) },
      ...{ input: text(raw['input']), gas: Number(raw['gas']), raw },
    }
  }

  return {
    ...{ isAlone, call, block, blocks, logs, sender, receipt },
    unproven: () => [...taken],
  }
}

/** Asks an endpoint, again after a pause where it does not answer. */
async function ask(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request(url, method, params)
    } catch (error) {
      if (error instanceof Unchecked) throw error
      if (attempt === TRIES) throw new Unchecked(`${method}: ${(error as Error).message}`)
      // Public endpoints limit requests.
      await wait(PAUSE_MS * 2 ** attempt)
    }
  }
}

/** Throws unless each block is the parent of the next. */
function mustFollow(blocks: readonly Block[]): void {
  for (const [index, block] of blocks.entries()) {
    const parent = blocks[index - 1]
    if (parent !== undefined && parent.hash !== block.parentHash) {
      throw lie(`has a block ${block.number} that does not follow block ${parent.number}`)
    }
  }
}

function numbersOf(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
}

function lie(what: string): Lie {
  return new Lie(`the endpoint lies: it ${what}`)
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}
