import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Headers of the client that the service reads. */
const PASSED = ['authorization', 'content-type', 'idempotency-key', 'if-match', 'accept'] as const
/** Public operations are limited by address. */
let proxies = 0

/** A server in front of a service. @param before called first; what never ends holds the request */
export async function proxyOf(
  service: string,
  before: (method: string, path: string, forward: () => Promise<unknown>) => Promise<void>,
): Promise<{ readonly url: string; close(): void }> {
  proxies += 1
  const client = `10.0.0.${proxies}`
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = 'GET', url: path = '/' } = request
    const body = Buffer.concat(chunks)
    const forward = () => {
      const headers = new Headers({ 'x-forwarded-for': client })
      for (const name of PASSED) {
        const value = request.headers[name]
        if (typeof value === 'string') headers.set(name, value)
      }
      return fetch(new URL(path, service), {
        method,
        headers,
        ...(body.length > 0 && { body }),
      })
    }
    await before(method, path.replace('/api/x402', ''), forward)
    const answer = await forward()
    response.statusCode = answer.status
    for (const name of ['etag', 'idempotent-replayed', 'retry-after']) {
      const value = answer.headers.get(name)
      if (value !== null) response.setHeader(name, value)
    }
    response.end(Buffer.from(await answer.arrayBuffer()))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
