import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The IPv6 addresses that IANA gives out for the public internet (RFC 4291). */
const GLOBAL_UNICAST_IPV6 = ipaddr.parseCIDR('2000::/3')

/**
 * Whether `ip` is an ordinary address of the public internet: outside every range that the IANA registries
 * of special-purpose addresses (RFC 6890) name, and for IPv6 inside 2000::/3.
 *
 * Takes canonical text only: anything else (octal, decimal or hexadecimal IPv4, a zone, a name) is not
 * public. Every address that reaches another one (v4-mapped, NAT64, 6to4, Teredo) is refused whole.
 */
export function isPublicAddress(ip: string): boolean {
  if (ip.includes('%') || isIP(ip) === 0) return false
  const address = ipaddr.parse(ip)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST_IPV6)
}
