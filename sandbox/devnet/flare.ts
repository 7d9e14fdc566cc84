import { defineChain } from 'viem'
import { MULTICALL3_ADDRESS } from '#src/chain/contracts.ts'

/**
 * Flare Mainnet in viem's format, for the sandbox and tests, whose local chain has the same id. Importing
 * `viem/chains` would load 700 other chains.
 */
export const flare = defineChain({
  id: 14,
  name: 'Flare Mainnet',
  nativeCurrency: { decimals: 18, name: 'Flare', symbol: 'FLR' },
  rpcUrls: { default: { http: ['https://flare-api.flare.network/ext/C/rpc'] } },
  contracts: { multicall3: { address: MULTICALL3_ADDRESS } },
})
