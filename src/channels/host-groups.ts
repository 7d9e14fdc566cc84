import { isIP } from 'node:net'
import { getDomain } from 'tldts'

/** What hosts have in common: who registered them, and where they are. */
export interface HostGroups {
  /** Remembers the addresses of a host. */
  note(host: string, addresses: readonly string[]): void
  /**
   * The registrable domain of a host and its addresses as they were last resolved; a host that is an address
   * has that alone.
   *
   * @param authority a host, with a port or without
   */
  of(authority: string): readonly string[]
}

/** Addresses of so many hosts are remembered; of more the one longest unresolved is forgotten. */
const REMEMBERED_MAX = 10_000
/** Of a host with more addresses so many count. */
const ADDRESSES_MAX = 8

/** Groups of the hosts that are noted. */
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
