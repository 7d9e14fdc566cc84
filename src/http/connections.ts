import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { networkOf } from '#src/kernel/network.ts'

const REFUSAL =
  'HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'

/**
 * Refuses connections beyond `max` open ones from one IPv4 address or IPv6 /64, so that nobody uses up
 * what all share. It goes by the address of the connection: behind a proxy that is the proxy's.
 */
export function limitConnections(server: FastifyInstance, max: number): void {
  const open = new Map<string, number>()
  server.server.on('connection', (socket: Socket) => {
    // One that is gone already has no address.
    if (socket.remoteAddress === undefined) return
    const network = networkOf(socket.remoteAddress)
    const count = open.get(network) ?? 0
    if (count >= max) {
      socket.write(REFUSAL)
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
