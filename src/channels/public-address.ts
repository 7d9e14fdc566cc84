import { BlockList, isIP } from 'node:net'

/** IPv4 ranges that are not the public internet: IANA special-purpose registry, multicast, reserved. */
const CLOSED_IPV4 = [
  ['0.0.0.0', 8], // this network, unspecified
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
] as const

/**
 * IPv6 is open only inside 2000::/3, which leaves out loopback, unspecified, v4-mapped, NAT64, unique
 * local, link-local, site-local and multicast at once. Within it these are closed.
 */
const OPEN_IPV6 = [['2000::', 3]] as const
const CLOSED_IPV6 = [
  ['2001::', 23], // protocol assignments: Teredo, benchmarking, ORCHID
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
] as const

const closed = listOf([...CLOSED_IPV4, ...CLOSED_IPV6])
const openIpv6 = listOf(OPEN_IPV6)

/**
 * Whether `ip` is an ordinary address of the public internet.
 *
 * Takes canonical text only: anything else (octal, decimal or hexadecimal IPv4, a zone, a name) is not
 * public. Every address that reaches another one (v4-mapped, NAT64, 6to4, Teredo) is refused whole.
 *
 * @see IANA IPv4 and IPv6 special-purpose address registries (RFC 6890)
 */
export function isPublicAddress(ip: string): boolean {
  if (ip.includes('%')) return false
  const family = isIP(ip)
  if (family === 4) return !closed.check(ip, 'ipv4')
  return family === 6 && openIpv6.check(ip, 'ipv6') && !closed.check(ip, 'ipv6')
}

function listOf(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList()
  for (const [start, prefix] of ranges) {
    list.addSubnet(start, prefix, start.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}
