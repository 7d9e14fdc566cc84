import { Agent } from 'node:http'
import { type Hex, numberToHex, size } from 'viem'
import { z } from 'zod'
import type { Address, Hash } from '#src/kernel/units.ts'
import { postToChain } from '../post.ts'

/** A transaction from any account, without its key. */
export interface UnsignedTx {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  readonly value?: bigint
  /** Gas limit; by default estimated from its data. */
  readonly gas?: number
}

/** A transaction; without `to` it creates a contract. */
export type CallOrCreation = Omit<UnsignedTx, 'to'> & Partial<Pick<UnsignedTx, 'to'>>

/** A local chain to write to. */
export interface WrittenChain {
  readonly rpcUrl: string
  /** Interval between blocks; undefined while each transaction creates its own. */
  readonly blockTimeSeconds: number | undefined
}

/** Sends many transactions at once and creates their blocks. Times are epoch seconds. */
export interface BlockWriter {
  /** Number and time of the last block that this writer created or read. */
  readonly head: WriterHead
  /** Reads the head. */
  readHead(): Promise<WriterHead>
  /** Stops automatic blocks, until `release`. */
  hold(): Promise<void>
  release(): Promise<void>
  /** Creates the next block, at a time later than the last block's; returns the transactions' hashes. */
  block(at: number, transactions: readonly UnsignedTx[]): Promise<readonly Hash[]>
  /** Sends transactions into the next block. */
  send(transactions: readonly CallOrCreation[]): Promise<readonly Hash[]>
  /** Creates empty blocks at an interval. */
  empty(blocks: number, secondsApart: number): Promise<void>
  /** Runs calls; results in order. */
  ask(calls: readonly Call[]): Promise<readonly unknown[]>
}

export interface WriterHead {
  readonly number: number
  readonly timestamp: number
}

interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

const GAS_PRICE_WEI = 50_000_000_000n
const GAS_BASE = 21_000
/** Highest gas price of a byte of calldata. */
const GAS_PER_BYTE = 40
/** More than the execution of a submission needs. */
const GAS_TO_RUN = 30_000

const Answers = z.array(
  z.object({
    id: z.int(),
    result: z.unknown().optional(),
    error: z.object({ message: z.string() }).optional(),
  }),
)
const Hashes = z.array(z.custom<Hash>((value) => typeof value === 'string'))
const HexText = z.custom<Hex>((value) => typeof value === 'string')
const MinedReceipt = z.object({
  status: z.string(),
  logs: z.array(z.object({ address: HexText, topics: z.array(HexText), data: HexText })),
})
const Block = z.object({ number: z.string(), timestamp: z.string() })

/** Receipt of a transaction. */
export type MinedReceipt = z.output<typeof MinedReceipt>

/** Receipts of transactions; null for pending ones. */
export async function readReceipts(
  writer: Pick<BlockWriter, 'ask'>,
  hashes: readonly Hash[],
): Promise<readonly (MinedReceipt | null)[]> {
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  return z.array(MinedReceipt.nullable()).parse(await writer.ask(calls))
}

/**
 * Creates a writer for a chain. While it sends, its accounts must not be used by others. Long because
 * reading, sending and mining share the nonces and the head.
 *
 * @param onTime called with the time of each block, in epoch seconds, before it is created
 */
export function createBlockWriter(
  devnet: WrittenChain,
  onTime: (seconds: number) => void = () => undefined,
): BlockWriter {
  const nonces = new Map<Address, number>()
  const agent = new Agent({ keepAlive: true })
  let head: WriterHead = { number: 0, timestamp: 0 }

  async function ask(calls: readonly Call[]): Promise<readonly unknown[]> {
    if (calls.length === 0) return []
    const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
    const answers = Answers.parse(
      JSON.parse(await postToChain(agent, devnet.rpcUrl, body)),
    ).toSorted((a, b) => a.id - b.id)
    const failed = answers.find(({ error }) => error !== undefined)
    if (failed !== undefined) {
      throw new Error(`${calls[failed.id]?.method} was refused: ${failed.error?.message}`)
    }
    return answers.map(({ result }) => result)
  }

  async function send(transactions: readonly CallOrCreation[]): Promise<readonly Hash[]> {
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
      // Which transactions were accepted is unknown, so the next send reads the nonces.
      nonces.clear()
      throw error
    }
  }

  async function readHead(): Promise<WriterHead> {
    const [answer] = await ask([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
    const { number, timestamp } = Block.parse(answer)
    head = { number: Number(number), timestamp: Number(timestamp) }
    return head
  }

  return {
    get head() {
      return head
    },
    readHead,
    ask,
    send,
    hold: async () => {
      await ask([
        devnet.blockTimeSeconds === undefined
          ? { method: 'evm_setAutomine', params: [false] }
          : { method: 'evm_setIntervalMining', params: [0] },
      ])
      await readHead()
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
      onTime(at)
      await ask([{ method: 'evm_mine', params: [at] }])
      head = { number: head.number + 1, timestamp: at }
      return hashes
    },
    empty: async (blocks, secondsApart) => {
      if (blocks === 0) return
      onTime(head.timestamp + blocks * secondsApart)
      await ask([
        { method: 'anvil_mine', params: [numberToHex(blocks), numberToHex(secondsApart)] },
      ])
      await readHead()
    },
  }
}

function toRequest({ from, to, data, value = 0n, gas }: CallOrCreation, nonce: number) {
  return {
    from,
    ...(to !== undefined && { to }),
    data,
    nonce: numberToHex(nonce),
    gasPrice: numberToHex(GAS_PRICE_WEI),
    gas: numberToHex(gas ?? GAS_BASE + GAS_PER_BYTE * size(data) + GAS_TO_RUN),
    ...(value === 0n ? {} : { value: numberToHex(value) }),
  }
}
