import type { Hex } from 'viem'
import type { RpcClient } from './endpoints.ts'
import { type BatchOptions, type ContractCall, readBatch } from './multicall.ts'

/**
 * Reads of contracts that share a request: those of one endpoint and one block that come within a moment. Balances and
 * prices of a block are so read in one request.
 */
export interface SharedCalls {
  /**
   * Like `readBatch`. A call that failed in a request with the calls of another reader is repeated without them, because
   * a contract of the other reader may have used all gas.
   */
  read(
    client: RpcClient,
    calls: readonly ContractCall[],
    options: BatchOptions,
  ): Promise<readonly (Hex | undefined)[]>
}

/** Time for which a request waits for the calls of other readers, in milliseconds. */
const WAIT_MS = 15
/** Maximum number of calls of a reader that shares a request. */
const CALLS_MAX = 200

type Results = readonly (Hex | undefined)[]

interface Batch {
  readonly calls: ContractCall[]
  readers: number
  readonly sent: Promise<Results>
}

/** Creates a reader without waiting calls. */
export function createSharedCalls(): SharedCalls {
  const waiting = new Map<string, Batch>()

  function open(key: string, client: RpcClient, options: BatchOptions): Batch {
    const calls: ContractCall[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, WAIT_MS)
    const sent = promise.then(() => {
      waiting.delete(key)
      return readBatch(client, calls, options)
    })
    // Every reader handles the error.
    sent.catch(() => undefined)
    const batch = { calls, readers: 0, sent }
    waiting.set(key, batch)
    return batch
  }

  return {
    async read(client, calls, options) {
      if (calls.length > CALLS_MAX) return readBatch(client, calls, options)
      const key = `${client.transport.url} ${options.multicallAddress} ${options.block}`
      const batch = waiting.get(key) ?? open(key, client, options)
      const first = batch.calls.length
      batch.calls.push(...calls)
      batch.readers += 1
      let results: Results | undefined
      try {
        results = (await batch.sent).slice(first, first + calls.length)
      } catch (error) {
        if (batch.readers === 1) throw error
      }
      const isWhole = results?.every((result) => result !== undefined) ?? false
      if (results !== undefined && (isWhole || batch.readers === 1)) return results
      return readBatch(client, calls, options)
    },
  }
}
