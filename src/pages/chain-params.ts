import { numberToHex } from 'viem/utils'
import { flare } from '#src/chain/flare.ts'

/** Name of the chain of payments and signatures. */
export const CHAIN_NAME = 'Flare'

/**
 * The chain's parameters for a wallet.
 * @see EIP-3085, EIP-3326
 */
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

/** Explorer link of a transaction on Flare. */
export function explorerLink(txHash: string): string {
  return `${flare.blockExplorers.default.url}/tx/${txHash}`
}
