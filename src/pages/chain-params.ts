import { numberToHex } from 'viem/utils'
import { NATIVE_DECIMALS } from '#src/chain/contracts.ts'
import { isFlare, servedChain } from '#src/kernel/chains.ts'

/**
 * The chain's parameters for a wallet.
 * @see EIP-3085, EIP-3326
 */
export function chainParams() {
  const { id, name, symbol, rpcUrl, explorer } = servedChain()
  return {
    chainId: numberToHex(id),
    chainName: isFlare() ? 'Flare Mainnet' : name,
    nativeCurrency: { decimals: NATIVE_DECIMALS, name, symbol },
    rpcUrls: [rpcUrl],
    blockExplorerUrls: [explorer.url],
  }
}

/** Explorer link of a transaction on the served chain. */
export function explorerLink(txHash: string): string {
  return `${servedChain().explorer.url}/tx/${txHash}`
}
