import { type Hex, keccak256, numberToHex } from 'viem'
import { z } from 'zod'
import { nextRandom, type RpcCall, type RpcFault } from './rpc-faults.ts'
import type { RefusalCause } from './rpc-traffic.ts'
import { methodNotFound, NOT_YET, type NodeProgram, PRUNED, RANGE_REFUSALS } from './rpc-words.ts'

/** How the nodes behind an endpoint behave. Each rule stands alone; without any the chain answers itself. */
export interface NodeRules {
  /** Whose words they use; Flare's node by default. */
  readonly program?: NodeProgram
  /**
   * Nodes behind one address, of which each request gets one: in turn, or at random but the same in each run.
   * A node knows no block above its own tip.
   */
  readonly nodes?: {
    /** Blocks that each of them is behind the chain. */
    readonly behind: readonly number[]
    readonly order?: 'in turn' | 'random'
  }
  /** Most blocks of a request for events, and who refuses more; Flare's node by default. */
  readonly logBlocks?: { readonly max: number; readonly refusal?: keyof typeof RANGE_REFUSALS }
  /** Number of newest blocks whose state is kept. */
  readonly stateBlocks?: number
  readonly missingMethods?: readonly string[]
  /** A false block: with another time, or another hash than that of its head. */
  readonly falseBlocks?: { readonly shiftSeconds?: number; readonly hash?: true }
}

/** What a node makes of a call. */
export type NodeAnswer =
  | { readonly cause: RefusalCause; readonly fault: RpcFault }
  | { readonly result: unknown; readonly cause?: RefusalCause }
  | {
      readonly call: RpcCall
      /** Whether the node has what the chain answers; otherwise its answer is null. */
      readonly isKnown?: (result: unknown) => boolean
      readonly change?: (result: unknown) => unknown
    }

/** Facts of the chain behind a node. */
export interface ChainFacts {
  /** Number of the newest block that the node knows. */
  tip(): Promise<number>
  /** Number of a block; undefined if the chain does not have it. */
  numberOf(hash: string): Promise<number | undefined>
}

/** Chooses the node of each request; returns how many blocks it is behind. */
export function createNodeChoice({ behind, order }: NonNullable<NodeRules['nodes']>): () => number {
  const state = { seed: 1 }
  let turn = -1
  return () => {
    turn += 1
    const place = order === 'random' ? Math.floor(nextRandom(state) * behind.length) : turn
    return behind[place % behind.length] ?? 0
  }
}

/** Answers a call as a node does, or passes it to the chain. */
export async function answerLikeNode(
  call: RpcCall,
  rules: NodeRules,
  chain: ChainFacts,
): Promise<NodeAnswer> {
  if (rules.missingMethods?.includes(call.method)) {
    return { cause: 'method', fault: methodNotFound(call.method) }
  }
  const answer = await answerTruly(call, rules, chain)
  if (rules.falseBlocks === undefined || !BLOCK_METHODS.includes(call.method)) return answer
  return 'call' in answer ? { ...answer, change: liar(rules.falseBlocks) } : answer
}

const BLOCK_METHODS: readonly string[] = ['eth_getBlockByNumber', 'eth_getBlockByHash']

async function answerTruly(
  call: RpcCall,
  rules: NodeRules,
  chain: ChainFacts,
): Promise<NodeAnswer> {
  const { method } = call
  if (method === 'eth_getLogs') return answerLogs(call, rules, chain)
  const isPrunable = rules.stateBlocks !== undefined && method in STATE_PLACES
  if (rules.nodes === undefined && !isPrunable) return { call }
  if (method === 'eth_blockNumber') return { result: numberToHex(await chain.tip()) }
  const field = BLOCK_FIELDS[method]
  if (field !== undefined) {
    const tip = await chain.tip()
    return { call, isKnown: (result) => blockOf(result, field) <= tip }
  }
  const place = BLOCK_PLACES[method]
  return place === undefined ? { call } : answerAtBlock(call, rules, place, chain)
}

/** Field of the block's number in results that are looked up by a hash. */
const BLOCK_FIELDS: Readonly<Record<string, string>> = {
  eth_getBlockByHash: 'number',
  eth_getTransactionByHash: 'blockNumber',
  eth_getTransactionReceipt: 'blockNumber',
}
/** Methods that read the state of a block. */
const STATE_PLACES: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getTransactionCount: 1,
}
/** Place of the block among the parameters. */
const BLOCK_PLACES: Readonly<Record<string, number>> = {
  ...STATE_PLACES,
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
}

