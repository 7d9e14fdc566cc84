import { createHash } from 'node:crypto'
import { Address } from './units.ts'

/** Beginning of the wallets of followers. A person would have to try 2 ** 64 keys for a wallet that begins so. */
export const FOLLOWERS_PREFIX = '0x0000000000000000'
/** Hexadecimal digits behind the prefix. */
const DIGITS = 24

/**
 * The wallet to which the followers of a provider and the watch by which it is judged for them belong. Nobody has its
 * key. Each provider has its own, so that followers are the default recipients of that watch.
 */
export function followersWallet(provider: Address): Address {
  const digest = createHash('sha256').update(`followers of ${provider.toLowerCase()}`).digest('hex')
  return Address.parse(`${FOLLOWERS_PREFIX}${digest.slice(0, DIGITS)}`)
}
