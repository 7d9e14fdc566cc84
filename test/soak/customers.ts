import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

/** Faults of a webhook receiver. */
export const WEBHOOK_FAULTS = [
  'hang',
  'drip',
  'reset',
  'redirect',
  '404',
  '410',
  '429',
  '500',
  'refused',
  'unresolved',
] as const
export type WebhookFault = (typeof WEBHOOK_FAULTS)[number]

/** Arrival of one delivery at a healthy receiver. */
export interface Arrival {
  readonly recipient: number
  readonly deliveryId: string
  readonly alertId: number
  /** Number of arrivals. */
  times: number
  /** Time of the first arrival, in milliseconds since 1970. */
  readonly atMs: number
}

const Body = z.object({ deliveryId: z.string(), alertId: z.number().nullable() })

/** Web servers of many customers, each with a loopback address of its own, healthy and failing ones. */
export async function startCustomers() {
  const arrivals = new Map<string, Arrival>()
  const drips = new Set<NodeJS.Timeout>()
  /** Called with the next arrival, which gets no answer. */
  let onHeld: (() => void) | undefined
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const { port } = address

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const [, kind = '', id = ''] = (request.url ?? '').split('/')
    if (kind !== 'ok') return misbehave(kind, response)
    const { deliveryId, alertId } = Body.parse(JSON.parse(body))
    const known = arrivals.get(deliveryId)
    if (known !== undefined) known.times += 1
    else if (alertId !== null) {
      const recipient = Number(id)
      arrivals.set(deliveryId, { recipient, deliveryId, alertId, times: 1, atMs: Date.now() })
    }
    if (onHeld === undefined) response.end()
    onHeld?.()
    onHeld = undefined
  }

  function misbehave(kind: string, response: ServerResponse): void {
    if (kind === 'hang') return
    if (kind === 'reset') {
      response.socket?.resetAndDestroy()
    } else if (kind === 'drip') {
      response.writeHead(200)
      const timer = setInterval(() => response.write('.'), 500)
      drips.add(timer)
      response.once('close', () => clearInterval(timer))
    } else if (kind === 'redirect') {
      response.writeHead(302, { location: 'http://127.0.0.1/elsewhere' }).end()
    } else if (kind === '429') response.writeHead(429, { 'retry-after': '30' }).end()
    else response.writeHead(Number(kind)).end()
  }

  return {
    /** First arrivals at healthy receivers, by delivery id. */
    arrivals: arrivals as ReadonlyMap<string, Arrival>,
    /** Leaves the next delivery to a healthy receiver without an answer. Resolves when it has arrived. */
    holdOne: () =>
      new Promise<void>((resolve) => {
        onHeld = resolve
      }),
    /**
     * URL at which recipient `id` accepts deliveries. @param customer 0 to 64,769: a loopback
     * address each
     */
    healthyUrl: (customer: number, id: number) => `http://${addressOf(customer)}:${port}/ok/${id}`,
    /** URL at which deliveries fail in this way. */
    failingUrl: (fault: WebhookFault, customer: number) => {
      if (fault === 'unresolved') return `http://gone-${customer}.invalid/hook`
      const place = fault === 'refused' ? 1 : port
      return `http://${addressOf(customer)}:${place}/${fault}/${customer}`
    },
    close: async () => {
      for (const timer of drips) clearInterval(timer)
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function addressOf(customer: number): string {
  return `127.1.${1 + Math.floor(customer / 250)}.${1 + (customer % 250)}`
}
