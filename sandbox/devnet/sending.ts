import type { Hex } from 'viem'
import type { Address, Hash } from '#src/kernel/units.ts'
import type { DevnetClient } from './client.ts'

/** A transaction to send; without `to` it creates a contract. */
export interface TransactionToSend {
  readonly from: Address
  readonly to?: Address
  readonly value?: bigint
  readonly data?: Hex
}

/** A mined transaction. */
export interface MinedTransaction {
  readonly hash: Hash
  readonly blockNumber: bigint
  readonly blockHash: Hash
  readonly status: 'success' | 'reverted'
}

/** Sends transactions in sequence; resolves once all of them are mined. */
export type SendTransactions = (
  ...transactions: readonly TransactionToSend[]
) => Promise<readonly MinedTransaction[]>

/** Gas limit above all uses here, so that no gas estimation is needed. */
const GAS = 2_500_000n

/**
 * Creates a sender from any address, without its key. Failing transactions are mined too.
 *
 * @param mine whether it must create the blocks
 */
export function createSender(client: DevnetClient, mine: boolean): SendTransactions {
  return async (...transactions) => {
    const hashes: Hash[] = []
    for (const { from, ...transaction } of transactions) {
      // `null`: viem does not request the chain's id before each transaction.
      const call = { account: from, gas: GAS, chain: null, ...transaction }
      hashes.push(await client.sendTransaction(call))
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
