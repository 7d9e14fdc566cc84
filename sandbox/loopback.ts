import { once } from 'node:events'
import type { Server } from 'node:http'

/**
 * Starts listening on loopback; returns the port.
 *
 * @param port 0 uses any free one
 */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  // A client that reuses a connection at the moment when it is closed for idleness gets an error.
  server.keepAliveTimeout = 0
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Stops listening and closes every connection; no effect if it does not listen. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
