import type { Hex } from 'viem'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { DevnetClient } from './client.ts'

/** A transaction to be sent; without `to` it creates a contract. */
export interface Outgoing {
  readonly from: Address
  readonly to?: Address
  readonly value?: bigint
  readonly data?: Hex
}

/** A transaction in its block. */
export interface Mined {
  readonly hash: Hash
  readonly blockNumber: bigint
  readonly blockHash: Hash
  readonly status: 'success' | 'reverted'
}

/** Sends transactions, one after the other, and answers once all of them are in a block. */
export type Send = (...transactions: readonly Outgoing[]) => Promise<readonly Mined[]>

/** More than anything here needs, so that nobody asks first whether a transaction will fail. */
const GAS = 2_500_000n

/**
 * Sends from any address, without its key. Failing transactions get into blocks like any other.
 *
 * @param mine whether blocks have to be made for that
 */
export function createSender(client: DevnetClient, mine: boolean): Send {
  return async (...transactions) => {
    const hashes: Hash[] = []
    for (const { from, ...transaction } of transactions) {
      hashes.push(await client.sendTransaction({ account: from, gas: GAS, ...transaction }))
    }
    if (mine) await client.mine({ blocks: 1 })
    return Promise.all(
      hashes.map(async (hash) => {
        const receipt = await client.waitForTransactionReceipt({ hash })
        const { blockHash, blockNumber, status } = receipt
        return { hash, blockHash, blockNumber, status }
      }),
    )
  }
}
