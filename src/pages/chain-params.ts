import { numberToHex } from 'viem/utils'
import { flare } from '#src/chain/flare.ts'

/** What people call the chain that is paid and signed on. */
export const CHAIN_NAME = 'Flare'

/** The chain as a wallet is told of it. @see EIP-3085, EIP-3326 */
export function chainParams(chainId: number) {
  const hex = numberToHex(chainId)
  if (chainId !== flare.id) return { chainId: hex }
  return {
    chainId: hex,
    chainName: flare.name,
    nativeCurrency: flare.nativeCurrency,
    rpcUrls: flare.rpcUrls.default.http,
    blockExplorerUrls: [flare.blockExplorers.default.url],
  }
}

/** Where a transaction of Flare can be looked at. */
export function explorerLink(txHash: string): string {
  return `${flare.blockExplorers.default.url}/tx/${txHash}`
}
