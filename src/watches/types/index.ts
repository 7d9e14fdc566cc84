import type { WatchType } from '../define.ts'
import { walletBalance } from './wallet-balance.ts'

/** Every watch type there is, in the order it is shown. */
export const REGISTRY: readonly WatchType[] = [walletBalance]

/** @returns undefined for a name that is no watch type */
export function findWatchType(name: string): WatchType | undefined {
  return REGISTRY.find((type) => type.name === name)
}

/** The type of a stored watch. @throws Error for an unknown name: stored types always exist */
export function getWatchType(name: string): WatchType {
  const type = findWatchType(name)
  if (type === undefined) throw new Error(`no watch type is called ${name}`)
  return type
}
