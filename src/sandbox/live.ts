import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** Sends one event to a page that listens. The data is written as JSON. */
export type SendEvent = (data: unknown) => void

/**
 * Adds a route of server-sent events.
 *
 * `subscribe` is called for each page that starts to listen, and what it returns when that page
 * has gone. Open streams end when the server closes.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function serveEvents(
  app: FastifyInstance,
  path: string,
  subscribe: (send: SendEvent) => () => void,
): void {
  const open = new Set<ServerResponse>()
  app.addHook('preClose', async () => {
    for (const response of open) response.end()
  })
  app.get(path, (_request, reply) => {
    reply.hijack()
    const response = reply.raw
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    })
    response.write('retry: 1000\n\n')
    const unsubscribe = subscribe((data) => {
      // What was on its way when the page left has nowhere to go.
      if (response.writable) response.write(`data: ${JSON.stringify(data)}\n\n`)
    })
    open.add(response)
    response.once('close', () => {
      open.delete(response)
      unsubscribe()
    })
  })
}
