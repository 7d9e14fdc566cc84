/** The chains that the service can serve. A process serves one of them, named by `CHAIN_ID`. */

/**
 * Properties that differ between the chains. Contracts are found through the registry, whose address is the
 * same on all chains.
 */
export interface ServedChain {
  readonly id: number
  /** Name in texts. */
  readonly name: string
  /** Name in machine-readable documents. */
  readonly key: string
  /** Symbol of the chain's own coin. */
  readonly symbol: string
  /** Feed with the coin's price in US dollars. A test chain's coin has no feed; it has the price of the main chain's coin. */
  readonly feed: 'FLR/USD' | 'SGB/USD'
  /** Whether the chain's coin has no value. */
  readonly isTest: boolean
  readonly rpcUrl: string
  readonly explorer: { readonly name: string; readonly url: string }
}

/**
 * Builds an entry. The host names of endpoint and explorer contain the chain's `key`.
 * @see viem, `chains/definitions` of flare, songbird, flareTestnet and songbirdTestnet
 */
function chainOf(
  id: number,
  names: Pick<ServedChain, 'name' | 'key' | 'symbol' | 'feed' | 'isTest'>,
): ServedChain {
  const { name, key } = names
  return {
    id,
    ...names,
    rpcUrl: `https://${key}-api.flare.network/ext/C/rpc`,
    explorer: { name: `${name} Explorer`, url: `https://${key}-explorer.flare.network` },
  }
}

const FLARE = chainOf(14, {
  ...{ name: 'Flare', key: 'flare', symbol: 'FLR', feed: 'FLR/USD', isTest: false },
})

export const CHAINS: readonly ServedChain[] = [
  FLARE,
  chainOf(16, {
    ...{ name: 'Coston', key: 'coston', symbol: 'CFLR', feed: 'SGB/USD', isTest: true },
  }),
  chainOf(19, {
    ...{ name: 'Songbird', key: 'songbird', symbol: 'SGB', feed: 'SGB/USD', isTest: false },
  }),
  chainOf(114, {
    ...{ name: 'Coston2', key: 'coston2', symbol: 'C2FLR', feed: 'FLR/USD', isTest: true },
  }),
]

let served = FLARE

/** The chain of this process; Flare until another is set. */
export function servedChain(): ServedChain {
  return served
}

/** Whether this process serves Flare, whose name the texts already contain. */
export function isFlare(): boolean {
  return served.id === FLARE.id
}

/**
 * Sets the chain of this process, once when it starts.
 * @throws Error for an id that is not in `CHAINS`
 */
export function serveChain(id: number): ServedChain {
  const chain = CHAINS.find((known) => known.id === id)
  if (chain === undefined) throw new Error(`no chain ${id}`)
  served = chain
  return chain
}

/** Symbol of an asset: of the chain's own coin, which the service calls `FLR` on every chain, or `tokenSymbol`. */
export function assetSymbol(asset: string, tokenSymbol: string): string {
  return asset === FLARE.symbol ? served.symbol : tokenSymbol
}

/**
 * A title with the chain's name after it, so that every message names its chain. On Flare the title is
 * unchanged.
 */
export function titleOnChain(title: string): string {
  return isFlare() ? title : `${title} · ${served.name}`
}
