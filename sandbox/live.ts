import { readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** Sends an event to the listeners of a topic. The data is written as JSON. */
export type SendEvent = (data: unknown) => void

type Subscribe = (send: SendEvent) => () => void

const BROWSER = new URL('./browser/', import.meta.url)
/** Topics of each server's stream. */
const topicsOf = new WeakMap<Server, Map<string, Subscribe>>()

/**
 * Adds a topic to the server's event stream, `/live`, with the scripts that listen to it.
 *
 * There is one stream for all topics, and in a browser all tabs share one connection: a browser opens only
 * six per host. `subscribe` is called for each connection, and the function it returns when the connection
 * closes. Open streams end when the server closes.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function serveTopic(app: FastifyInstance, topic: string, subscribe: Subscribe): void {
  const topics = topicsOf.get(app.server) ?? serveStream(app)
  topics.set(topic, subscribe)
}

function serveStream(app: FastifyInstance): Map<string, Subscribe> {
  const topics = new Map<string, Subscribe>()
  topicsOf.set(app.server, topics)
  const open = new Set<ServerResponse>()
  app.addHook('preClose', async () => {
    for (const response of open) response.end()
  })
  app.get('/live', (_request, reply) => {
    reply.hijack()
    const response = reply.raw
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    })
    response.write('retry: 1000\n\n')
    const unsubscribes = [...topics].map(([topic, subscribe]) =>
      subscribe((data) => {
        // The page may have left meanwhile.
        if (response.writable) response.write(`data: ${JSON.stringify({ topic, data })}\n\n`)
      }),
    )
    open.add(response)
    response.once('close', () => {
      open.delete(response)
      for (const unsubscribe of unsubscribes) unsubscribe()
    })
  })
  for (const path of ['/live.js', '/live-worker.js']) {
    const script = readFileSync(new URL(`.${path}`, BROWSER))
    app.get(path, (_request, reply) =>
      reply.type('text/javascript; charset=utf-8').header('cache-control', 'no-cache').send(script),
    )
  }
  return topics
}
