import { defineChain } from 'viem'
import { MULTICALL3_ADDRESS } from './contracts.ts'

/**
 * viem's definition of the chain, for payments and signatures. Importing viem's own would load 700
 * other chains.
 */
export const flare = defineChain({
  id: 14,
  name: 'Flare Mainnet',
  nativeCurrency: { decimals: 18, name: 'Flare', symbol: 'FLR' },
  rpcUrls: { default: { http: ['https://flare-api.flare.network/ext/C/rpc'] } },
  contracts: { multicall3: { address: MULTICALL3_ADDRESS } },
})
