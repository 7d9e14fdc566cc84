import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** IPv6 addresses that IANA allocates for the public internet (RFC 4291). */
const GLOBAL_UNICAST_IPV6 = ipaddr.parseCIDR('2000::/3')

/**
 * Whether `ip` is a public address: outside all ranges of the IANA special-purpose registries (RFC 6890),
 * and for IPv6 inside 2000::/3.
 *
 * Accepts canonical text only: other forms (octal, decimal or hexadecimal IPv4, a zone, a name) are not
 * public. Addresses that embed another one (v4-mapped, NAT64, 6to4, Teredo) are refused.
 */
export function isPublicAddress(ip: string): boolean {
  if (ip.includes('%') || isIP(ip) === 0) return false
  const address = ipaddr.parse(ip)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST_IPV6)
}
