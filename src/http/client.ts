/** The client of a request: its network, as the trusted proxies tell it. */
import type { FastifyInstance } from 'fastify'
import ipaddr from 'ipaddr.js'
import { clientNetworkOf, readClientAddress, UNKNOWN_NETWORK } from '#src/kernel/client-network.ts'
import type { Logger } from '#src/kernel/logger.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Network of the client, by which limits and free calls are counted. */
    readonly clientNetwork: string
  }
}

/**
 * Adds `clientNetwork` to every request. The first client whose address cannot be read is logged, because all such
 * clients share one limit.
 */
export function addClientNetwork(server: FastifyInstance, log: Logger): void {
  let isLogged = false
  server.decorateRequest('clientNetwork', {
    getter() {
      const network = clientNetworkOf(this.ip)
      if (network === UNKNOWN_NETWORK && !isLogged) {
        isLogged = true
        log.warn(
          { forwarded: this.headers['x-forwarded-for'] },
          'X-Forwarded-For does not contain an address; such clients share one limit',
        )
      }
      return network
    },
  })
}

/**
 * Whether a hop is a trusted proxy. `proxies`: a number of hops, or addresses and CIDRs. A port in an address is
 * ignored.
 */
export function trustedProxies(
  proxies: number | readonly string[],
): (address: string, hop: number) => boolean {
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies
  const ranges = proxies.map(rangeOf)
  return (text) => {
    const ip = readClientAddress(text)
    return ip !== undefined && ranges.some((range) => isWithin(ip, range))
  }
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

function rangeOf(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text)
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function isWithin(ip: ipaddr.IPv4 | ipaddr.IPv6, [range, bits]: Range): boolean {
  return ip.kind() === range.kind() && ip.match(range, bits)
}
