import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { clientNetworkOf } from '#src/kernel/client-network.ts'
import { rawProblem } from './malformed.ts'

const RETRY_SECONDS = 10

/**
 * Refuses connections beyond `max` open ones from one IPv4 address or IPv6 /64, so that no client exhausts
 * the shared limit. The address is the one of the TCP connection: behind a proxy, the address of the proxy.
 */
export function limitConnections(server: FastifyInstance, max: number): void {
  const open = new Map<string, number>()
  server.server.on('connection', (socket: Socket) => {
    // A closed connection has no address.
    if (socket.remoteAddress === undefined) return
    const network = clientNetworkOf(socket.remoteAddress)
    const count = open.get(network) ?? 0
    if (count >= max) {
      socket.write(rawProblem(503, [`Retry-After: ${RETRY_SECONDS}`]))
      socket.destroySoon()
      return
    }
    open.set(network, count + 1)
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1
      if (left === 0) open.delete(network)
      else open.set(network, left)
    })
  })
}
