import { once } from 'node:events'
import type { Server } from 'node:http'

/**
 * Lets a server listen on loopback; answers its port.
 *
 * @param port 0 takes any free one
 */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Ends listening and every connection, if it does listen. */
export async function stopListening(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
