import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { closeServer, listenOnLoopback } from '../loopback.ts'
import {
  changeAnswer,
  clearFaults,
  noFaults,
  RpcAnswer,
  RpcCall,
  type RpcChange,
  type RpcFault,
  type RpcFaults,
  takeError,
  takeStatus,
} from './rpc-faults.ts'

/** Proxy of a JSON-RPC endpoint that counts calls and injects faults. */
export interface RpcProxy {
  readonly url: string
  /** Number of calls of a method, single or in a batch, with any result. */
  count(method: string): number
  /** Number of calls by method. */
  counts(): Readonly<Record<string, number>>
  /** Resets the counts. */
  resetCounts(): void
  /** Drops every connection, and refuses new ones. The port stays taken. */
  down(): Promise<void>
  /** Ends every fault and accepts connections again. */
  up(): Promise<void>
  /** Accepts requests and never answers them. */
  hang(): void
  /** Delays answers. */
  delay(ms: number): void
  /**
   * Refuses the next requests: with a status, that many HTTP requests; with an error, that many calls.
   * With a method, only calls of the method are refused. Refused requests do not reach the endpoint.
   */
  failNext(times: number, fault: RpcFault, method?: string): void
  /** Refuses a ratio of all requests from now on, 0 to 1, with a status. */
  refuseShare(part: number, status: number): void
  /** Changes the endpoint's results of a method; its errors pass unchanged. */
  rewrite(method: string, change: RpcChange): void
  /** Answers empty lists of logs. */
  emptyLogs(): void
  close(): Promise<void>
}

const LOG_METHODS = ['eth_getLogs', 'eth_getFilterLogs', 'eth_getFilterChanges']

/**
 * Starts a proxy on loopback in front of `targetUrl`.
 *
 * @param port 0, the default, uses any free port
 */
export async function startRpcProxy(targetUrl: string, port = 0): Promise<RpcProxy> {
  const counts = new Map<string, number>()
  const faults = noFaults()
  const stopping = new AbortController()
  const agent = new Agent({ keepAlive: true })
  const server = createServer(async (incoming, response) => {
    try {
      const body = await text(incoming)
      for (const { method } of readCalls(body).calls) {
        counts.set(method, (counts.get(method) ?? 0) + 1)
      }
      if (faults.hanging) return
      if (faults.delayMs > 0) {
        await sleep(faults.delayMs, undefined, { signal: stopping.signal })
      }
      const answer = await relay(targetUrl, body, faults, agent)
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    } catch {
      // The endpoint is gone or the proxy is stopping; the caller sees a broken connection.
      response.destroy()
    }
  })
  let isDown = false
  server.on('connection', (socket) => {
    if (isDown) socket.destroy()
  })
  const ownPort = await listenOnLoopback(server, port)
  return {
    url: `http://127.0.0.1:${ownPort}`,
    count: (method) => counts.get(method) ?? 0,
    counts: () => Object.fromEntries(counts),
    resetCounts: () => counts.clear(),
    ...controls(faults),
    down: () => {
      isDown = true
      server.closeAllConnections()
      return Promise.resolve()
    },
    up: () => {
      clearFaults(faults)
      isDown = false
      return Promise.resolve()
    },
    close: async () => {
      stopping.abort()
      agent.destroy()
      await closeServer(server)
    },
  }
}

type Controls = Pick<
  RpcProxy,
  'hang' | 'delay' | 'failNext' | 'refuseShare' | 'rewrite' | 'emptyLogs'
>

function controls(faults: RpcFaults): Controls {
  return {
    hang: () => {
      faults.hanging = true
    },
    delay: (ms) => {
      faults.delayMs = ms
    },
    failNext: (times, fault, method) => {
      faults.refusals.push({ fault, method, left: times })
    },
    refuseShare: (part, status) => {
      Object.assign(faults.share, { part, status })
    },
    rewrite: (method, change) => {
      faults.changes.set(method, change)
    },
    emptyLogs: () => {
      for (const method of LOG_METHODS) faults.changes.set(method, () => [])
    },
  }
}

interface Relayed {
  readonly status: number
  readonly body: string
}

async function relay(url: string, body: string, faults: RpcFaults, agent: Agent): Promise<Relayed> {
  const { calls, isBatch } = readCalls(body)
  const status = takeStatus(faults, calls)
  if (status !== undefined) return { status, body: JSON.stringify({ error: `status ${status}` }) }

  const passed: RpcCall[] = []
  const refused: unknown[] = []
  for (const call of calls) {
    const error = takeError(faults, call)
    if (error === undefined) passed.push(call)
    else refused.push({ jsonrpc: '2.0', id: call.id ?? null, error })
  }
  const isUntouched =
    refused.length === 0 && !passed.some(({ method }) => faults.changes.has(method))
  if (isUntouched) return post(url, body, agent)

  const answers = passed.length === 0 ? [] : await ask(url, passed, agent)
  const all = [...answers.map((answer) => changeAnswer(faults, answer, passed)), ...refused]
  return { status: 200, body: JSON.stringify(isBatch ? all : all[0]) }
}

async function ask(
  url: string,
  calls: readonly RpcCall[],
  agent: Agent,
): Promise<readonly RpcAnswer[]> {
  const { body } = await post(url, JSON.stringify(calls), agent)
  return z.array(RpcAnswer).parse(JSON.parse(body))
}

async function post(url: string, body: string, agent: Agent): Promise<Relayed> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const asked = request(url, { method: 'POST', headers, agent }).end(body)
  const [response]: IncomingMessage[] = await once(asked, 'response')
  if (response === undefined) throw new Error('no answer')
  return { status: response.statusCode ?? 0, body: await text(response) }
}

/** Parses calls; a body that is not JSON-RPC has none and passes unchanged. */
function readCalls(body: string): {
  readonly calls: readonly RpcCall[]
  readonly isBatch: boolean
} {
  try {
    const json: unknown = JSON.parse(body)
    const isBatch = Array.isArray(json)
    return { calls: z.array(RpcCall).parse(isBatch ? json : [json]), isBatch }
  } catch {
    return { calls: [], isBatch: false }
  }
}
