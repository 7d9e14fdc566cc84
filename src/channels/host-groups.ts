import { isIP } from 'node:net'
import { getDomain } from 'tldts'

/** Groups that hosts share: registrable domain and addresses. */
export interface HostGroups {
  /** Stores the addresses of a host. */
  note(host: string, addresses: readonly string[]): void
  /**
   * Registrable domain of a host and its last resolved addresses; for a host that is an address, only the
   * address.
   *
   * @param authority host, with or without port
   */
  of(authority: string): readonly string[]
}

/** Most hosts whose addresses are stored; the one resolved longest ago is dropped first. */
const REMEMBERED_MAX = 10_000
/** Most addresses of a host that are used. */
const ADDRESSES_MAX = 8

/** Creates an empty list of groups. */
export function createHostGroups(): HostGroups {
  const addressesOf = new Map<string, readonly string[]>()
  return {
    note(host, addresses) {
      addressesOf.delete(host)
      addressesOf.set(host, addresses.slice(0, ADDRESSES_MAX))
      const [oldest] = addressesOf.keys()
      if (addressesOf.size > REMEMBERED_MAX && oldest !== undefined) addressesOf.delete(oldest)
    },
    of(authority) {
      const host = URL.parse(`http://${authority}`)?.hostname ?? authority
      const bare = host.startsWith('[') ? host.slice(1, -1) : host
      if (isIP(bare) !== 0) return [bare]
      // Names below a public suffix of a provider, such as a hosting platform, belong to different people.
      const domain = getDomain(host, { allowPrivateDomains: true }) ?? host
      return [domain, ...(addressesOf.get(host) ?? [])]
    },
  }
}