async function answerAtBlock(
  call: RpcCall,
  rules: NodeRules,
  place: number,
  chain: ChainFacts,
): Promise<NodeAnswer> {
  const { program = 'coreth' } = rules
  const isState = call.method in STATE_PLACES
  const params = z.array(z.unknown()).parse(call.params)
  const [tip, ref] = [await chain.tip(), readBlock(params[place])]
  const block = ref.hash === undefined ? (ref.number ?? tip) : await chain.numberOf(ref.hash)
  if (block === undefined) return { call }
  if (block > tip) {
    if (rules.nodes === undefined) return { call }
    if (!isState && (program !== 'coreth' || ref.hash !== undefined)) {
      return { result: null, cause: 'not-yet' }
    }
    const fault = ref.hash === undefined ? NOT_YET.block[program](block) : NOT_YET.hash
    return { cause: 'not-yet', fault }
  }
  if (isState && rules.stateBlocks !== undefined && tip - block >= rules.stateBlocks) {
    return { cause: 'pruned', fault: PRUNED[program](block, keccak256(numberToHex(block))) }
  }
  if (ref.hash !== undefined) return { call }
  return { call: { ...call, params: params.with(place, numberToHex(block)) } }
}

const LogsFilter = z.looseObject({
  fromBlock: z.unknown().optional(),
  toBlock: z.unknown().optional(),
  blockHash: z.string().optional(),
})

async function answerLogs(
  call: RpcCall,
  { program = 'coreth', nodes, logBlocks }: NodeRules,
  chain: ChainFacts,
): Promise<NodeAnswer> {
  if (nodes === undefined && logBlocks === undefined) return { call }
  const [filter] = z.tuple([LogsFilter]).parse(call.params)
  const tip = await chain.tip()
  if (filter.blockHash !== undefined) {
    const block = (await chain.numberOf(filter.blockHash)) ?? 0
    return block > tip ? { cause: 'not-yet', fault: NOT_YET.logsOfHash } : { call }
  }
  const range = {
    from: readBlock(filter.fromBlock).number ?? tip,
    to: readBlock(filter.toBlock).number ?? tip,
  }
  if (logBlocks !== undefined && range.to - range.from >= logBlocks.max) {
    const refuse = RANGE_REFUSALS[logBlocks.refusal ?? 'coreth']
    return { cause: 'range', fault: refuse(range, logBlocks.max) }
  }
  if (nodes === undefined) return { call }
  if (range.to > tip && program === 'coreth') {
    return { cause: 'not-yet', fault: NOT_YET.logs(range, tip) }
  }
  if (range.from > tip) return { result: [], cause: 'not-yet' }
  const [fromBlock, toBlock] = [numberToHex(range.from), numberToHex(Math.min(range.to, tip))]
  return { call: { ...call, params: [{ ...filter, fromBlock, toBlock }] } }
}

const BlockParameter = z
  .union([
    z.string(),
    z.object({ blockHash: z.string() }).transform(({ blockHash }) => blockHash),
    z.object({ blockNumber: z.string() }).transform(({ blockNumber }) => blockNumber),
  ])
  .default('latest')

/**
 * Reads a block parameter. Without number and hash it is the newest block, as with every tag: what a node of
 * Flare has accepted is final.
 */
function readBlock(parameter: unknown): { readonly number?: number; readonly hash?: string } {
  const text = BlockParameter.parse(parameter)
  if (text === 'earliest') return { number: 0 }
  if (!text.startsWith('0x')) return {}
  return text.length === HASH_LENGTH ? { hash: text } : { number: Number(text) }
}

const HASH_LENGTH = 66

function blockOf(result: unknown, field: string): number {
  const found = z.record(z.string(), z.unknown()).safeParse(result)
  return Number(found.data?.[field] ?? 0)
}

const Head = z.looseObject({ timestamp: z.string(), hash: z.string() })

function liar({ shiftSeconds = 0, hash }: NonNullable<NodeRules['falseBlocks']>) {
  return (result: unknown): unknown => {
    const head = Head.safeParse(result)
    if (!head.success) return result
    return {
      ...head.data,
      timestamp: numberToHex(Number(head.data.timestamp) + shiftSeconds),
      hash: hash === true ? falseHash(head.data.hash) : head.data.hash,
    }
  }
}

function falseHash(hash: string): Hex {
  return keccak256(`0x${hash.slice(2)}`)
}
