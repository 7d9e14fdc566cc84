import { createTestClient, http, publicActions, rpcSchema, walletActions } from 'viem'
import { flare } from '#src/chain/flare.ts'

/** Id of a stored state of the chain. */
export type SnapshotId = `0x${string}`

/** viem's public, wallet and test actions in one client. */
export type DevnetClient = ReturnType<typeof connectClient>

/** Connects a client to the chain at this URL. */
export function connectClient(url: string) {
  return createTestClient({
    mode: 'anvil',
    chain: { ...flare, rpcUrls: { default: { http: [url] } } },
    transport: http(url, { retryCount: 0 }),
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
}
