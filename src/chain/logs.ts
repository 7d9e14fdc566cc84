import { type Hex, numberToHex } from 'viem'
import { z } from 'zod'
import { Address, Hash } from '#src/kernel/units.ts'
import type { RpcClient } from './endpoints.ts'
import { rpcErrorOf } from './failures.ts'
import { Quantity } from './quantity.ts'

/** Bytes as JSON-RPC writes them. */
export const HexData = z.templateLiteral(['0x', z.string().regex(/^([0-9a-fA-F]{2})*$/)])

/** An event in its block, as JSON-RPC answers it. */
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

/** Which events: of one contract, by their first topic. */
export interface LogFilter {
  readonly address: Address
  readonly topic: Hex
}

/** Reads events of many blocks, in steps that the endpoints put up with. */
export interface LogReader {
  /**
   * Events from `fromBlock` on, of as many blocks up to `toBlock` as one request may ask for.
   *
   * @throws viem's error of the request when fewer than that would still be too many
   */
  read(
    client: RpcClient,
    filter: LogFilter,
    fromBlock: number,
    toBlock: number,
  ): Promise<{ readonly logs: readonly Log[]; readonly upTo: number }>
}

/** Blocks asked for at first; many endpoints put up with that. */
const STEP_MAX = 1000
/** What the public endpoints of Flare allow. @see coreth, `eth/filters/filter.go` */
const STEP_MIN = 30
/** How nodes say that a request covers too much, in many words. */
const TOO_MUCH = /too (many|large|wide)|range|limit|maximum|exceed|more than|timed? ?out/i

/** Remembers the largest step that worked. */
export function createLogReader(): LogReader {
  let step = STEP_MAX
  return {
    async read(client, filter, fromBlock, toBlock) {
      for (;;) {
        const upTo = Math.min(toBlock, fromBlock + step - 1)
        try {
          const range = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(upTo) }
          return { logs: await readLogs(client, filter, range), upTo }
        } catch (error) {
          const smaller = smallerStep(error, upTo - fromBlock + 1)
          if (smaller === undefined) throw error
          step = smaller
        }
      }
    },
  }
}

/** Events of one block, by its hash: an endpoint that does not know that block fails. */
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
  { address, topic }: LogFilter,
  range: Range,
): Promise<readonly Log[]> {
  const answer = await client.request({
    method: 'eth_getLogs',
    params: [{ address, topics: [topic], ...range }],
  })
  return z
    .array(Log)
    .parse(answer)
    .filter(({ removed }) => removed !== true)
}

/** The next step to try after a refusal; undefined when it was not for being too much. */
function smallerStep(error: unknown, step: number): number | undefined {
  const answer = rpcErrorOf(error)
  if (answer === undefined || step <= STEP_MIN || !TOO_MUCH.test(answer.details)) return undefined
  const allowed = Number(/maximum is set to (\d+)/.exec(answer.details)?.[1] ?? step)
  return Math.max(STEP_MIN, Math.min(allowed, Math.floor(step / 2)))
}
