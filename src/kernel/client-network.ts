import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * Network of a client: the IPv4 address, or the /64 prefix of the IPv6 address. Other text is returned
 * unchanged.
 */
export function clientNetworkOf(address: string): string {
  if (isIP(address) === 0) return address
  const ip = ipaddr.process(address.replace(/%.*/, ''))
  if (ip instanceof ipaddr.IPv4) return ip.toString()
  const prefix = ip.parts.slice(0, 4).map((part) => part.toString(16))
  return `${prefix.join(':')}::/64`
}
