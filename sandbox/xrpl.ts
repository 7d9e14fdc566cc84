import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { closeServer, listenOnLoopback } from './loopback.ts'
import { type ErrorToken, errorOf, XrplRefusal } from './xrpl/errors.ts'
import { createHistory, type Deposit } from './xrpl/ledger.ts'
import { type ServerView, XRPL_METHODS } from './xrpl/methods.ts'

/** Options of a server of the XRP Ledger. */
export interface XrplServerOptions {
  /** The account that receives deposits; `XRPL_DEPOSIT_ADDRESS` by default. */
  readonly address?: string
  /** The account's initial balance; 10 XRP by default. With 0 the account does not exist until it is paid. */
  readonly balanceDrops?: bigint
  readonly clock?: Clock
  /** 0, the default, uses any free port. */
  readonly port?: number
}

/** Position of a transaction. */
export interface DepositPosition {
  readonly hash: string
  readonly ledgerIndex: number
}

/** A local server of the XRP Ledger: JSON-RPC with the methods and errors of the real one. */
export interface XrplServer {
  readonly url: string
  readonly address: string
  /** Pays the deposit address, in a ledger that is validated at once. */
  deposit(deposit: Deposit): DepositPosition
  /** Submits a payment that stays pending until `closeLedger`. Returns its hash. */
  submit(deposit: Deposit): string
  /** Closes and validates ledgers, the first with all pending transactions; returns the newest. */
  closeLedger(ledgers?: number): number
  /** Number of calls of a method, with any result. */
  count(method: string): number
  /** Limits the transactions per page. */
  limitPages(transactions: number): void
  /** Removes the ledgers before an index. */
  forgetBefore(ledgerIndex: number): void
  /** Lags behind the network by a number of ledgers. */
  lag(ledgers: number): void
  /** Loses or regains the network. */
  setSynced(isSynced: boolean): void
  /** Refuses the next calls with an error of the method, or the whole request with a status. */
  failNext(times: number, fault: ErrorToken | { readonly status: number }): void
  /** Accepts requests and never answers them. */
  hang(): void
  /** Delays answers. */
  delay(ms: number): void
  /** Drops every connection and refuses new ones. */
  down(): Promise<void>
  /** Ends every fault and listens again. */
  up(): Promise<void>
  close(): Promise<void>
}

/** The default deposit address, whose key is unknown. */
export const XRPL_DEPOSIT_ADDRESS = 'rQa5iZoN1aw2U7GuN5CygB31QMyJV7CJ5Z'
const START_DROPS = 10_000_000n
const PAGE_SIZE_MAX = 400
const API_VERSIONS = [1, 2]

const Request = z.object({
  method: z.string().optional(),
  params: z.array(z.record(z.string(), z.unknown())).optional(),
})

interface Faults {
  isHanging: boolean
  delayMs: number
  lag: number
  isSynced: boolean
  pageSize: number
  readonly failures: { readonly fault: ErrorToken | { readonly status: number }; left: number }[]
}

/**
 * Starts a server of the XRP Ledger on loopback, with a history of one ledger. Long because answers and the
 * controls of a test share history and faults.
 */
