import { createRequire } from 'node:module'
import { isIP } from 'node:net'

// An import would keep the text of the list of domains twice, to find the names that it exports.
const { getDomain }: typeof import('tldts') = createRequire(import.meta.url)('tldts')

/**
 * Remembers which hosts belong together, because they share a registrable domain or an IP address.
 * Unresponsive hosts are limited by these groups.
 */
export interface HostGroups {
  /** Stores the addresses of a host. */
  note(host: string, addresses: readonly string[]): void
  /**
   * Groups of a host: its registrable domain and its last resolved IP addresses; of an IP address, only the
   * address itself.
   *
   * @param authority host, with or without port
   */
  of(authority: string): readonly string[]
}

/**
 * Maximum number of hosts whose addresses are stored; the host that was resolved longest ago is dropped
 * first.
 */
const REMEMBERED_MAX = 10_000
/** Maximum number of addresses of a host that are used. */
const ADDRESSES_MAX = 8

/** Creates groups without stored addresses. */
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
      // Private suffixes count, too: subdomains of a hosting platform belong to different people.
      const domain = getDomain(host, { allowPrivateDomains: true }) ?? host
      return [domain, ...(addressesOf.get(host) ?? [])]
    },
  }
}
