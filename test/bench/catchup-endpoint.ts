import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import {
  type Abi,
  type AbiEvent,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  keccak256,
  numberToHex,
} from 'viem'
import { listenOnLoopback } from '#sandbox/loopback.ts'
import { headerHash } from '#src/chain/blocks/block-header.ts'
import { transactionsRootOf } from '#src/chain/blocks/transactions-root.ts'
import { PROTOCOL_EVENTS_ABI } from '#src/fsp/reader/abi.ts'
import type { ProtocolBlock } from '#src/fsp/reader/round-blocks.ts'
import { catchupBlocks, LATENCY_MS, PROTOCOL_CONTRACTS } from './catchup-chain.ts'

/**
 * A JSON-RPC endpoint over the blocks of `catchup`, which answers after a fixed delay. It prints its address when
 * it listens, and answers `bench_counts`, without delay, with the number of calls of each method.
 */

/** Transactions in each block that have nothing to do with the protocol. */
const OTHERS = 5

interface Answers {
  readonly block: string
  readonly receipts: string
  readonly logs: readonly string[]
}

const counts: Record<string, number> = {}
const receiptOf = new Map<string, string>()
/** Hash of the block before. */
let parentHash = numberToHex(0, { size: 32 })
const answers = new Map(catchupBlocks().map((block) => [block.number, answersOf(block)]))
const tip = numberToHex(Math.max(...answers.keys()))

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', async () => {
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
    if (method !== 'bench_counts') {
      counts[method] = (counts[method] ?? 0) + 1
      await wait(LATENCY_MS)
    }
    response.setHeader('content-type', 'application/json')
    response.end(`{"jsonrpc":"2.0","id":${id},"result":${answerTo(method, params)}}`)
  })
})
process.stdout.write(`http://127.0.0.1:${await listenOnLoopback(server, 0)}\n`)

function answerTo(method: string, params: readonly unknown[]): string {
  const [first] = params ?? []
  switch (method) {
    case 'bench_counts':
      return JSON.stringify(counts)
    case 'eth_chainId':
      return '"0xe"'
    case 'eth_blockNumber':
      return `"${tip}"`
    case 'eth_getBlockByNumber':
      return answers.get(Number(first))?.block ?? 'null'
    case 'eth_getBlockReceipts':
      return answers.get(Number(first))?.receipts ?? 'null'
    case 'eth_getTransactionReceipt':
      return receiptOf.get(String(first)) ?? 'null'
    case 'eth_getLogs': {
      const { fromBlock, toBlock } = first as { fromBlock: string; toBlock: string }
      const length = Number(toBlock) - Number(fromBlock) + 1
      const numbers = Array.from({ length }, (_, index) => Number(fromBlock) + index)
      return `[${numbers.flatMap((number) => answers.get(number)?.logs ?? []).join()}]`
    }
    default:
      throw new Error(`${method} is not answered here`)
  }
}

function answersOf(block: ProtocolBlock): Answers {
  const { number, at } = block
  const sent = [
    ...block.submissions.map(({ from, input }) => ({
      from,
      input,
      to: PROTOCOL_CONTRACTS.Submission,
    })),
    ...block.fastUpdates.map(({ sender }) => ({
      from: sender?.toLowerCase(),
      input: '0x833bf6c0',
      to: PROTOCOL_CONTRACTS.Submission,
    })),
    ...Array.from({ length: OTHERS }, (_, index) => ({
      from: numberToHex(index + 1, { size: 20 }),
      input: `0x${'ab'.repeat(68)}`,
      to: numberToHex(index + 77, { size: 20 }),
    })),
  ]
  const unplaced = sent.map((transaction, index) => ({
    ...transaction,
    type: '0x0',
    hash: keccak256(numberToHex(number * 1000 + index)),
    blockNumber: numberToHex(number),
    transactionIndex: numberToHex(index),
    nonce: numberToHex(number),
    gas: '0x30d40',
    gasPrice: '0x5d21dba00',
    value: '0x0',
    v: '0x40',
    r: numberToHex(2n ** 255n + BigInt(index)),
    s: numberToHex(2n ** 254n + BigInt(index)),
  }))
  const word = numberToHex(1, { size: 32 })
  const unhashed = {
    number: numberToHex(number),
    parentHash,
    sha3Uncles: word,
    miner: numberToHex(1, { size: 20 }),
    stateRoot: word,
    difficulty: '0x1',
    gasLimit: '0xe4e1c0',
    gasUsed: '0x2c5572',
    extraData: `0x${'00'.repeat(80)}`,
    mixHash: word,
    nonce: '0x0000000000000000',
    extDataHash: word,
    baseFeePerGas: '0x5d21dba00',
    extDataGasUsed: '0x0',
    blockGasCost: '0x0',
    timestamp: numberToHex(at),
    logsBloom: `0x${'0'.repeat(512)}`,
    receiptsRoot: numberToHex(1, { size: 32 }),
    transactionsRoot: transactionsRootOf(unplaced),
  }
  const hash = headerHash(unhashed)
  if (hash === undefined) throw new Error('a header lacks a field')
  const transactions = unplaced.map((transaction) => ({ ...transaction, blockHash: hash }))
  const head = { ...unhashed, hash, transactions }
  parentHash = hash
  const receipts = transactions.map(({ hash }) => ({
    transactionHash: hash,
    blockHash: head.hash,
    status: '0x1',
    gasUsed: '0x186a0',
  }))
  for (const receipt of receipts) receiptOf.set(receipt.transactionHash, JSON.stringify(receipt))
  const hashOf = (place: number) => transactions[place]?.hash ?? head.hash
  const events = [
    ...block.finalised.map(({ protocol, round, isSecureRandom, merkleRoot }) =>
      logOf('ProtocolMessageRelayed', PROTOCOL_CONTRACTS.Relay, {
        protocolId: protocol,
        votingRoundId: round,
        isSecureRandom,
        merkleRoot,
      }),
    ),
    ...block.requests.map((data) =>
      logOf('AttestationRequest', PROTOCOL_CONTRACTS.FdcHub, { data, fee: 1n }),
    ),
    ...block.fastUpdates.map(({ signingPolicy }, index) => ({
      ...logOf('FastUpdateFeedsSubmitted', PROTOCOL_CONTRACTS.FastUpdater, {
        votingRoundId: 1,
        signingPolicyAddress: signingPolicy,
      }),
      transactionHash: hashOf(block.submissions.length + index),
    })),
  ]
  const logs = events.map((event, index) =>
    JSON.stringify({
      transactionHash: hashOf(0),
      ...event,
      blockNumber: head.number,
      blockHash: head.hash,
      transactionIndex: '0x0',
      logIndex: numberToHex(index),
    }),
  )
  return { block: JSON.stringify(head), receipts: JSON.stringify(receipts), logs }
}

function logOf(eventName: string, address: Hex, args: Readonly<Record<string, unknown>>) {
  const abi: Abi = PROTOCOL_EVENTS_ABI
  const event = abi.find(
    (item): item is AbiEvent => item.type === 'event' && item.name === eventName,
  )
  if (event === undefined) throw new Error(`there is no event ${eventName}`)
  const plain = event.inputs.filter(({ indexed }) => indexed !== true)
  const values = plain.map(({ name }) => args[name ?? ''])
  return {
    address,
    topics: encodeEventTopics({ abi, eventName, args }),
    data: encodeAbiParameters(plain, values),
  }
}