export async function startXrpl({
  address = XRPL_DEPOSIT_ADDRESS,
  balanceDrops = START_DROPS,
  clock = systemClock,
  port = 0,
}: XrplServerOptions = {}): Promise<XrplServer> {
  const history = createHistory(address, balanceDrops, clock)
  let oldest = history.newest().index
  const counts = new Map<string, number>()
  const faults = noFaults()
  const view: ServerView = {
    history,
    range: () => ({ min: oldest, max: Math.max(oldest, history.newest().index - faults.lag) }),
    pageSize: () => faults.pageSize,
    isSynced: () => faults.isSynced,
  }
  const stopping = new AbortController()
  const server = createServer(async (request, response) => {
    try {
      const body = await text(request)
      const { method } = Request.safeParse(jsonOf(body)).data ?? {}
      if (method !== undefined) counts.set(method, (counts.get(method) ?? 0) + 1)
      if (faults.isHanging) return
      if (faults.delayMs > 0) {
        await sleep(faults.delayMs, undefined, { signal: stopping.signal })
      }
      const answer = answerTo(view, faults, body)
      response.writeHead(answer.status, { 'content-type': 'application/json; charset=UTF-8' })
      response.end(answer.body)
    } catch {
      // The server is stopping; the caller sees a broken connection.
      response.destroy()
    }
  })
  const ownPort = await listenOnLoopback(server, port)
  return {
    url: `http://127.0.0.1:${ownPort}`,
    address,
    deposit: (deposit) => {
      const { hash } = history.submit(deposit)
      return { hash, ledgerIndex: history.close().index }
    },
    submit: (deposit) => history.submit(deposit).hash,
    closeLedger: (ledgers = 1) => {
      for (let n = 0; n < ledgers; n += 1) history.close()
      return history.newest().index
    },
    count: (method) => counts.get(method) ?? 0,
    forgetBefore: (ledgerIndex) => {
      oldest = ledgerIndex
    },
    ...controls(faults),
    down: () => closeServer(server),
    up: async () => {
      Object.assign(faults, noFaults())
      if (!server.listening) await listenOnLoopback(server, ownPort)
    },
    close: async () => {
      stopping.abort()
      await closeServer(server)
    },
  }
}

function noFaults(): Faults {
  return {
    isHanging: false,
    delayMs: 0,
    lag: 0,
    isSynced: true,
    pageSize: PAGE_SIZE_MAX,
    failures: [],
  }
}

type Controls = Pick<XrplServer, 'limitPages' | 'lag' | 'setSynced' | 'failNext' | 'hang' | 'delay'>

function controls(faults: Faults): Controls {
  return {
    limitPages: (transactions) => {
      faults.pageSize = transactions
    },
    lag: (ledgers) => {
      faults.lag = ledgers
    },
    setSynced: (isSynced) => {
      faults.isSynced = isSynced
    },
    failNext: (times, fault) => {
      faults.failures.push({ fault, left: times })
    },
    hang: () => {
      faults.isHanging = true
    },
    delay: (ms) => {
      faults.delayMs = ms
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: string
}

function answerTo(view: ServerView, { failures }: Faults, body: string): Answer {
  const failure = failures.find(({ left }) => left > 0)
  if (failure !== undefined) failure.left -= 1
  const fault = failure?.fault
  if (typeof fault === 'object') return { status: fault.status, body: 'Server is overloaded\r\n' }

  const json = jsonOf(body)
  if (json === undefined) return unreadable('Unable to parse request: ')
  const request = Request.safeParse(json)
  if (!request.success) return unreadable('params unparsable')
  const { method, params = [{}] } = request.data
  const [parameters] = params
  if (parameters === undefined || params.length > 1) return unreadable('params unparsable')
  if (method === undefined) return unreadable('Null method')
  if (method === '') return unreadable('method is empty')
  const apiVersion = parameters['api_version'] ?? 1
  if (typeof apiVersion !== 'number' || !API_VERSIONS.includes(apiVersion)) {
    return unreadable('invalid_API_version')
  }
  const sent = { ...parameters, command: method }
  try {
    if (fault !== undefined) throw new XrplRefusal(fault)
    const run = XRPL_METHODS[method]
    if (run === undefined) throw new XrplRefusal('unknownCmd')
    return { status: 200, body: resultOf(run(view, parameters, apiVersion), 'success') }
  } catch (error) {
    const refused = error instanceof XrplRefusal ? error.body : errorOf('internal')
    return { status: 200, body: resultOf({ ...refused, request: sent }, 'error') }
  }
}

function resultOf(result: Readonly<Record<string, unknown>>, status: string): string {
  return JSON.stringify({ result: { ...result, status } })
}

/** A malformed call is refused as plain text. */
function unreadable(message: string): Answer {
  return { status: 400, body: `${message}\r\n` }
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
