import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy of a server that cuts the connection after a number of messages. */
export interface SeveringProxy {
  readonly port: number
  /**
   * Counts messages to the server from now on, and calls `cut` instead of passing on the nth. Without
   * arguments it only counts.
   */
  watch(nth?: number, cut?: () => void): void
  /** The messages since then, as text. */
  messages(): readonly string[]
  /** Passes on nothing more, and accepts connections, as a server that hangs. */
  freeze(): void
  close(): Promise<void>
}

/** Starts a proxy on loopback in front of a server on this machine. */
export async function startSeveringProxy(target: {
  readonly host: string
  readonly port: number
}): Promise<SeveringProxy> {
  let order: { readonly nth?: number | undefined; cut?(): void } = {}
  let messages: string[] = []
  let isFrozen = false
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    upstream.on('data', (message) => {
      if (!isFrozen) client.write(message)
    })
    client.on('data', (message) => {
      if (isFrozen) return
      messages.push(message.toString('latin1'))
      if (messages.length === order.nth) order.cut?.()
      else upstream.write(message)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    watch: (nth, cut = () => undefined) => {
      messages = []
      order = { nth, cut }
    },
    messages: () => messages,
    freeze: () => {
      isFrozen = true
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
