import { type Hex, numberToHex } from 'viem'
import { z } from 'zod'
import type { Address } from '#src/kernel/units.ts'
import type { RpcClient } from '../endpoints/endpoints.ts'
import { EndpointTimeout, isTooLarge, statedMaximum } from '../endpoints/failures.ts'
import { Log } from '../endpoints/schemas.ts'

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
   * @throws viem's error of the request when the endpoint refuses even one block
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
/** Successful requests of one size before a request of twice the size is tried. */
const ANSWERS_TO_GROW = 64
/** The same, if the endpoint stated the same maximum twice. */
const ANSWERS_TO_EXCEED_MAX = 1024

/** Step size of one endpoint. */
interface Step {
  blocks: number
  answers: number
  /** Successful requests before the next try of a larger step; each failed try doubles the number. */
  patience: number
  /** Whether the last request tried a larger step. */
  isTry: boolean
  /** The maximum that the endpoint stated last. One statement may be wrong. */
  statedMax: number | undefined
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
      ...{ blocks: STEP_MAX, answers: 0, patience: ANSWERS_TO_GROW, isTry: false },
      statedMax: undefined,
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
  if (step.answers < step.patience || step.blocks >= STEP_MAX) return
  step.blocks = Math.min(step.blocks * 2, STEP_MAX)
  step.answers = 0
  step.isTry = true
}

/**
 * Reduces the step after a refusal, to the maximum that the endpoint states or to a half. Returns whether a smaller
 * request should be sent: false if the error has another cause, or the request covered one block.
 */
function shrink(step: Step, error: unknown, blocks: number): boolean {
  const isLate = error instanceof EndpointTimeout
  if (blocks === 1 || (!isLate && !isTooLarge(error))) return false
  const statedMax = statedMaximum(error, blocks)
  step.blocks = statedMax ?? Math.floor(blocks / 2)
  if (step.isTry) step.patience *= 2
  if (statedMax !== undefined && statedMax === step.statedMax) {
    step.patience = Math.max(step.patience, ANSWERS_TO_EXCEED_MAX)
  }
  step.statedMax = statedMax ?? step.statedMax
  step.isTry = false
  step.answers = 0
  // The next read is smaller; this one has used its time.
  return !isLate
}

interface Range {
  readonly fromBlock: Hex
  readonly toBlock: Hex
}

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
