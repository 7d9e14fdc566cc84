import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Hex, numberToHex, size } from 'viem'
import { z } from 'zod'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { Devnet } from '../../devnet.ts'

/** A transaction to be sent by anybody, without a key. */
export interface Tx {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  readonly value?: bigint
  /** What it may use; by its data without it. */
  readonly gas?: number
}

/** Sends many transactions at once and makes their blocks. Times are seconds since 1970. */
export interface BlockWriter {
  /** Number and time of the last block as far as this writer made it or looked. */
  readonly head: Head
  /** Reads the head anew. */
  look(): Promise<Head>
  /** Ends the making of blocks by transactions or time, until `release`. */
  hold(): Promise<void>
  release(): Promise<void>
  /** Makes the next block, at a time later than the last block's; answers its transactions' hashes. */
  block(at: number, transactions: readonly Tx[]): Promise<readonly Hash[]>
  /** Sends transactions into whatever block comes. */
  send(transactions: readonly Tx[]): Promise<readonly Hash[]>
  /** Makes so many empty blocks, so far apart. */
  empty(blocks: number, secondsApart: number): Promise<void>
  /** Any calls, answered in their order. */
  ask(calls: readonly Call[]): Promise<readonly unknown[]>
}

export interface Head {
  readonly number: number
  readonly timestamp: number
}

interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

const GAS_PRICE_WEI = 50_000_000_000n
const GAS_BASE = 21_000
/** The dearest that a byte of call data can be. */
const GAS_PER_BYTE = 40
/** More than what a submission runs. */
const GAS_TO_RUN = 30_000

const Answers = z.array(
  z.object({
    id: z.int(),
    result: z.unknown(),
    error: z.object({ message: z.string() }).optional(),
  }),
)
const Hashes = z.array(z.custom<Hash>((one) => typeof one === 'string'))
const HexText = z.custom<Hex>((one) => typeof one === 'string')
const Receipt = z.object({
  status: z.string(),
  logs: z.array(z.object({ address: HexText, topics: z.array(HexText), data: HexText })),
})
const Block = z.object({ number: z.string(), timestamp: z.string() })

/** What became of a transaction. */
export type Receipt = z.output<typeof Receipt>

/** What became of transactions; null for those that are in no block yet. */
export async function readReceipts(
  writer: Pick<BlockWriter, 'ask'>,
  hashes: readonly Hash[],
): Promise<readonly (Receipt | null)[]> {
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  return z.array(Receipt.nullable()).parse(await writer.ask(calls))
}

/** A writer for a chain. While it sends, nobody else may send from the same accounts. */
export function createBlockWriter(
  devnet: Pick<Devnet, 'rpcUrl' | 'blockTimeSeconds'>,
): BlockWriter {
  const nonces = new Map<Address, number>()
  const agent = new Agent({ keepAlive: true })
  let head: Head = { number: 0, timestamp: 0 }

  async function ask(calls: readonly Call[]): Promise<readonly unknown[]> {
    if (calls.length === 0) return []
    const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
    const answers = Answers.parse(JSON.parse(await post(agent, devnet.rpcUrl, body))).toSorted(
      (a, b) => a.id - b.id,
    )
    const failed = answers.find(({ error }) => error !== undefined)
    if (failed !== undefined) {
      throw new Error(`${calls[failed.id]?.method} was refused: ${failed.error?.message}`)
    }
    return answers.map(({ result }) => result)
  }

  async function send(transactions: readonly Tx[]): Promise<readonly Hash[]> {
    const unknown = [...new Set(transactions.map(({ from }) => from))].filter(
      (from) => !nonces.has(from),
    )
    const counts = await ask(
      unknown.map((from) => ({ method: 'eth_getTransactionCount', params: [from, 'pending'] })),
    )
    for (const [i, from] of unknown.entries()) nonces.set(from, Number(counts[i]))
    const calls = transactions.map((transaction) => {
      const nonce = nonces.get(transaction.from) ?? 0
      nonces.set(transaction.from, nonce + 1)
      return { method: 'eth_sendTransaction', params: [toRequest(transaction, nonce)] }
    })
    try {
      return Hashes.parse(await ask(calls))
    } catch (error) {
      // Whatever was sent of it: the chain is asked anew.
      nonces.clear()
      throw error
    }
  }

  async function look(): Promise<Head> {
    const [answer] = await ask([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
    const { number, timestamp } = Block.parse(answer)
    head = { number: Number(number), timestamp: Number(timestamp) }
    return head
  }

  return {
    get head() {
      return head
    },
    look,
    ask,
    send,
    hold: async () => {
      await ask([
        devnet.blockTimeSeconds === undefined
          ? { method: 'evm_setAutomine', params: [false] }
          : { method: 'evm_setIntervalMining', params: [0] },
      ])
      await look()
    },
    release: async () => {
      await ask([
        devnet.blockTimeSeconds === undefined
          ? { method: 'evm_setAutomine', params: [true] }
          : { method: 'evm_setIntervalMining', params: [devnet.blockTimeSeconds] },
      ])
    },
    block: async (at, transactions) => {
      const hashes = await send(transactions)
      await ask([{ method: 'evm_mine', params: [at] }])
      head = { number: head.number + 1, timestamp: at }
      return hashes
    },
    empty: async (blocks, secondsApart) => {
      if (blocks === 0) return
      await ask([
        { method: 'anvil_mine', params: [numberToHex(blocks), numberToHex(secondsApart)] },
      ])
      await look()
    },
  }
}

/** Like `fetch`, in half the time: there are several calls for each block. */
function post(agent: Agent, url: string, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const headers = {
    'content-type': 'application/json',
    'content-length': `${Buffer.byteLength(body)}`,
  }
  request(url, { method: 'POST', agent, headers }, (response) => {
    text(response).then(resolve, reject)
  })
    .on('error', reject)
    .end(body)
  return promise
}

function toRequest({ from, to, data, value = 0n, gas }: Tx, nonce: number) {
  return {
    from,
    to,
    data,
    nonce: numberToHex(nonce),
    gasPrice: numberToHex(GAS_PRICE_WEI),
    gas: numberToHex(gas ?? GAS_BASE + GAS_PER_BYTE * size(data) + GAS_TO_RUN),
    ...(value === 0n ? {} : { value: numberToHex(value) }),
  }
}
