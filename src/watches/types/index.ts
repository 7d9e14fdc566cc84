import type { ChainWatchType, LedgerWatchType, WatchType, WatchTypeDefinition } from '../define.ts'
import { creditsBalance } from './credits-balance.ts'
import { feedMove } from './feed-move.ts'
import { providerEligibility } from './provider-eligibility.ts'
import { providerFsp } from './provider-fsp/index.ts'
import { rewardSigning } from './reward-signing.ts'
import { walletBalance } from './wallet-balance.ts'

/** Every watch type of the catalogue in the order it is shown, those that are only announced too. */
export const CATALOGUE: readonly WatchTypeDefinition[] = [
  walletBalance,
  feedMove,
  providerEligibility,
  creditsBalance,
  rewardSigning,
  providerFsp,
]

/** The watch types that can be created, in the same order. */
export const REGISTRY: readonly WatchType[] = CATALOGUE.filter(canObserve)

/** Whether watches of this type can be made; false while it is only announced. */
export function canObserve(type: WatchTypeDefinition): type is WatchType {
  return 'reads' in type
}

/** Those that look at the chain. */
export const CHAIN_TYPES: readonly ChainWatchType[] = REGISTRY.filter(readsChain)

/** Those that look at their owner's ledger. */
export const LEDGER_TYPES: readonly LedgerWatchType[] = REGISTRY.filter(readsLedger)

function readsChain(type: WatchType): type is ChainWatchType {
  return type.reads === 'chain'
}

function readsLedger(type: WatchType): type is LedgerWatchType {
  return type.reads === 'ledger'
}

/** The type of a stored watch. @throws Error for an unknown name: stored types always exist */
export function getWatchType(name: string): WatchType {
  const type = REGISTRY.find((one) => one.name === name)
  if (type === undefined) throw new Error(`no watch type is called ${name}`)
  return type
}
