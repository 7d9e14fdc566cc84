import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The network of every client whose address cannot be read. They share their limits. */
export const UNKNOWN_NETWORK = 'unknown'

/** Address with a port, as some proxies write it: `203.0.113.9:1001`, `[2001:db8::1]:443`, `[2001:db8::1]`. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/

/** The address in a text, with or without a port; undefined if there is none. IPv4 in IPv6 is IPv4. */
export function readClientAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, ofBrackets, ofIPv4] = WITH_PORT.exec(text) ?? []
  const address = ofBrackets ?? ofIPv4 ?? text
  if (isIP(address) === 0) return undefined
  return ipaddr.process(address.replace(/%.*/, ''))
}

/**
 * Network of a client: the IPv4 address, or the /64 prefix of the IPv6 address. A port is ignored, because each
 * connection has another. Any other text is `UNKNOWN_NETWORK`.
 */
export function clientNetworkOf(address: string): string {
  const ip = readClientAddress(address)
  if (ip === undefined) return UNKNOWN_NETWORK
  if (ip instanceof ipaddr.IPv4) return ip.toString()
  const prefix = ip.parts.slice(0, 4).map((part) => part.toString(16))
  return `${prefix.join(':')}::/64`
}
