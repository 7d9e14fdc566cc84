import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Customers' receivers with a latency of 20 ms, and others that never answer, on every address of this machine. Run
 * as a process of its own; prints the address of the first and the port of the second. `GET` returns the number of
 * deliveries, `GET /take` those since the last call: their ids, and the time of the first bytes of each.
 */
const ANSWER_MS = 20
let arrivals: (readonly [string, number])[] = []

async function listen(host: string, answer: RequestListener): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, answer)
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return port
}

const port = await listen('0.0.0.0', async (request, response) => {
  if (request.method === 'GET') {
    const body = JSON.stringify(arrivals)
    if (request.url === '/take') arrivals = []
    response.end(request.url === '/take' ? body : String(arrivals.length))
    return
  }
  const at = performance.timeOrigin + performance.now()
  arrivals.push([String(request.headers['x-watchdog-delivery']), at])
  request.resume()
  await wait(ANSWER_MS)
  response.end()
})
const hangingPort = await listen('0.0.0.0', (request) => request.resume())
process.stdout.write(`http://127.0.0.1:${port}/ ${hangingPort}\n`)
