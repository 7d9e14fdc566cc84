import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CustomTransport,
  createTestClient,
  custom,
  type Hash,
  publicActions,
  RpcRequestError,
  rpcSchema,
  stringify,
  TransactionReceiptNotFoundError,
  walletActions,
} from 'viem'
import { z } from 'zod'
import { flare } from './flare.ts'
import { postToChain } from './post.ts'

/** Id of a stored state of the chain. */
export type SnapshotId = `0x${string}`

/** How often, and for how long, a transaction's receipt is looked for. */
const RECEIPT_INTERVAL_MS = 5
const RECEIPT_MS = 60_000

/** viem's public, wallet and test actions in one client. */
export type DevnetClient = ReturnType<typeof createDevnetClient>

/** Connects a client to the chain at this URL. */
export function createDevnetClient(url: string, chainId: number = flare.id) {
  return createTestClient({
    mode: 'anvil',
    chain: { ...flare, id: chainId, rpcUrls: { default: { http: [url] } } },
    transport: lightTransport(url),
    cacheTime: 0,
    pollingInterval: 20,
    rpcSchema:
      rpcSchema<
        [
          { Method: 'anvil_reorg'; Parameters: [number, []]; ReturnType: null },
          { Method: 'evm_revert'; Parameters: [SnapshotId]; ReturnType: boolean },
        ]
      >(),
  })
    .extend(publicActions)
    .extend(walletActions)
    .extend((client) => ({
      /** viem's own function looks once per block, and so misses a receipt that appears after its block. */
      waitForTransactionReceipt: async ({ hash }: { readonly hash: Hash }) => {
        const until = performance.now() + RECEIPT_MS
        for (;;) {
          try {
            return await client.getTransactionReceipt({ hash })
          } catch (error) {
            const isMissing = error instanceof TransactionReceiptNotFoundError
            if (!isMissing || performance.now() > until) throw error
          }
          await sleep(RECEIPT_INTERVAL_MS)
        }
      },
    }))
}

const Answer = z.object({
  result: z.unknown().optional(),
  error: z
    .object({ code: z.number(), message: z.string(), data: z.unknown().optional() })
    .optional(),
})

/** Sends one HTTP request per call, like viem, but through node:http, which costs less. */
function lightTransport(url: string): CustomTransport {
  const agent = new Agent({ keepAlive: true })
  let id = 0
  const request = async (call: { readonly method: string; readonly params?: unknown }) => {
    id += 1
    const body = { jsonrpc: '2.0', id, ...call }
    const { result, error } = Answer.parse(
      JSON.parse(await postToChain(agent, url, stringify(body))),
    )
    if (error !== undefined) throw new RpcRequestError({ body, error, url })
    return result
  }
  return custom({ request }, { retryCount: 0 })
}
