import { type Hex, numberToHex } from 'viem'
import { z } from 'zod'
import { Address, Hash } from '#src/kernel/units.ts'
import type { RpcClient } from './endpoints.ts'
import { rpcErrorOf } from './failures.ts'
import { Quantity } from './quantity.ts'

/** Bytes in the notation of JSON-RPC. */
export const HexData = z.templateLiteral(['0x', z.string().regex(/^([0-9a-fA-F]{2})*$/)])

/** An event in its block, in a JSON-RPC result. */
export const Log = z.object({
  address: Address,
  topics: z.array(Hash),
  data: HexData,
  logIndex: Quantity,
  transactionIndex: Quantity,
  transactionHash: Hash,
  blockNumber: Quantity,
  blockHash: Hash,
  removed: z.boolean().optional(),
})
export type Log = z.output<typeof Log>

/** Filter of events: contracts, and topics in the notation of `eth_getLogs`. */
export interface LogFilter {
  readonly address: Address | readonly Address[]
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}

/** Reads events of many blocks, in steps that the endpoints accept. */
export interface LogReader {
  /**
   * Events from `fromBlock` on, of as many blocks up to `toBlock` as one request may cover.
   *
   * @throws viem's error of the request when the endpoint refuses even the smallest step
   */
  read(
    client: RpcClient,
    filter: LogFilter,
    fromBlock: number,
    toBlock: number,
  ): Promise<{ readonly logs: readonly Log[]; readonly upTo: number }>
}

/** Blocks of the first request, which many endpoints accept. */
const STEP_MAX = 1000
/**
 * Limit of the public endpoints of Flare.
 * @see coreth, `eth/filters/filter.go`
 */
const STEP_MIN = 30
/** Successful requests of one size before a request of twice the size is tried. */
const ANSWERS_TO_GROW = 64
/** Words in nodes' errors for a request that covers too much. */
const TOO_MUCH = /too (many|large|wide)|range|limit|maximum|exceed|more than|timed? ?out/i

/** Step size of one endpoint. */
interface Step {
  blocks: number
  /** Maximum step that the endpoint stated. */
  max: number
  answers: number
  /** Successful requests before the next try of a larger step; each failed try doubles the number. */
  patience: number
  /** Whether the last request tried a larger step. */
  isTry: boolean
}

/**
 * Creates a reader that remembers the largest working step of each endpoint, and tries a larger one from
 * time to time.
 */
export function createLogReader(): LogReader {
  const steps = new Map<string, Step>()

  function stepOf(client: RpcClient): Step {
    const url = client.transport.url ?? ''
    const knownStep = steps.get(url)
    if (knownStep !== undefined) return knownStep
    const step = {
      blocks: STEP_MAX,
      max: STEP_MAX,
      answers: 0,
      patience: ANSWERS_TO_GROW,
      isTry: false,
    }
    steps.set(url, step)
    return step
  }

  return {
    async read(client, filter, fromBlock, toBlock) {
      const step = stepOf(client)
      for (;;) {
        const blocks = Math.min(step.blocks, toBlock - fromBlock + 1)
        const upTo = fromBlock + blocks - 1
        try {
          const range = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(upTo) }
          const logs = await readLogs(client, filter, range)
          if (blocks === step.blocks) grow(step)
          return { logs, upTo }
        } catch (error) {
          if (!shrink(step, error, blocks)) throw error
        }
      }
    },
  }
}

function grow(step: Step): void {
  step.answers += 1
  step.isTry = false
  if (step.answers < step.patience || step.blocks >= step.max) return
  step.blocks = Math.min(step.blocks * 2, step.max)
  step.answers = 0
  step.isTry = true
}

/**
 * Reduces the step after a refusal. Returns whether a smaller request should be sent: false if the error has another
 * cause, or the request covered at most `STEP_MIN` blocks and the endpoint names no smaller maximum.
 */
function shrink(step: Step, error: unknown, blocks: number): boolean {
  const answer = rpcErrorOf(error)
  if (answer === undefined || !TOO_MUCH.test(answer.details)) return false
  const blocksMax = Number(/maximum is set to (\d+)/.exec(answer.details)?.[1] ?? Number.NaN)
  if (blocksMax >= 1 && blocksMax < blocks) {
    step.max = blocksMax
    step.blocks = blocksMax
  } else {
    if (blocks <= STEP_MIN) return false
    step.blocks = Math.max(STEP_MIN, Math.floor(blocks / 2))
  }
  if (step.isTry) step.patience *= 2
  step.isTry = false
  step.answers = 0
  return true
}

/** Events of one block, by its hash, so that an endpoint without that block fails. */
export function readLogsOfBlock(
  client: RpcClient,
  filter: LogFilter,
  blockHash: Hash,
): Promise<readonly Log[]> {
  return readLogs(client, filter, { blockHash })
}

type Range = { readonly fromBlock: Hex; readonly toBlock: Hex } | { readonly blockHash: Hash }

async function readLogs(
  client: RpcClient,
  { address, topics }: LogFilter,
  range: Range,
): Promise<readonly Log[]> {
  // Nodes treat an empty list as "any contract".
  if (typeof address !== 'string' && address.length === 0) return []
  const topicFilter = topics.map((topic) =>
    topic === null || typeof topic === 'string' ? topic : [...topic],
  )
  const answer = await client.request({
    method: 'eth_getLogs',
    params: [
      {
        address: typeof address === 'string' ? address : [...address],
        topics: topicFilter,
        ...range,
      },
    ],
  })
  return z
    .array(Log)
    .parse(answer)
    .filter(({ removed }) => removed !== true)
}
