import { Agent, createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeServer, listenOnLoopback } from '../loopback.ts'
import {
  clearFaults,
  noFaults,
  type RpcCall,
  type RpcChange,
  type RpcFault,
  type RpcFaults,
} from './rpc-faults.ts'
import { createNodeChoice, type NodeRules } from './rpc-node.ts'
import { createRateLimit, type RateRule } from './rpc-rate.ts'
import { type Endpoint, readCalls, relay } from './rpc-relay.ts'
import { createTrafficCounter, type RpcTraffic } from './rpc-traffic.ts'

/** How an endpoint behaves: the nodes behind it, and how many requests it accepts. */
export interface EndpointRules extends NodeRules {
  readonly rate?: RateRule
}

/** Proxy of a JSON-RPC endpoint that counts calls and injects faults. */
export interface RpcProxy {
  readonly url: string
  /** Number of calls of a method, single or in a batch, with any result. */
  count(method: string): number
  /** Number of calls by method. */
  counts(): Readonly<Record<string, number>>
  /** Calls since the counts were reset: by method, refused, most in a second. */
  traffic(): RpcTraffic
  /** Resets the counts. */
  resetCounts(): void
  /** Behaves by these rules from now on, in place of earlier ones; without any the chain answers itself. */
  behave(rules: EndpointRules): void
  /** Drops every connection, and refuses new ones. The port stays taken. */
  down(): Promise<void>
  /** Ends every fault and rule, and accepts connections again. */
  up(): Promise<void>
  /** Accepts requests and never answers them. */
  hang(): void
  /** Delays answers. */
  delay(ms: number): void
  /** Keeps requests for the newest block until the returned function is called. */
  hold(): () => void
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
  const traffic = createTrafficCounter()
  const faults = noFaults()
  const stopping = new AbortController()
  const agent = new Agent({ keepAlive: true })
  const chain = { url: targetUrl, agent, faults, traffic }
  let endpoint: Endpoint = { ...chain, ...ruled({}) }
  const server = createServer(async (incoming, response) => {
    try {
      const body = await text(incoming)
      const { calls } = readCalls(body)
      for (const call of calls) traffic.arrived(call, performance.now())
      if (faults.hanging) return
      if (calls.some(isForNewestBlock)) await faults.held
      if (faults.delayMs > 0) {
        await sleep(faults.delayMs, undefined, { signal: stopping.signal })
      }
      const { status, headers, body: answer } = await relay(endpoint, body)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(answer)
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
    count: (method) => traffic.read().byMethod[method] ?? 0,
    counts: () => traffic.read().byMethod,
    traffic: traffic.read,
    resetCounts: traffic.reset,
    behave: (rules) => {
      endpoint = { ...chain, ...ruled(rules) }
    },
    ...controls(faults),
    down: () => {
      isDown = true
      server.closeAllConnections()
      return Promise.resolve()
    },
    up: () => {
      clearFaults(faults)
      endpoint = { ...chain, ...ruled({}) }
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

function isForNewestBlock({ method, params }: RpcCall): boolean {
  return method === 'eth_getBlockByNumber' && Array.isArray(params) && params[0] === 'latest'
}

function ruled(rules: EndpointRules): Pick<Endpoint, 'rules' | 'rate' | 'chooseNode'> {
  return {
    rules,
    rate: rules.rate && createRateLimit(rules.rate),
    chooseNode: rules.nodes === undefined ? () => 0 : createNodeChoice(rules.nodes),
  }
}

type Controls = Pick<
  RpcProxy,
  'hang' | 'delay' | 'hold' | 'failNext' | 'refuseShare' | 'rewrite' | 'emptyLogs'
>

function controls(faults: RpcFaults): Controls {
  return {
    hang: () => {
      faults.hanging = true
    },
    delay: (ms) => {
      faults.delayMs = ms
    },
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      faults.held = promise
      return resolve
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
