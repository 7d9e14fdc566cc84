import type { ChainWatchType, LedgerWatchType, WatchType } from '../define.ts'
import { creditsBalance } from './credits-balance.ts'
import { feedMove } from './feed-move.ts'
import { providerEligibility } from './provider-eligibility.ts'
import { providerFsp } from './provider-fsp/index.ts'
import { rewardSigning } from './reward-signing.ts'
import { walletBalance } from './wallet-balance.ts'

/** Every watch type, in display order. */
export const REGISTRY: readonly WatchType[] = [
  walletBalance,
  feedMove,
  providerEligibility,
  creditsBalance,
  rewardSigning,
  providerFsp,
]

/** Watch types that observe the chain. */
export const CHAIN_WATCH_TYPES: readonly ChainWatchType[] = REGISTRY.filter(readsChain)

/** Watch types that observe their owner's ledger. */
export const LEDGER_WATCH_TYPES: readonly LedgerWatchType[] = REGISTRY.filter(readsLedger)

function readsChain(type: WatchType): type is ChainWatchType {
  return type.reads === 'chain'
}

function readsLedger(type: WatchType): type is LedgerWatchType {
  return type.reads === 'ledger'
}

/** Finds a watch type; undefined for an unknown name. */
export function findWatchType(name: string): WatchType | undefined {
  return REGISTRY.find((watchType) => watchType.name === name)
}

/** The type of a stored watch. @throws Error for an unknown name, which cannot be stored */
export function getWatchType(name: string): WatchType {
  const type = findWatchType(name)
  if (type === undefined) throw new Error(`no watch type is called ${name}`)
  return type
}
